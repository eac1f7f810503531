// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include <rill/config.hpp>
#include <rill/device/execution_context.hpp>

namespace rill { inline namespace RILL_ABI {

/// The progress of a loop that a device runs by itself. It lies in the memory of the device. The host sets it before each start.
struct loop_progress {
    std::int32_t most = 0;   // the number of iterations that may run
    std::int32_t done = 0;   // the number that have run
    bool goes_on = false;    // the condition holds after them
    bool has_failed = false; // a kernel has reported an error: no more iterations run
};

/// The decision whether another iteration follows, by values in the memory of the device.
struct loop_decision {
    const bool* holds = nullptr;             // what the condition computes
    const error_record* condition = nullptr; // its errors
    const error_record* iteration = nullptr; // those of an iteration
    loop_progress* progress = nullptr;

    /// Returns true if another iteration follows, and counts it.
    RILL_HOST_DEVICE bool next() const {
        auto& p = *progress;
        p.has_failed = condition->step != error_record::no_step || iteration->step != error_record::no_step;
        p.goes_on = *holds && !p.has_failed;
        if (!p.goes_on || p.done >= p.most) return false;
        ++p.done;
        return true;
    }
};

/// A loop whose kernels a device records, to run it without the host (memory_space::capture_loop). A start runs the kernels of the condition.
/// While `decision` has a next iteration, it runs the kernels of an iteration, and those of the condition again.
struct recorded_loop {
    std::function<void()> condition; // starts its kernels
    std::function<void()> iteration; // likewise
    loop_decision decision;
};

}} // namespace rill::RILL_ABI
