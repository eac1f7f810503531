// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The op catalogue. Each op has its header among the includes, and its struct in the list. The list defines the ops by
// name, the contents of rill::kernels, and docs/ops.md.
// size: two lines for each op

#include <rill/ops/array/add_rows.hpp>
#include <rill/ops/array/add_slice.hpp>
#include <rill/ops/array/bitcast.hpp>
#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/concat_grad.hpp>
#include <rill/ops/array/dynamic_partition.hpp>
#include <rill/ops/array/dynamic_stitch.hpp>
#include <rill/ops/array/ensure_shape.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/eye.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/gather_grad.hpp>
#include <rill/ops/array/gather_nd.hpp>
#include <rill/ops/array/gradient_rows.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/index_count.hpp>
#include <rill/ops/array/indices.hpp>
#include <rill/ops/array/invert_permutation.hpp>
#include <rill/ops/array/linspace.hpp>
#include <rill/ops/array/list_diff.hpp>
#include <rill/ops/array/mask_over.hpp>
#include <rill/ops/array/meshgrid.hpp>
#include <rill/ops/array/one_hot.hpp>
#include <rill/ops/array/ones.hpp>
#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/pad.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/array/rank.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/reshape_like.hpp>
#include <rill/ops/array/reverse.hpp>
#include <rill/ops/array/reverse_sequence.hpp>
#include <rill/ops/array/roll.hpp>
#include <rill/ops/array/scatter_nd.hpp>
#include <rill/ops/array/sequence_lengths.hpp>
#include <rill/ops/array/sequence_mask.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/slice_grad.hpp>
#include <rill/ops/array/snapshot.hpp>
#include <rill/ops/array/sparse_to_dense.hpp>
#include <rill/ops/array/split.hpp>
#include <rill/ops/array/split_v.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/array/strided_slice.hpp>
#include <rill/ops/array/strided_slice_grad.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/ops/array/take_along.hpp>
#include <rill/ops/array/tensor_array_write.hpp>
#include <rill/ops/array/tensor_scatter_add.hpp>
#include <rill/ops/array/tensor_scatter_sub.hpp>
#include <rill/ops/array/tensor_scatter_update.hpp>
#include <rill/ops/array/tile.hpp>
#include <rill/ops/array/tile_grad.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/array/unique.hpp>
#include <rill/ops/array/unstack.hpp>
#include <rill/ops/array/where.hpp>
#include <rill/ops/array/zeros.hpp>
#include <rill/ops/array/zeros_like.hpp>

#include <rill/ops/control/case.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/function.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/control/host_call.hpp>
#include <rill/ops/control/primitives/enter.hpp>
#include <rill/ops/control/primitives/leave.hpp>
#include <rill/ops/control/primitives/loop_cond.hpp>
#include <rill/ops/control/primitives/merge.hpp>
#include <rill/ops/control/primitives/next_iteration.hpp>
#include <rill/ops/control/primitives/switch.hpp>
#include <rill/ops/control/region/argument.hpp>
#include <rill/ops/control/scan.hpp>
#include <rill/ops/control/tensor_array.hpp>
#include <rill/ops/control/while_loop.hpp>

#include <rill/ops/exchange/exchange_ops.hpp>
#include <rill/ops/exchange/receive.hpp>
#include <rill/ops/exchange/receive_bundle.hpp>
#include <rill/ops/exchange/send.hpp>
#include <rill/ops/exchange/send_as.hpp>
#include <rill/ops/exchange/send_bundle.hpp>
#include <rill/ops/exchange/stand_in.hpp>

#include <rill/ops/image/decode_image.hpp>
#include <rill/ops/image/resize_image.hpp>

#include <rill/ops/input/category_ids.hpp>
#include <rill/ops/input/decode_compressed.hpp>
#include <rill/ops/input/decode_csv.hpp>
#include <rill/ops/input/decode_raw.hpp>
#include <rill/ops/input/iterator.hpp>
#include <rill/ops/input/iterator_get_next.hpp>
#include <rill/ops/input/make_iterator.hpp>
#include <rill/ops/input/parse_example.hpp>
#include <rill/ops/input/parse_tensor.hpp>
#include <rill/ops/input/reader.hpp>
#include <rill/ops/input/reader_counts.hpp>
#include <rill/ops/input/reader_read.hpp>

#include <rill/ops/io/matching_files.hpp>
#include <rill/ops/io/read_file.hpp>
#include <rill/ops/io/restore_tensor.hpp>
#include <rill/ops/io/save_tensors.hpp>
#include <rill/ops/io/write_file.hpp>

#include <rill/ops/linalg/batch_matmul.hpp>
#include <rill/ops/linalg/cholesky.hpp>
#include <rill/ops/linalg/cross.hpp>
#include <rill/ops/linalg/diag.hpp>
#include <rill/ops/linalg/dot.hpp>
#include <rill/ops/linalg/einsum.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/linalg/matmul_row.hpp>
#include <rill/ops/linalg/matrix_band_part.hpp>
#include <rill/ops/linalg/matrix_determinant.hpp>
#include <rill/ops/linalg/matrix_diag.hpp>
#include <rill/ops/linalg/matrix_inverse.hpp>
#include <rill/ops/linalg/matrix_solve.hpp>
#include <rill/ops/linalg/matrix_solve_ls.hpp>
#include <rill/ops/linalg/matrix_transpose.hpp>
#include <rill/ops/linalg/matvec.hpp>
#include <rill/ops/linalg/norm.hpp>
#include <rill/ops/linalg/orthogonal.hpp>
#include <rill/ops/linalg/outer.hpp>
#include <rill/ops/linalg/qr.hpp>
#include <rill/ops/linalg/self_adjoint_eig.hpp>
#include <rill/ops/linalg/svd.hpp>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/acos.hpp>
#include <rill/ops/math/acosh.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/angle.hpp>
#include <rill/ops/math/argmax.hpp>
#include <rill/ops/math/argmin.hpp>
#include <rill/ops/math/asin.hpp>
#include <rill/ops/math/asinh.hpp>
#include <rill/ops/math/atan.hpp>
#include <rill/ops/math/atan2.hpp>
#include <rill/ops/math/atanh.hpp>
#include <rill/ops/math/bincount.hpp>
#include <rill/ops/math/bucketize.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/ceil.hpp>
#include <rill/ops/math/check_numerics.hpp>
#include <rill/ops/math/complex.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/cos.hpp>
#include <rill/ops/math/cosh.hpp>
#include <rill/ops/math/count_nonzero.hpp>
#include <rill/ops/math/cumprod.hpp>
#include <rill/ops/math/cumsum.hpp>
#include <rill/ops/math/derivative.hpp>
#include <rill/ops/math/digamma.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/div_no_nan.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/erf.hpp>
#include <rill/ops/math/erfc.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/exp_below.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/floordiv.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/imag.hpp>
#include <rill/ops/math/is_finite.hpp>
#include <rill/ops/math/is_inf.hpp>
#include <rill/ops/math/is_nan.hpp>
#include <rill/ops/math/l2_norm.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/less_equal.hpp>
#include <rill/ops/math/lgamma.hpp>
#include <rill/ops/math/linear_recurrence.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/logical_not.hpp>
#include <rill/ops/math/logical_or.hpp>
#include <rill/ops/math/logical_xor.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/minimum.hpp>
#include <rill/ops/math/mod.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/mul_no_nan.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/polygamma.hpp>
#include <rill/ops/math/polyval.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/real.hpp>
#include <rill/ops/math/reciprocal.hpp>
#include <rill/ops/math/reduce_all.hpp>
#include <rill/ops/math/reduce_any.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>
#include <rill/ops/math/reduce_logsumexp.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_min.hpp>
#include <rill/ops/math/reduce_prod.hpp>
#include <rill/ops/math/reduce_std.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/reduce_variance.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/ops/math/rint.hpp>
#include <rill/ops/math/round.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/scalar_mul.hpp>
#include <rill/ops/math/segment.hpp>
#include <rill/ops/math/segment_gather.hpp>
#include <rill/ops/math/segment_places.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sigmoid.hpp>
#include <rill/ops/math/sign.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/sinh.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/squared_difference.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tan.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/math/unsorted_segment_max.hpp>
#include <rill/ops/math/unsorted_segment_mean.hpp>
#include <rill/ops/math/unsorted_segment_min.hpp>
#include <rill/ops/math/unsorted_segment_prod.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>
#include <rill/ops/math/xdivy.hpp>
#include <rill/ops/math/xlogy.hpp>

#include <rill/ops/nn/batch_normalization.hpp>
#include <rill/ops/nn/bias_add.hpp>
#include <rill/ops/nn/clip.hpp>
#include <rill/ops/nn/compute_accidental_hits.hpp>
#include <rill/ops/nn/crelu.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/nn/elu.hpp>
#include <rill/ops/nn/embedding_lookup.hpp>
#include <rill/ops/nn/gelu.hpp>
#include <rill/ops/nn/huber_loss.hpp>
#include <rill/ops/nn/l2_loss.hpp>
#include <rill/ops/nn/l2_normalize.hpp>
#include <rill/ops/nn/leaky_relu.hpp>
#include <rill/ops/nn/log_poisson_loss.hpp>
#include <rill/ops/nn/log_sigmoid.hpp>
#include <rill/ops/nn/log_softmax.hpp>
#include <rill/ops/nn/lrn.hpp>
#include <rill/ops/nn/moments.hpp>
#include <rill/ops/nn/relu6.hpp>
#include <rill/ops/nn/sampled_losses.hpp>
#include <rill/ops/nn/selu.hpp>
#include <rill/ops/nn/sigmoid_cross_entropy.hpp>
#include <rill/ops/nn/silu.hpp>
#include <rill/ops/nn/softmax.hpp>
#include <rill/ops/nn/softmax_cross_entropy.hpp>
#include <rill/ops/nn/softplus.hpp>
#include <rill/ops/nn/softsign.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>
#include <rill/ops/nn/top_k.hpp>
#include <rill/ops/nn/weighted_cross_entropy.hpp>
#include <rill/ops/nn/window/avg_pool.hpp>
#include <rill/ops/nn/window/conv2d.hpp>
#include <rill/ops/nn/window/conv2d_transpose.hpp>
#include <rill/ops/nn/window/depthwise_conv2d.hpp>
#include <rill/ops/nn/window/extract_image_patches.hpp>
#include <rill/ops/nn/window/max_pool.hpp>
#include <rill/ops/nn/window/space_to_depth.hpp>
#include <rill/ops/nn/xw_plus_b.hpp>
#include <rill/ops/nn/zero_fraction.hpp>

#include <rill/ops/barrier/keyed_barrier.hpp>
#include <rill/ops/barrier/keyed_barrier_close.hpp>
#include <rill/ops/barrier/keyed_barrier_incomplete_size.hpp>
#include <rill/ops/barrier/keyed_barrier_insert_many.hpp>
#include <rill/ops/barrier/keyed_barrier_ready_size.hpp>
#include <rill/ops/barrier/keyed_barrier_take_many.hpp>
#include <rill/ops/collective/all_gather.hpp>
#include <rill/ops/collective/all_reduce.hpp>
#include <rill/ops/collective/broadcast_from.hpp>
#include <rill/ops/collective/collective.hpp>
#include <rill/ops/queue/dequeue.hpp>
#include <rill/ops/queue/dequeue_many.hpp>
#include <rill/ops/queue/dequeue_up_to.hpp>
#include <rill/ops/queue/enqueue.hpp>
#include <rill/ops/queue/enqueue_many.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/queue/padding_fifo_queue.hpp>
#include <rill/ops/queue/priority_queue.hpp>
#include <rill/ops/queue/queue_close.hpp>
#include <rill/ops/queue/queue_is_closed.hpp>
#include <rill/ops/queue/queue_runner.hpp>
#include <rill/ops/queue/queue_size.hpp>
#include <rill/ops/queue/random_shuffle_queue.hpp>
#include <rill/ops/stack/stack_pop.hpp>
#include <rill/ops/stack/stack_push.hpp>
#include <rill/ops/stack/stack_size.hpp>
#include <rill/ops/stack/tensor_stack.hpp>

#include <rill/ops/quantized/fake_quant.hpp>
#include <rill/ops/quantized/quantize.hpp>
#include <rill/ops/quantized/quantized_conv2d.hpp>

#include <rill/ops/random/bernoulli.hpp>
#include <rill/ops/random/candidate_sampler.hpp>
#include <rill/ops/random/multinomial.hpp>
#include <rill/ops/random/random_gamma.hpp>
#include <rill/ops/random/random_normal.hpp>
#include <rill/ops/random/random_poisson.hpp>
#include <rill/ops/random/random_shuffle.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/random/random_uniform_like.hpp>
#include <rill/ops/random/truncated_normal.hpp>

#include <rill/ops/state/assign.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/assign_sub.hpp>
#include <rill/ops/state/count_up_to.hpp>
#include <rill/ops/state/is_initialized.hpp>
#include <rill/ops/state/scatter_add.hpp>
#include <rill/ops/state/scatter_div.hpp>
#include <rill/ops/state/scatter_max.hpp>
#include <rill/ops/state/scatter_min.hpp>
#include <rill/ops/state/scatter_mul.hpp>
#include <rill/ops/state/scatter_nd_add.hpp>
#include <rill/ops/state/scatter_nd_sub.hpp>
#include <rill/ops/state/scatter_nd_update.hpp>
#include <rill/ops/state/scatter_sub.hpp>
#include <rill/ops/state/scatter_update.hpp>
#include <rill/ops/state/variable.hpp>

#include <rill/ops/string/as_string.hpp>
#include <rill/ops/string/string_equal.hpp>
#include <rill/ops/string/string_format.hpp>
#include <rill/ops/string/string_join.hpp>
#include <rill/ops/string/string_length.hpp>
#include <rill/ops/string/string_lower.hpp>
#include <rill/ops/string/string_select.hpp>
#include <rill/ops/string/string_split.hpp>
#include <rill/ops/string/string_strip.hpp>
#include <rill/ops/string/string_to_hash_bucket_fast.hpp>
#include <rill/ops/string/string_to_number.hpp>
#include <rill/ops/string/string_upper.hpp>
#include <rill/ops/string/substr.hpp>

#include <rill/ops/summary/histogram_summary.hpp>
#include <rill/ops/summary/image_summary.hpp>
#include <rill/ops/summary/scalar_summary.hpp>
#include <rill/ops/summary/text_summary.hpp>

#include <rill/ops/accumulator/accumulator_apply_gradient.hpp>
#include <rill/ops/accumulator/accumulator_counts.hpp>
#include <rill/ops/accumulator/accumulator_set_global_step.hpp>
#include <rill/ops/accumulator/accumulator_take_gradient.hpp>
#include <rill/ops/accumulator/conditional_accumulator.hpp>
#include <rill/ops/sync/barrier.hpp>
#include <rill/ops/sync/barrier_wait.hpp>
#include <rill/ops/sync/clock_advance.hpp>
#include <rill/ops/sync/clock_leave.hpp>
#include <rill/ops/sync/mutex.hpp>
#include <rill/ops/sync/mutex_acquire.hpp>
#include <rill/ops/sync/mutex_release.hpp>
#include <rill/ops/sync/replica_gradients.hpp>
#include <rill/ops/sync/replica_gradients_put.hpp>
#include <rill/ops/sync/replica_gradients_take.hpp>
#include <rill/ops/sync/round_arrive.hpp>
#include <rill/ops/sync/round_begin.hpp>
#include <rill/ops/sync/round_dropped.hpp>
#include <rill/ops/sync/round_end.hpp>
#include <rill/ops/sync/round_leave.hpp>
#include <rill/ops/sync/round_reset.hpp>
#include <rill/ops/sync/semaphore.hpp>
#include <rill/ops/sync/semaphore_acquire.hpp>
#include <rill/ops/sync/semaphore_release.hpp>
#include <rill/ops/sync/semaphore_value.hpp>
#include <rill/ops/sync/staleness_clock.hpp>
#include <rill/ops/sync/sync_round.hpp>

#include <rill/ops/table/hash_table.hpp>
#include <rill/ops/table/initialize_table.hpp>
#include <rill/ops/table/lookup_table_export.hpp>
#include <rill/ops/table/lookup_table_find.hpp>
#include <rill/ops/table/lookup_table_insert.hpp>
#include <rill/ops/table/lookup_table_remove.hpp>
#include <rill/ops/table/lookup_table_size.hpp>
#include <rill/ops/table/vocabulary.hpp>

namespace rill { inline namespace RILL_ABI {

// clang-format off: a line each
using catalogue = op_list<
    abs_op,
    accumulator_apply_gradient_op,
    accumulator_counts_op,
    accumulator_set_global_step_op,
    accumulator_take_gradient_op,
    acos_op,
    acosh_op,
    add_op,
    add_rows_op,
    add_slice_op,
    all_gather_op,
    all_reduce_op,
    argmax_op,
    argmin_op,
    argument_op,
    as_string_op,
    asin_op,
    asinh_op,
    assign_add_op,
    assign_op,
    assign_sub_op,
    async_host_call_op,
    atan2_op,
    atan_op,
    atanh_op,
    avg_pool_grad_op,
    avg_pool_op,
    barrier_op,
    barrier_wait_op,
    batch_matmul_op,
    bias_for_op,
    bitcast_op,
    broadcast_from_op,
    broadcast_to_op,
    call_op,
    candidate_sampler_op,
    case_op,
    cast_op<bool>,
    cast_op<double>,
    cast_op<float>,
    cast_op<std::int32_t>,
    cast_op<std::int64_t>,
    category_ids_op,
    ceil_op,
    check_numerics_op,
    cholesky_op,
    clip_op,
    clock_advance_op,
    clock_leave_op,
    collective_op,
    complex_op,
    compute_accidental_hits_op,
    concat_grad_op,
    concat_op,
    conditional_accumulator_op,
    conj_op,
    constant_op,
    conv2d_backprop_filter_op,
    conv2d_backprop_input_op,
    conv2d_op,
    conv2d_row_op,
    conv2d_transpose_op,
    cos_op,
    cosh_op,
    count_up_to_op,
    cumprod_op,
    cumsum_op,
    decode_compressed_op,
    decode_csv_op,
    decode_image_op,
    decode_raw_op,
    depthwise_conv2d_backprop_filter_op,
    depthwise_conv2d_backprop_input_op,
    depthwise_conv2d_op,
    dequantize_op,
    dequeue_many_op,
    dequeue_op,
    dequeue_up_to_op,
    diag_op,
    diag_part_op,
    digamma_op,
    div_no_nan_op,
    div_op,
    dropout_rate_op,
    dynamic_stitch_op,
    einsum_op,
    elu_op,
    enqueue_many_op,
    enqueue_op,
    ensure_shape_op,
    enter_op,
    equal_op,
    erf_op,
    erfc_op,
    exp_op,
    expand_dims_op,
    exp_below_op,
    expm1_op,
    extract_image_patches_grad_op,
    extract_image_patches_op,
    fake_quant_width_op,
    fifo_queue_op,
    fill_op,
    floor_op,
    floordiv_op,
    fused_op,
    gather_grad_op,
    gather_nd_op,
    gather_op,
    gelu_op,
    greater_equal_op,
    greater_op,
    hash_table_op,
    histogram_summary_op,
    host_call_op,
    identity_op,
    imag_op,
    image_summary_op,
    index_count_op,
    initialize_table_op,
    invert_permutation_op,
    is_finite_op,
    is_inf_op,
    is_initialized_op,
    is_nan_op,
    iterator_get_next_op,
    iterator_op,
    keyed_barrier_close_op,
    keyed_barrier_incomplete_size_op,
    keyed_barrier_insert_many_op,
    keyed_barrier_op,
    keyed_barrier_ready_size_op,
    keyed_barrier_take_many_op,
    leaky_relu_op,
    leave_op,
    less_equal_op,
    l2_norm_op,
    less_op,
    lgamma_op,
    linear_recurrence_op,
    list_diff_op,
    log1p_op,
    log_matrix_determinant_op,
    log_op,
    log_softmax_op,
    logical_and_op,
    logical_not_op,
    logical_or_op,
    logical_xor_op,
    loop_cond_op,
    lookup_table_export_op,
    lookup_table_find_op,
    lookup_table_insert_op,
    lookup_table_remove_op,
    lookup_table_size_op,
    make_iterator_op,
    mask_over_op,
    matching_files_op,
    matmul_op,
    matmul_row_op,
    matrix_band_part_op,
    matrix_determinant_op,
    matrix_diag_op,
    matrix_diag_part_op,
    matrix_inverse_op,
    matrix_set_diag_op,
    matrix_solve_op,
    matrix_transpose_op,
    matrix_triangular_solve_op,
    max_pool_grad_grad_op,
    max_pool_grad_op,
    max_pool_op,
    maximum_op,
    merge_op,
    minimum_op,
    mod_op,
    mul_no_nan_op,
    mul_op,
    multinomial_op,
    mutex_acquire_op,
    mutex_op,
    mutex_release_op,
    neg_op,
    next_iteration_op,
    no_op_op,
    not_equal_op,
    one_hot_op,
    orthogonal_op,
    pad_op,
    padding_fifo_queue_op,
    parse_example_op,
    parse_tensor_op,
    partition_places_op,
    placeholder_op,
    polygamma_op,
    pow_op,
    priority_queue_op,
    qr_op,
    quantize_op,
    quantized_conv2d_op,
    quantized_matmul_op,
    quantized_relu_op,
    queue_close_op,
    queue_is_closed_op,
    queue_runner_op,
    queue_size_op,
    random_gamma_op,
    random_normal_op,
    random_poisson_op,
    random_shuffle_op,
    random_shuffle_queue_op,
    random_uniform_like_op,
    random_uniform_op,
    range_op,
    rank_op,
    read_file_op,
    reader_num_records_produced_op,
    reader_num_records_skipped_op,
    reader_num_work_units_completed_op,
    reader_op,
    reader_read_op,
    reader_read_up_to_op,
    reader_reset_op,
    real_op,
    reciprocal_op,
    receive_bundle_op,
    receive_op,
    reduce_max_op,
    reduce_min_op,
    reduce_prod_op,
    relu6_op,
    relu_op,
    replica_gradients_op,
    replica_gradients_put_op,
    replica_gradients_take_op,
    requantize_op,
    reshape_like_op,
    reshape_op,
    resize_image_grad_op,
    resize_image_op,
    restore_tensor_op,
    reverse_op,
    rint_op,
    roll_op,
    round_arrive_op,
    round_begin_op,
    round_dropped_op,
    round_end_op,
    round_leave_op,
    round_op,
    round_reset_op,
    rsqrt_op,
    save_tensors_op,
    scalar_summary_op,
    scan_slices_op,
    scatter_add_op,
    scatter_div_op,
    scatter_max_op,
    scatter_min_op,
    scatter_mul_op,
    scatter_nd_add_op,
    scatter_nd_sub_op,
    scatter_nd_update_op,
    scatter_sub_op,
    scatter_update_op,
    segment_gather_op,
    segment_places_op,
    select_op,
    self_adjoint_eig_op,
    selu_op,
    semaphore_acquire_op,
    semaphore_op,
    semaphore_release_op,
    semaphore_value_op,
    send_as_op,
    send_bundle_op,
    send_op,
    serialize_tensor_op,
    sequence_lengths_op,
    shape_op,
    sigmoid_cross_entropy_op,
    sigmoid_op,
    sign_op,
    silu_op,
    sin_op,
    sinh_op,
    size_op,
    slice_grad_op,
    slice_op,
    snapshot_op,
    softmax_cross_entropy_op,
    softmax_op,
    softplus_op,
    sparse_softmax_cross_entropy_op,
    split_op,
    split_v_op,
    sqrt_op,
    square_op,
    squared_difference_op,
    squeeze_op,
    stack_pop_op,
    stack_push_op,
    stack_size_op,
    staleness_clock_op,
    stand_in_op,
    stop_gradient_op,
    strided_slice_grad_op,
    strided_slice_op,
    string_equal_op,
    string_format_op,
    string_join_op,
    string_length_op,
    string_lower_op,
    string_select_op,
    string_split_op,
    string_strip_op,
    string_to_hash_bucket_fast_op,
    string_to_number_op,
    string_upper_op,
    sub_op,
    substr_op,
    svd_op,
    switch_op,
    sync_round_op,
    take_along_grad_op,
    take_along_op,
    tan_op,
    tanh_op,
    tensor_array_write_op,
    tensor_scatter_add_op,
    tensor_scatter_sub_op,
    tensor_scatter_update_op,
    tensor_stack_op,
    text_summary_op,
    tile_grad_op,
    tile_op,
    top_k_op,
    transpose_op,
    truncated_normal_op,
    unique_op,
    unsorted_segment_max_op,
    unsorted_segment_min_op,
    unsorted_segment_prod_op,
    unsorted_segment_sum_op,
    variable_op,
    where_op,
    while_op,
    write_file_op,
    xdivy_op,
    xlogy_op>;
// clang-format on

}} // namespace rill::RILL_ABI
