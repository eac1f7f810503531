// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class bound_region;

/// Binds a loop or scan whose bodies compute scalars from scalars; one kernel then runs all iterations. Returns null for other nodes. The
/// bodies are already bound; `inputs` and `outputs` are the node's.
std::shared_ptr<const static_region_kernel> bind_scalar_loop(const region_attributes& use,
                                                             std::span<const bound_region> bodies,
                                                             std::span<const tensor_type> inputs,
                                                             std::span<const tensor_type> outputs, allocator& memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/scalar_while_kernel.ipp>
#endif
