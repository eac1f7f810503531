// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Programs that are compiled at run time. If NVRTC or rill's headers are missing on the machine, a program takes a kernel for each
// instruction. For files that nvcc compiles.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <cuda_runtime_api.h>

#include <rill/core/log.hpp>
#include <rill/device/cuda/element_kernel.hpp>
#include <rill/device/cuda/nvrtc.hpp>
#include <rill/device/thrust/program_source.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kernels of programs. Each text is compiled once in a process.
class program_compiler {
public:
    /// Returns the kernels of this process. They are leaked: kernels may run while statics are destroyed.
    static program_compiler& of_process() {
        static program_compiler& one = *new program_compiler;
        return one;
    }

    /// Returns the kernel of a program for a GPU; null if it can't be compiled. The reason is logged once.
    cudaKernel_t kernel_of(const program_source& source, int gpu) {
        int major = 0, minor = 0;
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu) != cudaSuccess ||
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu) != cudaSuccess)
            return nullptr;
        const std::string architecture = "sm_" + std::to_string(major * 10 + minor);
        const std::lock_guard lock(mutex_);
        if (!is_ready()) return nullptr;
        const std::string text = source.text(source_language::cuda);
        const auto [at, fresh] = kernels_.try_emplace(architecture + "\n" + text, nullptr);
        if (fresh) at->second = load(compile_by_nvrtc(text, architecture));
        return at->second;
    }

private:
    bool is_ready() {
        if (!asked_) {
            asked_ = true;
            const std::string problem = nvrtc_problem();
            ready_ = problem.empty();
            if (!ready_)
                log_message(log_level::info, "programs on GPUs take a kernel for each instruction: " + problem);
        }
        return ready_;
    }
    static cudaKernel_t load(const compiled_program& made) {
        cudaLibrary_t library = nullptr; // never unloaded: kernels may run until the process ends
        cudaKernel_t kernel = nullptr;
        const bool loaded =
            !made.code.empty() &&
            cudaLibraryLoadData(&library, made.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess &&
            cudaLibraryGetKernel(&kernel, library, "rill_program") == cudaSuccess;
        if (loaded) return kernel;
        const std::string reason = made.code.empty() ? made.messages : cudaGetErrorString(cudaGetLastError());
        log_message(log_level::warning, "a program on a GPU takes a kernel for each instruction: " + reason);
        return nullptr;
    }

    std::mutex mutex_;
    bool asked_ = false, ready_ = false;
    std::map<std::string, cudaKernel_t> kernels_; // by architecture and text
};

/// Starts a program's kernel in a stream.
inline void start_program(cudaKernel_t kernel, unsigned blocks, const std::uint64_t* words, index_t n, int elements,
                          failure_guard guard, cudaStream_t stream) {
    void* arguments[] = {const_cast<std::uint64_t*>(words), &n, &elements, &guard};
    cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block_threads), arguments, 0, stream);
}

}}} // namespace rill::RILL_ABI::detail
