// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>

#include <rill/device/structure.hpp>

// Whose kernels rill::kernels holds, so that programs that link it do not compile them again: one name for each op. What is
// not listed here (other element types, expressions of several ops, a program's own ops) is compiled where it is used.

namespace rill::inline RILL_ABI {

struct abs_op;
struct add_op;
struct apply_adam_op;
struct apply_gradient_descent_op;
struct argmax_op;
struct argmin_op;
struct assign_add_op;
struct assign_op;
struct assign_sub_op;
template <class To> struct cast_op;
struct concat_grad_op;
struct concat_op;
struct conj_op;
struct cos_op;
struct div_op;
struct equal_op;
struct exp_op;
struct expand_dims_op;
struct expm1_op;
struct floor_op;
struct gather_grad_op;
struct gather_op;
struct greater_equal_op;
struct greater_op;
struct identity_op;
struct less_equal_op;
struct less_op;
struct log1p_op;
struct log_op;
struct log_softmax_op;
struct logical_and_op;
struct logical_not_op;
struct logical_or_op;
struct matmul_op;
struct maximum_op;
struct minimum_op;
struct mul_op;
struct neg_op;
struct not_equal_op;
struct one_hot_op;
struct pow_op;
struct random_normal_op;
struct random_uniform_op;
struct reciprocal_op;
struct reduce_max_op;
struct reduce_min_op;
struct relu_op;
struct reshape_like_op;
struct reshape_op;
struct rsqrt_op;
struct select_op;
struct sigmoid_op;
struct sign_op;
struct sin_op;
struct softmax_cross_entropy_op;
struct softmax_op;
struct sparse_softmax_cross_entropy_op;
struct sqrt_op;
struct square_op;
struct squeeze_op;
struct stop_gradient_op;
struct sub_op;
struct tanh_op;
struct transpose_op;
struct truncated_normal_op;

namespace detail {

template <class... Op> struct op_list {};

/// Elementwise ops, for the element types that each takes.
using listed_unary =
    op_list<abs_op, cast_op<bool>, cast_op<double>, cast_op<float>, cast_op<std::int32_t>, cast_op<std::int64_t>,
            conj_op, cos_op, exp_op, expm1_op, floor_op, log1p_op, log_op, logical_not_op, neg_op, reciprocal_op,
            relu_op, rsqrt_op, sigmoid_op, sign_op, sin_op, sqrt_op, square_op, tanh_op>;
using listed_binary =
    op_list<add_op, div_op, equal_op, greater_equal_op, greater_op, less_equal_op, less_op, logical_and_op,
            logical_or_op, maximum_op, minimum_op, mul_op, not_equal_op, pow_op, sub_op>;
/// Nodes of their own: of any element type at once, of numbers, of floats.
using listed_untyped = op_list<expand_dims_op, identity_op, reshape_like_op, reshape_op, squeeze_op, stop_gradient_op>;
using listed_numeric = op_list<argmax_op, argmin_op, assign_add_op, assign_op, assign_sub_op, concat_op, gather_op,
                               matmul_op, one_hot_op, random_uniform_op, reduce_max_op, reduce_min_op, transpose_op>;
using listed_floating =
    op_list<apply_adam_op, apply_gradient_descent_op, concat_grad_op, gather_grad_op, log_softmax_op, random_normal_op,
            softmax_cross_entropy_op, softmax_op, sparse_softmax_cross_entropy_op, truncated_normal_op>;

template <class Op, class List> inline constexpr bool is_listed = false;
template <class Op, class... All> inline constexpr bool is_listed<Op, op_list<All...>> = (std::same_as<Op, All> || ...);

template <class T> inline constexpr bool listed_float = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
inline constexpr bool listed_number = listed_float<T> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;
template <class T> inline constexpr bool listed_type = listed_number<T> || std::same_as<T, bool>;

/// rill::kernels has the kernel of this op over operands of these element types.
template <class Op, class... T> inline constexpr bool listed_primitive = false;
template <class Op, class T>
inline constexpr bool listed_primitive<Op, T> = listed_type<T> && is_listed<Op, listed_unary>;
template <class Op, class T>
inline constexpr bool listed_primitive<Op, T, T> = listed_type<T> && is_listed<Op, listed_binary>;
template <class T> inline constexpr bool listed_primitive<select_op, bool, T, T> = listed_type<T>;

template <class Op, class T>
inline constexpr bool listed_kernel =
    (listed_number<T> && is_listed<Op, listed_numeric>) || (listed_float<T> && is_listed<Op, listed_floating>) ||
    (std::same_as<T, void> && is_listed<Op, listed_untyped>);

/// … and of the expression: one op over tensors, and at most one number.
template <class S> inline constexpr bool listed_expression = false;
template <class T> inline constexpr bool listed_expression<leaf<T>> = listed_type<T>;
template <class Op, class T>
inline constexpr bool listed_expression<structure<Op, T, leaf<T>>> = listed_float<T> && is_listed<Op, listed_unary>;
template <class Op, class T>
inline constexpr bool listed_expression<structure<Op, T, leaf<T>, leaf<T>>> =
    listed_float<T> && is_listed<Op, listed_binary>;
template <class Op, class T>
inline constexpr bool listed_expression<structure<Op, T, scalar_leaf<T>, leaf<T>>> =
    listed_float<T> && is_listed<Op, listed_binary>;
template <class Op, class T>
inline constexpr bool listed_expression<structure<Op, T, leaf<T>, scalar_leaf<T>>> =
    listed_float<T> && is_listed<Op, listed_binary>;

} // namespace detail

} // namespace rill::inline RILL_ABI
