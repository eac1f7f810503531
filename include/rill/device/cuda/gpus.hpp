// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The GPUs of this process, each with a stream and a memory pool. For files that nvcc compiles, which link CUDA's static runtime. No
// driver library is linked, so programs start without a driver or card, and then find no GPU.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <rill/core/error.hpp>
#include <rill/core/memory_space.hpp>
#include <rill/device/cuda/convolution_library.hpp>
#include <rill/device/cuda/product_library.hpp>
#include <rill/device/device.hpp>
#include <rill/device/memory_pool.hpp>
#include <rill/device/thrust/can_launch.hpp>
#include <rill/device/visible_devices.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

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

/// Kernels that were captured as a CUDA graph, which one call starts. The graph belongs to the driver, which keeps it while it runs.
class captured_kernels {
public:
    captured_kernels(const gpu_card& card, cudaGraphExec_t graph) : card_(card), graph_(graph) {}
    ~captured_kernels() {
        const selected_gpu here(card_.number());
        cudaGraphExecDestroy(graph_);
    }
    captured_kernels(const captured_kernels&) = delete;

    void start() const {
        const selected_gpu here(card_.number());
        check_cuda(cudaGraphLaunch(graph_, card_.stream()), card_.name() + ": captured kernels could not start");
    }

    /// Captures the kernels that start() starts in this thread. Returns an empty function if CUDA refuses: a run then starts them one by
    /// one. The capture has a stream of its own, since other threads start work in the card's.
    static std::function<void()> capture(const gpu_card& card, const std::function<void()>& start) {
        const selected_gpu here(card.number());
        cudaStream_t into = nullptr;
        if (cudaStreamCreateWithFlags(&into, cudaStreamNonBlocking) != cudaSuccess) return refused();
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t made = nullptr;
        bool is_good = cudaStreamBeginCapture(into, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
        if (is_good) {
            try {
                const captured_stream stream(card.number(), into);
                start();
            } catch (...) {
                is_good = false; // the steps run one by one, and report what is wrong
            }
            is_good = cudaStreamEndCapture(into, &graph) == cudaSuccess && is_good;
        }
        is_good = is_good && cudaGraphInstantiate(&made, graph, 0) == cudaSuccess;
        if (graph) cudaGraphDestroy(graph);
        cudaStreamDestroy(into);
        if (!is_good) return refused();
        return [all = std::make_shared<const captured_kernels>(card, made)] { all->start(); };
    }

private:
    static std::function<void()> refused() {
        cudaGetLastError(); // a refused capture is not sticky
        return {};
    }

    const gpu_card& card_;
    const cudaGraphExec_t graph_;
};

} // namespace detail

/// A GPU of a session: a card, or a virtual device on it with a limit of its own. It has a pool of memory. Its kernels and copies run in the
/// card's stream in the order in which they were started, so a freed block may be reused at once.
class gpu_instance final : public memory_space, private region_source {
public:
    /// Makes the GPU of a card. `limit`: the most bytes that it takes.
    gpu_instance(detail::gpu_card& card, const std::string& name_in_messages, std::size_t limit)
        : card_(card), limit_(limit), pool_(name_in_messages, *this) {
        name = name_in_messages;
        blocks = &pool_;
        bytes = limit_;
        from_host = [](const memory_space& s, const void* host, void* to, std::size_t n) {
            of(s).card_.copy(host, to, n, cudaMemcpyHostToDevice); // pageable memory: staged before the call returns
        };
        to_host = [](const memory_space& s, const void* from, void* host, std::size_t n) {
            return of(s).card_.copy_to_host(from, host, n);
        };
        within = [](const memory_space& s, const void* from, void* to, std::size_t n) {
            of(s).card_.copy(from, to, n, cudaMemcpyDeviceToDevice);
        };
        capture = [](const memory_space& s, const std::function<void()>& start) {
            return detail::captured_kernels::capture(of(s).card_, start);
        };
        free_bytes = [](const memory_space& s) { return of(s).pool_.free_bytes(of(s).card_.free_bytes()); };
        largest_block = [](const memory_space& s) { return of(s).pool_.largest_block(of(s).card_.free_bytes()); };
        memory_space::wait = [](const memory_space& s, std::uint64_t) { of(s).card_.wait(); };
    }
    gpu_instance(const gpu_instance&) = delete;

    int number() const { return card_.number(); }
    cudaStream_t stream() const { return card_.stream(); }
    detail::gpu_card& card() const { return card_; }
    memory_pool& pool() { return pool_; }
    detail::product_library& products() const { return card_.products(); }

    /// Returns the GPU of a memory space.
    static const gpu_instance& of(const memory_space& s) { return static_cast<const gpu_instance&>(s); }

private:
    std::byte* take(std::size_t n) override {
        const detail::selected_gpu here(number());
        void* region = nullptr;
        if (cudaMalloc(&region, n) == cudaSuccess) return static_cast<std::byte*>(region);
        cudaGetLastError(); // a refused allocation is not sticky
        return nullptr;
    }
    void give_back(std::byte* region, std::size_t) noexcept override {
        cudaFree(region); // waits for the kernels that use it
    }
    std::size_t total() const override { return limit_; }

    detail::gpu_card& card_;
    const std::size_t limit_;
    memory_pool pool_;
};

/// Returns the GPUs of this process, one for each card; empty without a driver or a card. Leaked: tensors may outlive main.
inline const std::vector<gpu_instance*>& the_gpus() {
    static const std::vector<gpu_instance*>& all = *[] {
        auto* made = new std::vector<gpu_instance*>;
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess) {
            cudaGetLastError();
            count = 0;
        }
        for (int i = 0; i < count; ++i) {
            auto& card = *new detail::gpu_card(i);
            made->push_back(new gpu_instance(card, card.name(), card.total()));
        }
        return made;
    }();
    return all;
}

/// Returns the memories of the GPUs that a session chooses.
inline std::vector<const memory_space*> chosen_gpus(const device_type& type, const gpu_options& options) {
    static virtual_memories& virtual_ones = *new virtual_memories([](const visible_device& d) -> const memory_space* {
        return new gpu_instance(the_gpus()[d.physical]->card(), d.name("gpu"), d.limit); // leaked, as all GPUs are
    });
    const std::vector<const memory_space*> whole(the_gpus().begin(), the_gpus().end());
    return virtual_ones.spaces(type.name, options, whole);
}

/// Registers the device type "gpu" if there are GPUs, and makes it the default for nodes with a GPU kernel. Returns true if there are
/// GPUs.
inline bool register_gpus() {
    static const bool found = [] {
        if (the_gpus().empty()) return false;
        auto& type = *new device_type{"gpu"}; // leaked: device types live until the process ends
        for (const auto* gpu : the_gpus()) type.spaces.push_back(gpu);
        type.start_microseconds = 3;
        type.flops_per_microsecond = 1e7;
        type.bytes_per_microsecond = 1e6;
        type.limit_memory = [](const device_type&, const gpu_options& options) {
            for (auto* gpu : the_gpus()) gpu->pool().limit(options);
        };
        type.chosen_spaces = &chosen_gpus;
        type.can_run = &detail::can_launch;
        type.has_kernels_for = [](dtype t) {
            return t != dtype::complex64 && t != dtype::complex128 && t != dtype::string;
        };
        register_device(type);
        set_default_device(type.name);
        return true;
    }();
    return found;
}

}} // namespace rill::RILL_ABI
