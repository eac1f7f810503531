// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel.hpp>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE void step_context::check() const {
    if ((session && session->is_cancelled()) || (token && token->is_cancelled()))
        throw cancelled("the step was cancelled");
    if (deadline != std::chrono::steady_clock::time_point::max() && env().now() >= deadline)
        throw deadline_exceeded("the step's deadline is over");
}

}} // namespace rill::RILL_ABI
