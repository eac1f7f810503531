// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A compiler of programs' source texts: as C++ by the compiler of these tests, and as CUDA by NVRTC where there is one.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <rill/core/platform.hpp>
#include <rill/device/thrust/program_arguments.hpp>
#include <rill/device/thrust/program_source.hpp>

#if RILL_TEST_NVRTC
#include <rill/device/cuda/nvrtc.hpp>
#endif

#include "../../catch.hpp"

namespace test_thrust_programs {

using namespace rill;
using detail::leaf_form, detail::program_source, detail::source_language;

struct host_addresses {
    template <class T> static T* at(T* p) { return p; }
};

/// Returns the texts of programs in one file. Their names are told apart by a number: rill_program_0 is the first one.
inline std::string in_one_file(const std::vector<program_source>& sources, source_language language) {
    std::string all;
    for (std::size_t k = 0; k < sources.size(); ++k) {
        std::string text = sources[k].text(language);
        for (const std::string name : {"struct program_element", "const program_element", "rill_program",
                                       "const __grid_constant__ program_element"})
            for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
                text.insert(at + name.size(), "_" + std::to_string(k));
        all += text + "\n";
    }
    return all;
}

/// Texts of programs that the compiler of these tests makes functions of, all in one library.
class text_compiler {
public:
    using function = void (*)(const std::uint64_t* words, index_t n);

    text_compiler()
        : folder_(std::filesystem::temp_directory_path() / ("rill_programs_" + std::to_string(detail::random_bits()))) {
        for (const auto header : program_source::hidden_headers()) {
            const auto at = folder_ / header;
            std::filesystem::create_directories(at.parent_path());
            std::ofstream(at) << "#pragma once\n#include <rill/device/thrust/program_front.hpp>\n";
        }
    }
    text_compiler(const text_compiler&) = delete;
    ~text_compiler() { std::filesystem::remove_all(folder_); }

    /// Adds a text, unless it is known.
    void add(const program_source& source) {
        if (known_.try_emplace(source.text(source_language::cpp)).second) wanted_.push_back(source);
    }
    std::size_t size() const { return known_.size(); }
    /// Returns the function of a text; null if it was not compiled.
    function find(const program_source& source) const {
        const auto at = known_.find(source.text(source_language::cpp));
        return at == known_.end() ? nullptr : at->second;
    }
    /// Compiles all texts that were added.
    void compile() {
        const auto file = folder_ / ("all_" + std::to_string(libraries_) + ".cpp");
        const auto library = folder_ / ("all_" + std::to_string(libraries_++) + ".so");
        std::ofstream(file) << in_one_file(wanted_, source_language::cpp);
        const std::string command =
            RILL_TEST_COMPILER " -std=c++20 -O1 -ffp-contract=off -w -shared -fPIC -DRILL_DEFINE=0 -I" +
            folder_.string() + " -I" RILL_TEST_INCLUDE " " + file.string() + " -o " + library.string();
        REQUIRE(std::system(command.c_str()) == 0);
        void* const loaded = detail::load_library(library.c_str());
        REQUIRE(loaded);
        for (std::size_t k = 0; k < wanted_.size(); ++k)
            known_[wanted_[k].text(source_language::cpp)] = reinterpret_cast<function>(
                detail::library_function(loaded, ("rill_program_" + std::to_string(k)).c_str()));
        wanted_.clear();
    }

private:
    std::filesystem::path folder_;
    std::map<std::string, function> known_;
    std::vector<program_source> wanted_;
    int libraries_ = 0;
};

/// Compiles texts for a GPU, where NVRTC was found when the tests were configured.
#if RILL_TEST_NVRTC
inline void check_nvrtc(const std::vector<program_source>& sources) {
    setenv("RILL_INCLUDE_DIR", RILL_TEST_INCLUDE, 1); // ccache may have compiled this file by a relative path
    REQUIRE(detail::nvrtc_problem() == "");
    const auto made = detail::compile_by_nvrtc(in_one_file(sources, source_language::cuda), "sm_90");
    INFO(made.messages);
    for (std::size_t k = 0; k < sources.size(); ++k)
        CHECK(made.code.find(".text.rill_program_" + std::to_string(k) + '\0') != std::string::npos);
}
#else
inline void check_nvrtc(const std::vector<program_source>&) {}
#endif

} // namespace test_thrust_programs
