// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/semaphore_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of permits that a semaphore has left, an int64 of rank 0.
struct semaphore_value_op : detail::resource_question<&detail::semaphore_state::value, std::int64_t> {
    static constexpr auto name = "SemaphoreValue";
};

}} // namespace rill::RILL_ABI
