// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/runtime/segment/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the dependencies of each step: writers of the values it reads, earlier readers of the values it writes, and control inputs.
vector<step_order> order_of_steps(const bound_graph& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/step_order.ipp>
#endif
