// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel.hpp>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE void step_context::check() const {
    const auto set = [](const std::atomic<bool>* flag) { return flag && flag->load(std::memory_order_relaxed); };
    if (set(cancel) || set(token)) throw cancelled("the step was cancelled");
    if (deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() > deadline)
        throw deadline_exceeded("the step's deadline is over");
}

}} // namespace rill::RILL_ABI
