// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The op catalogue: an op's header among the includes, and its struct in the list. From the list come the ops by name, the
// contents of rill::kernels and docs/ops.md.

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/concat_grad.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/eye.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/gather_grad.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/indices.hpp>
#include <rill/ops/array/one_hot.hpp>
#include <rill/ops/array/ones.hpp>
#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/reshape_like.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/array/zeros.hpp>
#include <rill/ops/array/zeros_like.hpp>

#include <rill/ops/control/group.hpp>

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/linalg/orthogonal.hpp>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/argmax.hpp>
#include <rill/ops/math/argmin.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/ceil.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/cos.hpp>
#include <rill/ops/math/derivative.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/less_equal.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/logical_not.hpp>
#include <rill/ops/math/logical_or.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/minimum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/reciprocal.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_min.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sigmoid.hpp>
#include <rill/ops/math/sign.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tan.hpp>
#include <rill/ops/math/tanh.hpp>

#include <rill/ops/nn/clip.hpp>
#include <rill/ops/nn/leaky_relu.hpp>
#include <rill/ops/nn/log_softmax.hpp>
#include <rill/ops/nn/sigmoid_cross_entropy.hpp>
#include <rill/ops/nn/softmax.hpp>
#include <rill/ops/nn/softmax_cross_entropy.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>

#include <rill/ops/random/random_normal.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/random/truncated_normal.hpp>

#include <rill/ops/state/assign.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/assign_sub.hpp>
#include <rill/ops/state/variable.hpp>

namespace rill { inline namespace RILL_ABI {

// clang-format off: a line each
using catalogue = op_list<
    abs_op,
    add_op,
    argmax_op,
    argmin_op,
    assign_add_op,
    assign_op,
    assign_sub_op,
    cast_op<bool>,
    cast_op<double>,
    cast_op<float>,
    cast_op<std::int32_t>,
    cast_op<std::int64_t>,
    ceil_op,
    clip_op,
    concat_grad_op,
    concat_op,
    conj_op,
    constant_op,
    cos_op,
    div_op,
    equal_op,
    exp_op,
    expand_dims_op,
    expm1_op,
    floor_op,
    fused_op,
    gather_grad_op,
    gather_op,
    greater_equal_op,
    greater_op,
    identity_op,
    leaky_relu_op,
    less_equal_op,
    less_op,
    log1p_op,
    log_op,
    log_softmax_op,
    logical_and_op,
    logical_not_op,
    logical_or_op,
    matmul_op,
    maximum_op,
    minimum_op,
    mul_op,
    neg_op,
    no_op,
    not_equal_op,
    one_hot_op,
    orthogonal_op,
    placeholder_op,
    pow_op,
    random_normal_op,
    random_uniform_op,
    reciprocal_op,
    reduce_max_op,
    reduce_min_op,
    relu_op,
    reshape_like_op,
    reshape_op,
    rsqrt_op,
    select_op,
    sigmoid_cross_entropy_op,
    sigmoid_op,
    sign_op,
    sin_op,
    softmax_cross_entropy_op,
    softmax_op,
    sparse_softmax_cross_entropy_op,
    sqrt_op,
    square_op,
    squeeze_op,
    stop_gradient_op,
    sub_op,
    tan_op,
    tanh_op,
    transpose_op,
    truncated_normal_op,
    variable_op>;
// clang-format on

}} // namespace rill::RILL_ABI
