// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// NVRTC, the compiler of CUDA at run time. It is loaded when it is first needed, and needs neither driver nor card. For files that find
// the headers of the CUDA Toolkit.

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <rill/core/platform.hpp>
#include <rill/device/thrust/program_source.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The functions of NVRTC that we call.
struct nvrtc_functions {
    decltype(&nvrtcCreateProgram) create = nullptr;
    decltype(&nvrtcCompileProgram) compile = nullptr;
    decltype(&nvrtcGetCUBINSize) code_size = nullptr;
    decltype(&nvrtcGetCUBIN) code = nullptr;
    decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
    decltype(&nvrtcGetProgramLog) log = nullptr;
    decltype(&nvrtcDestroyProgram) destroy = nullptr;

    /// Returns the functions of the version whose header this program was compiled with; null if that library is missing.
    static const nvrtc_functions* find() {
        static const auto found = [] {
            nvrtc_functions f;
            void* const library = load_library(("libnvrtc.so." + std::to_string(CUDART_VERSION / 1000)).c_str());
            const auto load = [&](auto& to, const char* name) { return load_function(library, name, to); };
            const bool all = library && load(f.create, "nvrtcCreateProgram") &&
                             load(f.compile, "nvrtcCompileProgram") && load(f.code_size, "nvrtcGetCUBINSize") &&
                             load(f.code, "nvrtcGetCUBIN") && load(f.log_size, "nvrtcGetProgramLogSize") &&
                             load(f.log, "nvrtcGetProgramLog") && load(f.destroy, "nvrtcDestroyProgram");
            return std::pair(all, f);
        }();
        return found.first ? &found.second : nullptr;
    }
};

/// Returns true if a folder holds rill's headers.
inline bool holds_headers(const std::string& folder) { return std::ifstream(folder + "/rill/config.hpp").good(); }

/// Returns the folder of rill's headers: RILL_INCLUDE_DIR in the environment, else where this header was when the program or
/// rill::gpu_kernels was compiled. If it is no longer there, the folder into which that library's build installs headers.
inline std::string header_folder() {
    if (const char* const named = std::getenv("RILL_INCLUDE_DIR")) return named;
    const std::string_view here = __FILE__, own = "/rill/device/cuda/nvrtc.hpp";
    std::string folder = here.ends_with(own) ? std::string(here.substr(0, here.size() - own.size())) : ".";
#ifdef RILL_INSTALLED_HEADERS
    if (!holds_headers(folder)) folder = RILL_INSTALLED_HEADERS;
#endif
    return folder;
}

/// Returns the reason why no program can be compiled in this process; empty if programs can.
inline std::string nvrtc_problem() {
    if (!nvrtc_functions::find()) return "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000) + " is not found";
    if (!holds_headers(header_folder()))
        return "rill's headers are not in '" + header_folder() + "', and RILL_INCLUDE_DIR does not name their folder";
    return {};
}

/// The machine code of a program, or the compiler's messages if it has errors.
struct compiled_program {
    std::string code, messages;
};

/// Compiles a text of program_source for an architecture, "sm_90". There must be no nvrtc_problem().
inline compiled_program compile_by_nvrtc(const std::string& text, const std::string& architecture) {
    const auto& nvrtc = *nvrtc_functions::find();
    std::vector<const char*> names, texts;
    const auto stand_in = [&](std::string_view name, const char* header) {
        names.push_back(name.data());
        texts.push_back(header);
    };
    for (const auto name : program_source::hidden_headers())
        stand_in(name, "#include <rill/device/thrust/program_front.hpp>\n");
    for (const char* const name :
         {"algorithm", "array", "bit", "cmath", "complex", "concepts", "cstddef", "cstdint", "cstring",
          "initializer_list", "limits", "source_location", "string", "string_view", "tuple", "type_traits", "utility"})
        stand_in(name, "#include <rill/device/cuda/program_std.hpp>\n");
    nvrtcProgram program = nullptr;
    compiled_program made;
    if (nvrtc.create(&program, text.c_str(), "rill_program.cu", static_cast<int>(names.size()), texts.data(),
                     names.data()) != NVRTC_SUCCESS) {
        made.messages = "NVRTC does not take the text";
        return made;
    }
    const std::string target = "--gpu-architecture=" + architecture, include = "-I" + header_folder();
    const char* const options[] = {"--std=c++20",     target.c_str(),      include.c_str(),
                                   "-default-device", "-DRILL_COMPILED=1", "--disable-warnings"};
    const auto read = [&](auto size_of, auto get) {
        std::size_t size = 0;
        std::string all;
        if (size_of(program, &size) == NVRTC_SUCCESS) {
            all.resize(size);
            get(program, all.data());
        }
        return all;
    };
    if (nvrtc.compile(program, static_cast<int>(std::size(options)), options) == NVRTC_SUCCESS)
        made.code = read(nvrtc.code_size, nvrtc.code);
    else
        made.messages = read(nvrtc.log_size, nvrtc.log);
    nvrtc.destroy(&program);
    return made;
}

}}} // namespace rill::RILL_ABI::detail
