// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/runtime/program/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What each step of a graph comes after: who wrote what it reads, who still reads what it writes, control dependencies.
vector<step_order> order_of_steps(const bound_graph& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/program/step_order.ipp>
#endif
