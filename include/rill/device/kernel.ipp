// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel.hpp>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE void step_context::check() const {
    const auto set = [](const std::atomic<bool>* flag) { return flag && flag->load(std::memory_order_relaxed); };
    if (set(cancel) || set(token)) throw cancelled("the step was cancelled");
    if (deadline != std::chrono::steady_clock::time_point::max() && env().now() > deadline)
        throw deadline_exceeded("the step's deadline is over");
}

RILL_COLD void session_end::call(std::function<void()> then) {
    {
        const std::lock_guard lock(mutex_);
        if (!over_) return all_.push_back(std::move(then));
    }
    then();
}

RILL_COLD void session_end::now() noexcept {
    std::vector<std::function<void()>> all;
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
        all.swap(all_);
    }
    for (const auto& then : all) then();
}

}} // namespace rill::RILL_ABI
