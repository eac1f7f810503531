// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory that the host can't read. It is mapped twice: blocks are handed out at addresses without access, and only the device
// knows how far off the same bytes can be read. Whoever else follows such an address ends the program. Linux only.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include <rill/core/allocator.hpp>

namespace test_far {

class memory final : public rill::allocator {
public:
    memory() {
        const int file = memfd_create("rill far memory", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) throw rill::internal("far memory: no file");
        const auto map = [&](int access) {
            void* const at = mmap(nullptr, size, access, MAP_SHARED | MAP_NORESERVE, file, 0);
            if (at == MAP_FAILED) throw rill::internal("far memory: no mapping");
            return static_cast<std::byte*>(at);
        };
        address_ = map(PROT_NONE);
        bytes_ = map(PROT_READ | PROT_WRITE);
        close(file);
        free_.emplace(0, size);
    }
    memory(const memory&) = delete;

    void* allocate(std::size_t bytes) override {
        const std::size_t wanted = room(bytes);
        const std::lock_guard lock(mutex_);
        for (auto at = free_.begin(); at != free_.end(); ++at) {
            if (at->second < wanted) continue;
            const auto [offset, length] = *at;
            free_.erase(at);
            if (length > wanted) free_.emplace(offset + wanted, length - wanted);
            std::memset(bytes_ + offset, 0xff, bytes); // not a number: what is read before it was written shows
            in_use_ += bytes;
            return address_ + offset;
        }
        throw rill::resource_exhausted("far memory: no " + std::to_string(bytes) + " bytes left");
    }
    void deallocate(void* block, std::size_t bytes) noexcept override {
        const std::lock_guard lock(mutex_);
        in_use_ -= bytes;
        auto at = free_.emplace(static_cast<std::size_t>(static_cast<std::byte*>(block) - address_), room(bytes)).first;
        if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
            at->second += next->second;
            free_.erase(next);
        }
        if (at == free_.begin()) return;
        if (const auto before = std::prev(at); before->first + before->second == at->first) {
            before->second += at->second;
            free_.erase(at);
        }
    }

    std::size_t bytes_in_use() const {
        const std::lock_guard lock(mutex_);
        return in_use_;
    }
    /// Whether an address lies here. The end of the last block does too.
    bool holds(const void* p) const {
        return std::less_equal<>()(static_cast<const void*>(address_), p) &&
               std::less_equal<>()(p, static_cast<const void*>(address_ + size));
    }
    /// The same bytes where they can be read; null stays null. What is no address of the device has no business there.
    template <class T> T* readable(T* p) const {
        if (!p) return p;
        if (!holds(p)) throw rill::internal("far memory: a kernel was given an address of the host's");
        const auto offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(address_);
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(bytes_) + offset);
    }

private:
    static constexpr std::size_t size = std::size_t(1) << 34; // of addresses; pages come as they are used

    static std::size_t room(std::size_t bytes) { return rill::detail::aligned_size(bytes); }

    std::byte *address_, *bytes_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::size_t> free_; // offset -> length
    std::size_t in_use_ = 0;
};

/// Leaked, as device memory is: tensors may outlive main.
inline memory& the_memory() {
    static memory& all = *new memory;
    return all;
}

} // namespace test_far
