// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <rill/core/error.hpp>
#include <rill/device/cuda/convolution_library.hpp>
#include <rill/device/cuda/product_library.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Throws if a CUDA call failed: `resource_exhausted` if memory is lacking, else `internal` with CUDA's message.
inline void check_cuda(cudaError_t result, const std::string& what) {
    if (result == cudaSuccess) return;
    const std::string text = what + ": " + cudaGetErrorName(result) + ", " + cudaGetErrorString(result);
    if (result == cudaErrorMemoryAllocation) throw resource_exhausted(text);
    throw internal(text); // most errors are sticky: no further work runs on this GPU
}

/// A guard that selects a GPU for this thread.
class selected_gpu {
public:
    explicit selected_gpu(int number) {
        cudaGetDevice(&before_);
        if (before_ != number) check_cuda(cudaSetDevice(number), "gpu:" + std::to_string(number));
        selected_ = number;
    }
    ~selected_gpu() {
        if (before_ != selected_) cudaSetDevice(before_);
    }
    selected_gpu(const selected_gpu&) = delete;

private:
    int before_ = 0, selected_ = 0;
};

/// Small copies to the host through pinned memory: the host waits once for many of them. Copies to other memory wait individually.
class pinned_copies {
public:
    /// Starts a copy of a GPU. Returns false if it is too large, or the pinned memory is full or refused.
    bool start(const void* from, void* host, std::size_t n, cudaStream_t stream, const std::string& name) {
        const std::lock_guard lock(mutex_);
        if (!opened_) {
            opened_ = true;
            if (cudaMallocHost(&memory_, room) != cudaSuccess) {
                cudaGetLastError(); // a refused allocation is not sticky
                memory_ = nullptr;
            }
        }
        if (!memory_ || n > most || used_ + n > room) return false;
        auto* const to = static_cast<std::byte*>(memory_) + used_;
        check_cuda(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToHost, stream), name);
        started_.push_back({host, to, n});
        used_ += (n + 15) / 16 * 16;
        return true;
    }
    /// Waits for a stream, and ends all copies that were started in it.
    void end(cudaStream_t stream, const std::string& name) {
        const std::lock_guard lock(mutex_);
        const cudaError_t result = cudaStreamSynchronize(stream);
        if (result == cudaSuccess)
            for (const auto& c : started_) std::memcpy(c.host, c.pinned, c.bytes);
        started_.clear();
        used_ = 0;
        check_cuda(result, name);
    }

private:
    static constexpr std::size_t room = std::size_t(1) << 18, most = std::size_t(1) << 14;
    struct copy {
        void* host;
        const std::byte* pinned;
        std::size_t bytes;
    };

    std::mutex mutex_;
    bool opened_ = false;
    void* memory_ = nullptr;
    std::size_t used_ = 0;
    std::vector<copy> started_;
};

/// A stream into which this thread captures the kernels of a card, instead of starting them.
class captured_stream {
public:
    captured_stream(int card, cudaStream_t into) : card_(card), into_(into), before_(std::exchange(current(), this)) {}
    ~captured_stream() { current() = before_; }
    captured_stream(const captured_stream&) = delete;

    /// Returns the stream into which this thread captures kernels of a card; null if it starts them.
    static cudaStream_t of(int card) {
        const auto* const now = current();
        return now && now->card_ == card ? now->into_ : nullptr;
    }

private:
    static const captured_stream*& current() {
        static thread_local const captured_stream* stream = nullptr;
        return stream;
    }

    const int card_;
    const cudaStream_t into_;
    const captured_stream* before_;
};

/// A card: the stream of its kernels and copies, and its libraries. All virtual devices on it share them.
class gpu_card {
public:
    explicit gpu_card(int number) : number_(number) {
        const selected_gpu here(number_);
        check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), name());
        std::size_t free = 0;
        check_cuda(cudaMemGetInfo(&free, &total_), name());
    }
    gpu_card(const gpu_card&) = delete;

    int number() const { return number_; }
    std::string name() const { return "gpu:" + std::to_string(number_); }
    /// Returns the stream in which kernels of this thread start, or into which they are captured.
    cudaStream_t stream() const {
        const auto captured = captured_stream::of(number_);
        return captured ? captured : stream_;
    }
    std::size_t total() const { return total_; }
    product_library& products() { return products_; }
    convolution_library& convolutions() { return convolutions_; }

    void copy(const void* from, void* to, std::size_t n, cudaMemcpyKind kind) const {
        const selected_gpu here(number_);
        check_cuda(cudaMemcpyAsync(to, from, n, kind, stream()), name());
    }
    /// Starts a copy to the host, and returns its ticket.
    std::uint64_t copy_to_host(const void* from, void* host, std::size_t n) {
        const selected_gpu here(number_);
        if (!copies_.start(from, host, n, stream_, name())) copy(from, host, n, cudaMemcpyDeviceToHost);
        return tickets_.fetch_add(1) + 1;
    }
    /// Waits for all kernels and copies.
    void wait() {
        const selected_gpu here(number_);
        copies_.end(stream_, name());
    }
    /// Returns the bytes that the driver has not handed out.
    std::size_t free_bytes() const {
        const selected_gpu here(number_);
        std::size_t left = 0, all = 0;
        check_cuda(cudaMemGetInfo(&left, &all), name());
        return left;
    }

private:
    const int number_;
    cudaStream_t stream_ = nullptr;
    std::size_t total_ = 0;
    std::atomic<std::uint64_t> tickets_{0};
    product_library products_;
    convolution_library convolutions_;
    pinned_copies copies_;
};

}}} // namespace rill::RILL_ABI::detail
