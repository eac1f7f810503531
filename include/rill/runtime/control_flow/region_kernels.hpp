// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/passes/place.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Compiles the bodies of an item. Their arguments, captures and results lie in the memory of its device. The result of a loop's condition
/// lies in host memory.
void compile_bodies(body_plans& into, const subgraph::item& it, const session_options& options,
                    const std::shared_ptr<resource_store>& resources, const std::shared_ptr<placement>& where);

/// Binds a node of a static segment to its input types, as a static_region_kernel. The result has no kernel if the node binds dynamically.
region_binding bind_region(const subgraph::item& it, std::span<const tensor_type> inputs, const body_plans& plans,
                           allocator& memory);

/// Binds a dynamic node, with its bodies, to the types of its inputs.
region_binding bind_dynamic(const subgraph::item& it, std::span<const tensor_type> inputs, const body_plans& plans,
                            allocator& memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/region_kernels.ipp>
#endif
