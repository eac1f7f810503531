// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The op list: one line for each op's header. Adding an op adds its line here, and nothing else.

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

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/argmax.hpp>
#include <rill/ops/math/argmin.hpp>
#include <rill/ops/math/cast.hpp>
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

#include <rill/ops/state/apply_adam.hpp>
#include <rill/ops/state/apply_gradient_descent.hpp>
#include <rill/ops/state/assign.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/assign_sub.hpp>
#include <rill/ops/state/variable.hpp>
