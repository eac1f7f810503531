// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels of every op for float, double, int32, int64 and bool, whether or not the program's typed functions need them: for
// programs that run graphs they did not write. Dear to compile; include it in one source file.

#include <rill/rill.hpp>

namespace rill::inline RILL_ABI::detail {

template <class T, class... Op> void require_unary() { (require_uniform<Op, T>(std::make_index_sequence<1>{}), ...); }
template <class T, class... Op> void require_binary() { (require_uniform<Op, T>(std::make_index_sequence<2>{}), ...); }

template <class T> bool require_every_elementwise() {
    require_unary<T, abs_op, conj_op, cos_op, exp_op, expm1_op, floor_op, log_op, log1p_op, logical_not_op, neg_op, reciprocal_op,
                  relu_op, rsqrt_op, sigmoid_op, sign_op, sin_op, sqrt_op, square_op, tanh_op, cast_op<float>, cast_op<double>,
                  cast_op<std::int32_t>, cast_op<std::int64_t>, cast_op<bool>>();
    require_binary<T, add_op, div_op, equal_op, greater_op, greater_equal_op, less_op, less_equal_op, logical_and_op, logical_or_op,
                   maximum_op, minimum_op, mul_op, not_equal_op, pow_op, sub_op>();
    require_uniform<select_op, T>(std::make_index_sequence<3>{});
    return true;
}

template <class T> bool require_every_node() {
    require_kernel<matmul_op, T>();
    require_kernel<transpose_op, T>();
    require_kernel<concat_op, T>();
    require_kernel<gather_op, T>();
    require_kernel<assign_op, T>();
    require_kernel<assign_add_op, T>();
    require_kernel<assign_sub_op, T>();
    require_combiner<combine::sum, T>();
    require_combiner<combine::prod, T>();
    require_combiner<combine::max, T>();
    require_combiner<combine::min, T>();
    require_kernel<reduce_max_op, T>();
    require_kernel<reduce_min_op, T>();
    if constexpr (is_real_floating<T>) {
        require_kernel<apply_gradient_descent_op, T>();
        require_kernel<apply_adam_op, T>();
        require_kernel<gather_grad_op, T>();
        require_kernel<concat_grad_op, T>();
        require_kernel<random_uniform_op, T>();
        require_kernel<random_normal_op, T>();
        require_kernel<truncated_normal_op, T>();
        require_kernel<softmax_op, T>();
        require_kernel<log_softmax_op, T>();
        require_kernel<softmax_cross_entropy_op, T>();
        require_kernel<sparse_softmax_cross_entropy_op, T>();
    }
    return true;
}

inline const bool every_kernel = require_every_elementwise<float>() && require_every_elementwise<double>() &&
                                 require_every_elementwise<std::int32_t>() && require_every_elementwise<std::int64_t>() &&
                                 require_every_elementwise<bool>() && require_every_node<float>() && require_every_node<double>() &&
                                 require_every_node<std::int32_t>() && require_every_node<std::int64_t>();

} // namespace rill::inline RILL_ABI::detail
