// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Binds a while loop over scalars to one compiled function. Returns null if the program has no such function for its
/// expressions.
std::shared_ptr<const static_region_kernel> bind_compiled_loop(const subgraph::item& it,
                                                               std::span<const tensor_type> inputs);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/compiled_while_kernel.ipp>
#endif
