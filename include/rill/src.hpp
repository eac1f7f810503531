// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The sources of rill::kernels, for programs built without CMake. Compile every file with RILL_COMPILED=1, and include this header
// first in a single file. Programs with servers also include the .ipp files of rill/distributed/ there. That file takes about two minutes
// and 3.2 GB to compile. To compile parts of it side by side, compile the same file for each part, with RILL_SRC_PART=1 to 9, and link
// all of the objects.

#ifdef RILL_DEFINE
#error "rill/src.hpp: include it before any other header of rill"
#endif
#ifndef RILL_SRC_PART
#define RILL_SRC_PART 0 // all parts
#endif
#if RILL_SRC_PART < 0 || RILL_SRC_PART > 9
#error "rill/src.hpp: RILL_SRC_PART is 1 to 9"
#endif
#define RILL_SRC_HAS(part) (RILL_SRC_PART == 0 || RILL_SRC_PART == part)

#if RILL_SRC_HAS(4) // the definitions at the foot of the headers of ops
#define RILL_DEFINE 1
#endif
#include <rill/rill.hpp>

#if !RILL_COMPILED
#error "rill/src.hpp: compile every file of the program with -DRILL_COMPILED=1 (without it, the headers alone are all)"
#endif

#if RILL_SRC_HAS(1)
#include <rill/core/allocator.ipp>
#include <rill/core/any_array.ipp>
#include <rill/core/cancellation.ipp>
#include <rill/core/crc32c.ipp>
#include <rill/core/device_name.ipp>
#include <rill/core/dims.ipp>
#include <rill/core/environment.ipp>
#include <rill/core/error.ipp>
#include <rill/core/executor.ipp>
#include <rill/core/hash_index.ipp>
#include <rill/core/host_array.ipp>
#include <rill/core/log.ipp>
#include <rill/core/memory_space.ipp>
#include <rill/core/names.ipp>
#include <rill/core/number_text.ipp>
#include <rill/core/platform.ipp>
#include <rill/core/program.ipp>
#include <rill/core/resource.ipp>
#include <rill/core/text_file.ipp>
#include <rill/core/thread_pool.ipp>
#include <rill/core/wire_format.ipp>
#include <rill/data/csv.ipp>
#include <rill/data/file_sources.ipp>
#include <rill/data/pipeline.ipp>
#include <rill/data/pipeline_groups.ipp>
#include <rill/data/pipeline_joins.ipp>
#include <rill/data/pipeline_map.ipp>
#include <rill/data/pipeline_prefetch.ipp>
#include <rill/data/pipeline_sources.ipp>
#include <rill/data/pipeline_tasks.ipp>
#include <rill/data/progress.ipp>
#include <rill/device/compiled_loop.ipp>
#include <rill/device/cpu/fusion/fused_kernel.ipp>
#include <rill/device/cpu/fusion/fused_kernel_layout.ipp>
#include <rill/device/cpu/fusion/fused_stages.ipp>
#include <rill/device/cpu/fusion/interpreter.ipp>
#include <rill/device/cpu/fusion/joined_program.ipp>
#include <rill/device/cpu/fusion/padded_tail.ipp>
#include <rill/device/cpu/gemm/gemm_library.ipp>
#include <rill/device/cpu/jit/code_cache.ipp>
#include <rill/device/cpu/jit/executable_memory.ipp>
#include <rill/device/cpu/jit/factor_common_terms.ipp>
#include <rill/device/cpu/jit/jit_ir.ipp>
#include <rill/device/cpu/jit/jit_loop.ipp>
#include <rill/device/cpu/jit/jit_program.ipp>
#include <rill/device/cpu/jit/vector_math.ipp>
#include <rill/device/cpu/jit/x86_codegen.ipp>
#include <rill/device/cpu/linalg/lapack.ipp>
#include <rill/device/cpu/scalar/scalar_code.ipp>
#include <rill/device/cpu/scalar/scalar_frame_layout.ipp>
#include <rill/device/cpu/scalar/scalar_jit.ipp>
#include <rill/device/cpu/scalar/scalar_kernel.ipp>
#include <rill/device/cpu/scalar/scalar_loop_kernel.ipp>
#include <rill/device/device.ipp>
#include <rill/device/device_set.ipp>
#include <rill/device/execution_context.ipp>
#include <rill/device/kernel.ipp>
#include <rill/device/kernel_registry.ipp>
#include <rill/device/loop_code.ipp>
#include <rill/device/memory_pool.ipp>
#include <rill/device/numbers.ipp>
#include <rill/device/strided_layout.ipp>
#include <rill/device/structure_key.ipp>
#include <rill/device/thrust/can_launch.ipp>
#include <rill/device/thrust/launch.ipp>
#include <rill/device/thrust/launch_sequence.ipp>
#include <rill/device/thrust/program_source.ipp>
#include <rill/device/visible_devices.ipp>
#include <rill/eager/eager_variable.ipp>
#include <rill/eager/evaluate.ipp>
#include <rill/expr/adjoint_of.ipp>
#include <rill/expr/apply.ipp>
#include <rill/expr/constant.ipp>
#include <rill/expr/expression.ipp>
#include <rill/expr/fused_gradient.ipp>
#include <rill/expr/fused_op.ipp>
#include <rill/expr/handle.ipp>
#include <rill/expr/structure_program.ipp>
#include <rill/expr/tracer.ipp>
#include <rill/io/byte_stream.ipp>
#include <rill/io/checkpoint.ipp>
#include <rill/io/checkpoint_merge.ipp>
#include <rill/io/checkpoint_write.ipp>
#include <rill/io/csv_record.ipp>
#include <rill/io/example.ipp>
#include <rill/io/file_system.ipp>
#include <rill/io/idx.ipp>
#include <rill/io/image.ipp>
#include <rill/io/npy.ipp>
#include <rill/io/png.ipp>
#include <rill/io/record_stream.ipp>
#include <rill/io/safetensors.ipp>
#include <rill/io/shard.ipp>
#include <rill/io/summary_messages.ipp>
#include <rill/io/tensor_bundle.ipp>
#include <rill/io/tensor_message.ipp>
#include <rill/io/tf_record.ipp>
#include <rill/io/wire.ipp>
#include <rill/io/zlib.ipp>
#include <rill/link/dynamic_runtime.ipp>
#include <rill/resources/container_set.ipp>
#include <rill/resources/element_queue_state.ipp>
#include <rill/resources/rank_exchanges.ipp>
#include <rill/resources/resource_store.ipp>
#include <rill/resources/variable_state.ipp>
#include <rill/session/feed.ipp>
#include <rill/session/fetch.ipp>
#include <rill/session/into.ipp>
#include <rill/session/local_session_core.ipp>
#include <rill/session/local_session_state.ipp>
#include <rill/session/measured_run.ipp>
#include <rill/session/partitioned_run.ipp>
#include <rill/session/plan_cache.ipp>
#include <rill/session/prepared_run.ipp>
#include <rill/session/session.ipp>
#include <rill/session/session_core.ipp>
#include <rill/summary/event_writer.ipp>
#endif

#if RILL_SRC_HAS(2)
#include <rill/estimator/canned.ipp>
#include <rill/estimator/estimator_core.ipp>
#include <rill/estimator/feature_column.ipp>
#include <rill/graph/cluster_spec.ipp>
#include <rill/graph/gradients.ipp>
#include <rill/graph/graph.ipp>
#include <rill/graph/node.ipp>
#include <rill/graph/op/field_bytes.ipp>
#include <rill/graph/op/fields.ipp>
#include <rill/graph/op/op.ipp>
#include <rill/graph/op/op_registry.ipp>
#include <rill/graph/op/region_attributes.ipp>
#include <rill/graph/region.ipp>
#include <rill/graph/scope.ipp>
#include <rill/graph/serialization/add_graph.ipp>
#include <rill/graph/serialization/cluster_json.ipp>
#include <rill/graph/serialization/dot.ipp>
#include <rill/graph/serialization/json.ipp>
#include <rill/graph/serialization/saved_graph.ipp>
#include <rill/graph/serialization/serialization.ipp>
#include <rill/passes/bundle_edges.ipp>
#include <rill/passes/constant_folder.ipp>
#include <rill/passes/cost_model.ipp>
#include <rill/passes/cost_record.ipp>
#include <rill/passes/eliminate_common_subexpressions.ipp>
#include <rill/passes/fold_operands.ipp>
#include <rill/passes/functionalize/flow_graph.ipp>
#include <rill/passes/functionalize/functionalize_control_flow.ipp>
#include <rill/passes/functionalize/functionalized_graph.ipp>
#include <rill/passes/functionalize/loop_structure.ipp>
#include <rill/passes/functionalize/merge_groups.ipp>
#include <rill/passes/functionalize/region_builder.ipp>
#include <rill/passes/fusion_groups.ipp>
#include <rill/passes/insert_copies.ipp>
#include <rill/passes/insert_exchanges.ipp>
#include <rill/passes/insert_exchanges_in_bodies.ipp>
#include <rill/passes/merge_region_variants.ipp>
#include <rill/passes/needed_items.ipp>
#include <rill/passes/order.ipp>
#include <rill/passes/partition.ipp>
#include <rill/passes/place.ipp>
#include <rill/passes/place_by_cost.ipp>
#include <rill/passes/prune.ipp>
#include <rill/passes/schedule_receives.ipp>
#include <rill/passes/split_into_stages.ipp>
#include <rill/passes/subgraph.ipp>
#endif

#if RILL_SRC_HAS(3)
#include <rill/runtime/absent_value.ipp>
#include <rill/runtime/control_flow/bound_region.ipp>
#include <rill/runtime/control_flow/dynamic_region_kernel.ipp>
#include <rill/runtime/control_flow/loops/induction_variable.ipp>
#include <rill/runtime/control_flow/loops/lower_loop.ipp>
#include <rill/runtime/control_flow/loops/region_scalars.ipp>
#include <rill/runtime/control_flow/loops/scalar_while_kernel.ipp>
#include <rill/runtime/control_flow/region_kernels.ipp>
#include <rill/runtime/dataflow/dataflow_executor.ipp>
#include <rill/runtime/dataflow/dataflow_plan.ipp>
#include <rill/runtime/executor/completion_queue.ipp>
#include <rill/runtime/executor/dynamic_node.ipp>
#include <rill/runtime/executor/local_rendezvous.ipp>
#include <rill/runtime/executor/partitioned_step.ipp>
#include <rill/runtime/executor/posted_step.ipp>
#include <rill/runtime/executor/run_plan.ipp>
#include <rill/runtime/executor/step_executor.ipp>
#include <rill/runtime/executor/step_run.ipp>
#include <rill/runtime/plan/compile_graph.ipp>
#include <rill/runtime/plan/part_graph.ipp>
#include <rill/runtime/plan/partitioned_plan.ipp>
#include <rill/runtime/plan/plan.ipp>
#include <rill/runtime/plan/staged_plan.ipp>
#include <rill/runtime/plan_key.ipp>
#include <rill/runtime/segment/binding.ipp>
#include <rill/runtime/segment/captured_ranges.ipp>
#include <rill/runtime/segment/fused_views.ipp>
#include <rill/runtime/segment/lifetimes.ipp>
#include <rill/runtime/segment/memory_plan.ipp>
#include <rill/runtime/segment/parallel_regions.ipp>
#include <rill/runtime/segment/segment.ipp>
#include <rill/runtime/segment/segment_replays.ipp>
#include <rill/runtime/segment/segment_reports.ipp>
#include <rill/runtime/segment/step_order.ipp>
#include <rill/runtime/segment/swap_plan.ipp>
#include <rill/runtime/segment/variable_reads.ipp>
#include <rill/runtime/step_gate.ipp>
#include <rill/runtime/tensor_list.ipp>
#include <rill/runtime/trace/record_costs.ipp>
#include <rill/runtime/trace/step_recorder.ipp>
#include <rill/runtime/trace/trace.ipp>
#include <rill/train/all_reduce_gradients.ipp>
#include <rill/train/any_variable.ipp>
#include <rill/train/bounded_staleness.ipp>
#include <rill/train/clipping.ipp>
#include <rill/train/compare_values.ipp>
#include <rill/train/coordinator.ipp>
#include <rill/train/dense.ipp>
#include <rill/train/eager_optimizer.ipp>
#include <rill/train/freeze.ipp>
#include <rill/train/frozen_check.ipp>
#include <rill/train/get_variable.ipp>
#include <rill/train/global_step.ipp>
#include <rill/train/initializers.ipp>
#include <rill/train/layers.ipp>
#include <rill/train/losses.ipp>
#include <rill/train/monitored_session.ipp>
#include <rill/train/moving_average.ipp>
#include <rill/train/optimizer.ipp>
#include <rill/train/parameter_table.ipp>
#include <rill/train/prefetched_parameters.ipp>
#include <rill/train/replica_device_setter.ipp>
#include <rill/train/replica_index.ipp>
#include <rill/train/saver.ipp>
#include <rill/train/saver_values.ipp>
#include <rill/train/session_hooks.ipp>
#include <rill/train/start_queue_runners.ipp>
#include <rill/train/sync_replicas.ipp>
#include <rill/train/unnamed_layer.ipp>
#include <rill/train/update_op.ipp>
#include <rill/train/update_rows_op.ipp>
#endif

// Part 5 registers the kernels. Parts 6 to 9 hold those of a quarter of the ops each.
#if RILL_SRC_PART == 5
#define RILL_KERNELS_APART 1
#elif RILL_SRC_PART >= 6
#define RILL_KERNELS_ALONE 1
#endif
#if RILL_SRC_PART == 0 || RILL_SRC_PART >= 5
#include <rill/all_kernels.ipp>
#endif
#if RILL_SRC_PART >= 6
namespace rill { inline namespace RILL_ABI { namespace detail {

template <std::size_t Part> void compile_part_of_catalogue();
template <> void compile_part_of_catalogue<RILL_SRC_PART - 6>() {
    each_of_catalogue<this_level, catalogue_part<RILL_SRC_PART - 6, 4>>();
}

}}} // namespace rill::RILL_ABI::detail
#endif
