// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/region_step.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What runs the bodies of a node one of which is no straight line.
std::shared_ptr<const region_step> bind_in_pieces(const subgraph::item& it, const body_plans& plans, allocator& memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/piecewise_bodies.ipp>
#endif
