// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The GPUs of this process, each with a stream and a memory pool. For files that nvcc compiles, which link CUDA's static runtime. No
// driver library is linked, so programs start without a driver or card, and then find no GPU.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <rill/core/memory_space.hpp>
#include <rill/device/cuda/captured_kernels.hpp>
#include <rill/device/cuda/gpu_card.hpp>
#include <rill/device/cuda/product_library.hpp>
#include <rill/device/device.hpp>
#include <rill/device/memory_pool.hpp>
#include <rill/device/thrust/can_launch.hpp>
#include <rill/device/visible_devices.hpp>

namespace rill { inline namespace RILL_ABI {

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
        capture_loop = [](const memory_space& s, const recorded_loop& loop) {
            return detail::captured_kernels::capture(of(s).card_, loop);
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
