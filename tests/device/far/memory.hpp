// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The memories of far:0 and far:1, which the host can't read. Each is mapped twice: blocks are handed out at addresses without access, and
// only the device knows how far off the same bytes can be read. Whoever else follows such an address ends the program. An address of one
// memory given to the other device is an error. Linux only.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <rill/core/memory_space.hpp>
#include <rill/device/execution_context.hpp>

namespace test_far {

/// The copies that the two devices have not done yet: a queue of each. Copies end late, those of a queue in order, those of two queues in
/// an order drawn from a seed. A host that does not wait finds bytes of 0xff.
class delayed_copies {
public:
    static constexpr std::size_t queues = 2;

    void draw_from(std::uint64_t seed) {
        const std::lock_guard lock(mutex_);
        drawn_ = seed;
    }
    /// Adds a copy and returns its ticket.
    std::uint64_t add(std::size_t queue, std::function<void()> copy) {
        const std::lock_guard lock(mutex_);
        waiting_[queue].push_back({++last_, std::move(copy)});
        while (draw(2) == 0 && do_one()) {}
        return last_;
    }
    /// Does the copies of a queue up to a ticket, and a drawn number of the other queue's.
    void wait(std::size_t queue, std::uint64_t ticket) {
        const std::lock_guard lock(mutex_);
        while (!waiting_[queue].empty() && waiting_[queue].front().ticket <= ticket) do_one();
    }
    /// Does all copies of a queue, as a device has done before a kernel begins.
    void wait(std::size_t queue) { wait(queue, ~std::uint64_t(0)); }
    /// Returns the number of copies that a queue has not done.
    std::size_t waiting(std::size_t queue) const {
        const std::lock_guard lock(mutex_);
        return waiting_[queue].size();
    }

private:
    struct entry {
        std::uint64_t ticket;
        std::function<void()> copy;
    };
    std::size_t draw(std::size_t n) {
        std::uint64_t z = (drawn_ += 0x9E3779B97F4A7C15u); // SplitMix64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<std::size_t>((z ^ (z >> 31)) % n);
    }
    bool do_one() {
        const auto drawn = draw(queues);
        auto& queue = waiting_[waiting_[drawn].empty() ? 1 - drawn : drawn];
        if (queue.empty()) return false;
        queue.front().copy();
        queue.pop_front();
        return true;
    }

    mutable std::mutex mutex_;
    std::array<std::deque<entry>, queues> waiting_;
    std::uint64_t last_ = 0, drawn_ = 1;
};

inline delayed_copies& all_copies() {
    static auto& all = *new delayed_copies; // leaked, as the memories are
    return all;
}

/// The simulated time of the two devices, in microseconds: each does its kernels and copies one after another, and a kernel waits for what it
/// reads. It is counted from the work that a run gives them, whatever that takes here.
class simulated_clocks {
public:
    /// Starts at zero, for a device with such speeds.
    void start(double flops_per_microsecond, double bytes_per_microsecond) {
        const std::lock_guard lock(mutex_);
        flops_ = flops_per_microsecond, bytes_ = bytes_per_microsecond;
        is_on_ = true;
        now_ = {};
        ready_.clear();
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        is_on_ = false;
    }
    bool is_on() const {
        const std::lock_guard lock(mutex_);
        return is_on_;
    }
    /// Counts a kernel of an instance that reads and writes blocks.
    template <class In, class Out> void ran(std::size_t instance, const In& in, const Out& out, double flops) {
        const std::lock_guard lock(mutex_);
        if (!is_on_) return;
        auto& now = now_[instance];
        for (const void* p : in)
            if (const auto at = ready_.find(p); at != ready_.end()) now = std::max(now, at->second);
        now += flops / flops_;
        for (const void* p : out) ready_[p] = now;
    }
    /// Counts a copy that an instance does.
    void copied(std::size_t instance, const void* from, const void* to, std::size_t bytes) {
        constexpr double start = 10;
        ran(instance, std::array{from}, std::array{to}, (start + static_cast<double>(bytes) / bytes_) * flops_);
    }
    /// Returns the time at which both devices have done all.
    double end() const {
        const std::lock_guard lock(mutex_);
        return *std::max_element(now_.begin(), now_.end());
    }

private:
    mutable std::mutex mutex_;
    bool is_on_ = false;
    double flops_ = 1, bytes_ = 1;
    std::array<double, 2> now_{};
    std::map<const void*, double> ready_; // by address: when the block was written last
};

inline simulated_clocks& all_clocks() {
    static auto& all = *new simulated_clocks;
    return all;
}

class memory final : public rill::allocator {
public:
    explicit memory(std::size_t instance) : instance_(instance), name_("far:" + std::to_string(instance)) {
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
            std::memset(bytes_ + offset, 0xff, wanted); // not a number: what is read before it was written shows
            in_use_ += bytes;
            return address_ + offset;
        }
        throw rill::resource_exhausted("far memory: no " + std::to_string(bytes) + " bytes left");
    }
    void deallocate(void* block, std::size_t bytes) noexcept override {
        all_copies().wait(instance_); // they may use the block
        const std::lock_guard lock(mutex_);
        in_use_ -= bytes;
        const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - address_);
        for (std::size_t i = bytes; i < room(bytes); ++i)
            if (bytes_[offset + i] != std::byte(0xff)) {
                std::fprintf(stderr, "%s: byte %zu of a block of %zu was written\n", name_.c_str(), i, bytes);
                std::abort();
            }
        auto at = free_.emplace(offset, room(bytes)).first;
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

    std::size_t instance() const { return instance_; }
    const std::string& name() const { return name_; }
    std::size_t bytes_in_use() const {
        const std::lock_guard lock(mutex_);
        return in_use_;
    }
    /// Returns true if an address lies here.
    bool holds(const void* p) const {
        return std::less_equal<>()(static_cast<const void*>(address_), p) &&
               std::less<>()(p, static_cast<const void*>(address_ + size));
    }
    /// Returns where the same bytes can be read; null stays null. Throws internal for an address that does not lie here.
    template <class T> T* readable(T* p) const {
        if (!p) return p;
        if (!holds(p)) throw rill::internal("far memory: " + name_ + " was given an address of another memory");
        const auto offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(address_);
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(bytes_) + offset);
    }

private:
    static constexpr std::size_t size = std::size_t(1) << 34; // of addresses; pages come as they are used

    /// Returns the bytes of a block and of the guard behind it, which nobody may write.
    static std::size_t room(std::size_t bytes) { return rill::detail::aligned_size(bytes) + 64; }

    const std::size_t instance_;
    const std::string name_;
    std::byte *address_, *bytes_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::size_t> free_; // offset -> length
    std::size_t in_use_ = 0;
};

inline constexpr int instances = 2;

/// Returns the memory of an instance. Leaked, as device memory is: tensors may outlive main.
inline memory& the_memory(int instance = 0) {
    static const std::array<memory*, instances> all{new memory(0), new memory(1)};
    return *all[static_cast<std::size_t>(instance)];
}

/// Returns the memory that holds an address. Throws internal for an address of the host's.
inline memory& memory_with(const void* p) {
    for (int i = 0; i < instances; ++i)
        if (the_memory(i).holds(p)) return the_memory(i);
    throw rill::internal("far memory: a kernel was given an address of the host's");
}

/// A memory as the runtime knows it.
struct space final : rill::memory_space {
    explicit space(memory& m) : of(m) {
        name = m.name();
        blocks = &m;
        from_host = [](const rill::memory_space& s, const void* host, void* to, std::size_t n) {
            const auto* const source = static_cast<const std::byte*>(host);
            all_clocks().copied(memory_of(s).instance(), host, to, n);
            add(s, [to = memory_of(s).readable(to), from = std::vector<std::byte>(source, source + n)] {
                std::memcpy(to, from.data(), from.size());
            });
        };
        to_host = [](const rill::memory_space& s, const void* from, void* host, std::size_t n) {
            const auto* const readable = memory_of(s).readable(from);
            std::memset(host, 0xff, n);
            all_clocks().copied(memory_of(s).instance(), from, host, n);
            return add(s, [=] { std::memcpy(host, readable, n); });
        };
        within = [](const rill::memory_space& s, const void* from, void* to, std::size_t n) {
            all_clocks().copied(memory_of(s).instance(), from, to, n);
            add(s,
                [to = memory_of(s).readable(to), from = memory_of(s).readable(from), n] { std::memcpy(to, from, n); });
        };
        wait = [](const rill::memory_space& s, std::uint64_t ticket) {
            all_copies().wait(memory_of(s).instance(), ticket);
        };
    }
    static memory& memory_of(const rill::memory_space& s) { return static_cast<const space&>(s).of; }
    /// Adds a copy. It keeps apart from what kernels report.
    template <class F> static std::uint64_t add(const rill::memory_space& s, F copy) {
        return all_copies().add(memory_of(s).instance(), [copy = std::move(copy)] {
            const std::lock_guard lock(rill::detail::error_record_mutex());
            copy();
        });
    }

    memory& of;
};

/// Returns the space of an instance.
inline const space& the_space(int instance = 0) {
    static const std::array<const space*, instances> all{new space(the_memory(0)), new space(the_memory(1))};
    return *all[static_cast<std::size_t>(instance)];
}

} // namespace test_far
