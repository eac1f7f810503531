// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What kernels of a device in far memory do with addresses: they find the same bytes where they can be read, and check that these
// belong to the instance that the kernel runs on.

#include <array>
#include <optional>

#include <rill/device/device.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/primitives.hpp>

#include "memory.hpp"

namespace test_far {

/// The memory of the instance that the kernel runs on; null for a kernel without a known instance.
inline thread_local const memory* in_use = nullptr;

/// Selects the instance with a memory while a kernel runs.
class selected {
public:
    explicit selected(const rill::memory_space* s) : before_(in_use) {
        if (s) in_use = &space::memory_of(*s);
    }
    ~selected() { in_use = before_; }
    selected(const selected&) = delete;

private:
    const memory* before_;
};

template <class T> T* here(T* p) {
    if (!p) return p;
    const auto& in = memory_with(p);
    all_copies().wait(in.instance());
    if (in_use && in_use != &in)
        throw rill::internal("far memory: a kernel of " + in_use->name() + " was given an address of " + in.name());
    return in.readable(p);
}
template <class T, std::size_t N> std::array<T*, N> here(std::array<T*, N> all) {
    for (auto& p : all) p = here(p);
    return all;
}
template <class T, class I> rill::row_numbers<T, I> here(const rill::row_numbers<T, I>& n) {
    return {here(n.read), here(n.written)};
}
template <class T, std::size_t C> rill::update_constants<T, C> here(const rill::update_constants<T, C>& all) {
    return {here(all.at)};
}

/// The same context for a kernel of the CPU's: with its error record, it reports as a device does. Nothing if the run has failed
/// before: then no primitive does anything.
inline std::optional<rill::execution_context> here(const rill::execution_context& on) {
    rill::execution_context made = on;
    made.scratch = here(on.scratch);
    made.random = here(on.random);
    made.errors = here(on.errors);
    return made.has_failed() ? std::nullopt : std::optional(made);
}

/// The limits that the last session named for the far memories.
inline rill::gpu_options last_limits;

/// Returns the type of device as the runtime sees it, registered.
inline const rill::device_type& device() {
    static const rill::device_type& far = []() -> const rill::device_type& {
        auto& made = *new rill::device_type{"far", {&the_space(0), &the_space(1)}};
        made.limit_memory = [](const rill::device_type&, const rill::gpu_options& options) { last_limits = options; };
        rill::register_device(made);
        return made;
    }();
    return far;
}

} // namespace test_far
