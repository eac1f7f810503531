// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>
#include <rill/resources/keyed_barrier_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of complete elements in a keyed barrier, an int of rank 0.
struct keyed_barrier_ready_size_op : detail::resource_question<&detail::keyed_barrier_state::ready_size> {
    static constexpr auto name = "BarrierReadySize", label = "ready_size";
    static constexpr auto no_gradient = detail::queue_user::no_gradient;
};

}} // namespace rill::RILL_ABI
