// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a kernel that runs each body of a node as a separate plan. It serves bodies that may wait, or whose extents
/// vary.
std::shared_ptr<const region_kernel> bind_dynamic_region(const subgraph::item& it, const body_plans& plans,
                                                         allocator& memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/dynamic_region_kernel.ipp>
#endif
