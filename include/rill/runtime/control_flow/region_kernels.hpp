// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/resources/resources.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What a run of a body is.
plan_key plan_key_of(const body& b);

/// Compiles the bodies that an item runs.
void compile_bodies(body_plans& into, const subgraph::item& it, const session_options& options,
                    const std::shared_ptr<resource_store>& resources, const device_type& default_device);

/// Binds the bodies of a node that is part of a straight line to the types of its inputs: to a static_region_kernel. Throws dynamic_shape_found.
region_binding bind_region(const subgraph::item& it, std::span<const tensor_type> inputs, const body_plans& plans,
                           allocator& memory);

/// The same of a node that stands alone.
region_binding bind_alone(const subgraph::item& it, std::span<const tensor_type> inputs, const body_plans& plans,
                          allocator& memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/region_kernels.ipp>
#endif
