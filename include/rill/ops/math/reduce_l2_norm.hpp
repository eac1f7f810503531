// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/half.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/l2_norm.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Adds the node that computes the norm over gathered elements.
endpoint add_l2_norm(const traced_structure& traced, const sealing& s, const reduction& how, const endpoint& squares,
                     make_fused make, const std::source_location& where);
/// Adds the node that computes one norm over several tensors of one type.
endpoint add_l2_norm(endpoint_list parts, const reduction& how, const endpoint& squares, make_fused make,
                     const std::source_location& where);

/// Returns x, converted if its element type differs.
any_tensor with_dtype(const any_tensor& x, dtype type);

/// Returns x in a type whose sums of squares are precise: half and bfloat16 as float.
template <class X> auto widened(const X& x) {
    if constexpr (!typed_operand<X>)
        return with_dtype(any_tensor(x), x.dtype() == dtype::float64 ? dtype::float64 : dtype::float32);
    else if constexpr (std::is_same_v<compute_type<value_type_of<X>>, value_type_of<X>>)
        return x;
    else
        return cast<compute_type<value_type_of<X>>>(x);
}
/// Returns a result of widened elements in the type of x.
template <class X, class N> auto narrowed(const X& x, const N& n) {
    if constexpr (!typed_operand<X> || !typed_operand<N>)
        return with_dtype(any_tensor(n), operand_type(x).type);
    else if constexpr (std::is_same_v<value_type_of<X>, value_type_of<N>>)
        return n;
    else
        return cast<value_type_of<X>>(n);
}

/// Returns the norm of widened elements, given the sum of their squares, reduced by `how`.
template <class X, class S>
S l2_norm(const X& elements, const S& squares, const reduction& how, const std::source_location& where) {
    require_kernel_for<l2_norm_op, X>();
    if constexpr (typed_operand<X>) {
        using structure = typename strip<X>::type;
        require_structure<structure>();
        sealing s(graph_of_operand(elements));
        gather_leaves(elements, s);
        const any_tensor made = add_l2_norm(program_of<structure>(), s, how, squares.end(), &l2_norm_op::make, where);
        if constexpr (typed_operand<S>)
            return S(unchecked, made);
        else
            return made;
    } else {
        return S(add_l2_norm({elements.end()}, how, squares.end(), &l2_norm_op::make, where));
    }
}

/// Returns the norm in the type of the widened elements.
template <int... Axes, class X, class... Keep>
auto wide_l2_norm(const X& x, const std::source_location& where, Keep... keep) {
    const auto elements = widened(x);
    const auto squares = rill::reduce_sum<Axes...>(square(elements), keep..., where);
    return l2_norm(elements, squares, {combine::sum, axis_list{Axes...}, sizeof...(keep) > 0}, where);
}
template <class X, class A, class K>
auto wide_l2_norm_at(const X& x, const A& axes, K keep, const std::source_location& where) {
    const auto elements = widened(x);
    const auto squares = rill::reduce_sum(square(elements), axes, keep, where);
    return l2_norm(elements, squares, {combine::sum, to_axes(axes), std::is_same_v<K, keep_dims_t>}, where);
}

template <int... Axes, class X, class... Keep>
auto reduce_l2_norm(const X& x, const std::source_location& where, Keep... keep) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_l2_norm: an axis is out of range, or named twice");
    static_assert(are_real_floating<X>, "reduce_l2_norm: the elements must be floating");
    require_floating("reduce_l2_norm", x, where);
    require_axes<Axes...>("reduce_l2_norm", x, where);
    return narrowed(x, wide_l2_norm<Axes...>(x, where, keep...));
}

template <class X, class A, class K>
auto reduce_l2_norm_at(const X& x, const A& axes, K keep, const std::source_location& where) {
    static_assert(are_real_floating<X>, "reduce_l2_norm: the elements must be floating");
    require_floating("reduce_l2_norm", x, where);
    require_axes("reduce_l2_norm", x, to_axes(axes), where);
    return narrowed(x, wide_l2_norm_at(x, axes, keep, where));
}

} // namespace detail

/// Returns the Euclidean norm over axes: the root of the sum of squares. If that overflows or underflows, the norm is computed relative to
/// the largest magnitude. Squares of half and bfloat16 are added up in float. Gradient: g x / norm, 0 where the norm is 0. Without a list,
/// all axes are reduced; negative axes count from the end.
template <int... Axes, graph_operand X>
auto reduce_l2_norm(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm<Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_l2_norm(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm<Axes...>(x, where, keep_dims);
}

/// Overload for axes known only at run time: reduce_l2_norm(x, 1), reduce_l2_norm(x, {0, -1}), reduce_l2_norm(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_l2_norm(const X& x, const A& axes, K keep = {},
                    const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm_at(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_l2_norm(const X& x, const int (&axes)[N], K keep = {},
                    const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm_at(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <limits>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE any_tensor with_dtype(const any_tensor& x, dtype type) {
    if (x.dtype() == type) return x;
    tracer t({x.dtype()}, {});
    const int converted = t.emit(info_of<cast_op<float>>, type, {t.leaf(0)});
    return add_program(graph(x.graph()), t.finish_op(converted), t.scalars(), {x.end()});
}

/// Returns the roots of sums of squares. A root is NaN if its sum is too small to be precise.
RILL_INLINE endpoint roots_of(const endpoint& squares) {
    const dtype type = type_of(squares).type;
    const double least = type == dtype::float64 ? 0x1p-970 : 0x1p-103; // the smallest normal number over epsilon
    fused_spec spec = mapped(type, 1, [&](tracer& t) {
        const int enough = t.emit(info_of<greater_op>, dtype::boolean, {t.leaf(0), t.constant(scalar_of(type, least))});
        const int none = t.constant(scalar_of(type, std::numeric_limits<double>::quiet_NaN()));
        return t.emit(info_of<select_op>, type, {enough, t.emit<sqrt_op>({t.leaf(0)}), none});
    });
    return {add_node(graph(*squares.from->owner), make_op(fused_op{std::move(spec)}), {squares}), 0};
}

RILL_INLINE endpoint add_l2_norm(const traced_structure& traced, const sealing& s, const reduction& how,
                                 const endpoint& squares, make_fused make, const std::source_location& where) {
    fused_spec spec = spec_without_leaves(traced, s);
    spec.results[0].reduce = how;
    endpoint_list inputs;
    for (const auto& l : s.leaves) spec.leaves.push_back({input_number(inputs, l), {}});
    inputs.push_back(squares);
    inputs.push_back(roots_of(squares));
    return {add_node(s.home, make(std::move(spec)), std::move(inputs), {}, true, where), 0};
}
RILL_INLINE endpoint add_l2_norm(endpoint_list parts, const reduction& how, const endpoint& squares, make_fused make,
                                 const std::source_location& where) {
    fused_spec spec = mapped(type_of(squares).type, 1, [](tracer& t) { return t.leaf(0); });
    spec.results[0].reduce = how;
    parts.push_back(squares);
    parts.push_back(roots_of(squares));
    return {add_node(graph(*squares.from->owner), make(std::move(spec)), std::move(parts), {}, true, where), 0};
}

}}} // namespace rill::RILL_ABI::detail
#endif
