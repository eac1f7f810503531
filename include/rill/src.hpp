// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What rill::kernels is made of, for programs built without CMake: compile every file with RILL_COMPILED=1 and include this
// one in a single file of the program, first. That file takes about a minute, the others as with rill::kernels.

#ifdef RILL_DEFINE
#error "rill/src.hpp: include it before any other header of rill"
#endif
#define RILL_DEFINE 1
#include <rill/rill.hpp>

#if !RILL_COMPILED
#error "rill/src.hpp: compile every file of the program with -DRILL_COMPILED=1 (without it, the headers alone are all)"
#endif

#include <rill/all_kernels.ipp>
#include <rill/core/allocator.ipp>
#include <rill/core/any_array.ipp>
#include <rill/core/dims.ipp>
#include <rill/core/environment.ipp>
#include <rill/core/error.ipp>
#include <rill/core/hash_index.ipp>
#include <rill/core/host_array.ipp>
#include <rill/core/log.ipp>
#include <rill/core/names.ipp>
#include <rill/core/number_text.ipp>
#include <rill/core/platform.ipp>
#include <rill/core/program.ipp>
#include <rill/core/resource.ipp>
#include <rill/core/text_file.ipp>
#include <rill/core/thread_pool.ipp>
#include <rill/data/csv.ipp>
#include <rill/device/cpu/fused.ipp>
#include <rill/device/cpu/fused_layout.ipp>
#include <rill/device/cpu/fused_numbers.ipp>
#include <rill/device/cpu/fused_stages.ipp>
#include <rill/device/cpu/gemm_library.ipp>
#include <rill/device/cpu/interpreter.ipp>
#include <rill/device/cpu/number_code.ipp>
#include <rill/device/cpu/number_layout.ipp>
#include <rill/device/cpu/number_loop_kernel.ipp>
#include <rill/device/cpu/padded_tail.ipp>
#include <rill/device/device.ipp>
#include <rill/device/kernel.ipp>
#include <rill/device/numbers.ipp>
#include <rill/device/registry.ipp>
#include <rill/device/strided_layout.ipp>
#include <rill/device/structure.ipp>
#include <rill/expr/adjoint_of.ipp>
#include <rill/expr/apply.ipp>
#include <rill/expr/constant.ipp>
#include <rill/expr/expression.ipp>
#include <rill/expr/fused_op.ipp>
#include <rill/expr/handle.ipp>
#include <rill/expr/scalar_loop_of.ipp>
#include <rill/expr/structure_program.ipp>
#include <rill/expr/tracer.ipp>
#include <rill/graph/add_graph.ipp>
#include <rill/graph/device_name.ipp>
#include <rill/graph/field_bytes.ipp>
#include <rill/graph/fields.ipp>
#include <rill/graph/gradients.ipp>
#include <rill/graph/graph.ipp>
#include <rill/graph/json.ipp>
#include <rill/graph/node.ipp>
#include <rill/graph/op.ipp>
#include <rill/graph/op_registry.ipp>
#include <rill/graph/region.ipp>
#include <rill/graph/region_use.ipp>
#include <rill/graph/saved_graph.ipp>
#include <rill/graph/scope.ipp>
#include <rill/graph/serialization.ipp>
#include <rill/passes/absorb.ipp>
#include <rill/passes/body_walk.ipp>
#include <rill/passes/flow_graph.ipp>
#include <rill/passes/merge_twins.ipp>
#include <rill/passes/order.ipp>
#include <rill/passes/place.ipp>
#include <rill/passes/prune.ipp>
#include <rill/passes/raise.ipp>
#include <rill/passes/raised_flow.ipp>
#include <rill/passes/share.ipp>
#include <rill/passes/subgraph.ipp>
#include <rill/passes/transfer.ipp>
#include <rill/runtime/alone_node.ipp>
#include <rill/runtime/binding.ipp>
#include <rill/runtime/bodies.ipp>
#include <rill/runtime/body_numbers.ipp>
#include <rill/runtime/bound_body.ipp>
#include <rill/runtime/branches.ipp>
#include <rill/runtime/chains.ipp>
#include <rill/runtime/containers.ipp>
#include <rill/runtime/cut.ipp>
#include <rill/runtime/eager_variable.ipp>
#include <rill/runtime/evaluate.ipp>
#include <rill/runtime/feed.ipp>
#include <rill/runtime/fetch.ipp>
#include <rill/runtime/frames.ipp>
#include <rill/runtime/frames_run.ipp>
#include <rill/runtime/into.ipp>
#include <rill/runtime/known_values.ipp>
#include <rill/runtime/lifetimes.ipp>
#include <rill/runtime/memory_plan.ipp>
#include <rill/runtime/number_loop_step.ipp>
#include <rill/runtime/piecewise.ipp>
#include <rill/runtime/piecewise_bodies.ipp>
#include <rill/runtime/plan.ipp>
#include <rill/runtime/plan_key.ipp>
#include <rill/runtime/resources.ipp>
#include <rill/runtime/scalar_loop_step.ipp>
#include <rill/runtime/segment.ipp>
#include <rill/runtime/session.ipp>
#include <rill/runtime/session_core.ipp>
#include <rill/runtime/step_events.ipp>
#include <rill/runtime/step_order.ipp>
#include <rill/runtime/step_recorder.ipp>
#include <rill/runtime/trace.ipp>
#include <rill/train/clipping.ipp>
#include <rill/train/coordinator.ipp>
#include <rill/train/eager_optimizer.ipp>
#include <rill/train/get_variable.ipp>
#include <rill/train/initializers.ipp>
#include <rill/train/moving_average.ipp>
#include <rill/train/optimizer.ipp>
#include <rill/train/start_queue_runners.ipp>
#include <rill/train/update_op.ipp>
#include <rill/train/update_rows_op.ipp>
