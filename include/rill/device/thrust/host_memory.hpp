// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The memories of the device "thrust": the host's, or that of virtual devices, which are blocks of it under a limit.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <rill/core/memory_space.hpp>
#include <rill/device/device.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/memory_pool.hpp>
#include <rill/device/thrust/host_recorder.hpp>
#include <rill/device/visible_devices.hpp>

namespace rill { inline namespace RILL_ABI {

/// The memory of a virtual device on the host: blocks of the host's memory, of which the device takes no more than its limit. Values are
/// copied to it and back, as for a device with a memory of its own.
class virtual_host_memory final : public memory_space, private region_source {
public:
    virtual_host_memory(const std::string& name_in_messages, std::size_t limit)
        : limit_(limit), pool_(name_in_messages, *this) {
        name = name_in_messages;
        blocks = &pool_;
        bytes = limit;
        from_host = [](const memory_space&, const void* host, void* to, std::size_t n) { copy(host, to, n); };
        to_host = [](const memory_space&, const void* from, void* host, std::size_t n) {
            copy(from, host, n);
            return std::uint64_t(0);
        };
        within = [](const memory_space&, const void* from, void* to, std::size_t n) {
            if (auto* const recorder = detail::host_recorder::current())
                recorder->add([=] { copy(from, to, n); });
            else
                copy(from, to, n);
        };
        wait = [](const memory_space&, std::uint64_t) {}; // every copy has ended when it returns
        capture = [](const memory_space&, const std::function<void()>& start) {
            return detail::host_recorder::capture(start);
        };
        capture_loop = [](const memory_space&, const recorded_loop& loop) {
            return detail::host_recorder::capture_loop(loop);
        };
        free_bytes = [](const memory_space& s) {
            const auto& own = static_cast<const virtual_host_memory&>(s);
            return own.pool_.free_bytes(own.limit_ - own.pool_.bytes_held());
        };
        largest_block = [](const memory_space& s) {
            const auto& own = static_cast<const virtual_host_memory&>(s);
            return own.pool_.largest_block(own.limit_ - own.pool_.bytes_held());
        };
    }
    virtual_host_memory(const virtual_host_memory&) = delete;

    const memory_pool& pool() const { return pool_; }

private:
    /// Copies bytes. Another thread may report to an error record meanwhile.
    static void copy(const void* from, void* to, std::size_t n) {
        const std::lock_guard lock(detail::error_record_mutex());
        std::memcpy(to, from, n);
    }
    std::byte* take(std::size_t n) override {
        return static_cast<std::byte*>(::operator new(n, std::align_val_t(memory_pool::alignment), std::nothrow));
    }
    void give_back(std::byte* region, std::size_t) noexcept override {
        ::operator delete(region, std::align_val_t(memory_pool::alignment));
    }
    std::size_t total() const override { return limit_; }

    const std::size_t limit_;
    memory_pool pool_;
};

/// Returns the memories of the devices that a session chooses of a type in the host's memory; null is the host's, without a limit. Such a
/// type has one physical device.
inline std::vector<const memory_space*> chosen_host_memories(const device_type& type, const gpu_options& options) {
    static virtual_memories& virtual_ones = *new virtual_memories([](const visible_device& d) -> const memory_space* {
        return new virtual_host_memory(d.name("thrust"), d.limit); // leaked, as the table is: tensors may outlive main
    });
    static constexpr const memory_space* host[] = {nullptr};
    return virtual_ones.spaces(type.name, options, host);
}

}} // namespace rill::RILL_ABI
