// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/expand_dims.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if the tensors have the same shape, as far as it is known.
template <class First, class... E>
inline constexpr bool all_shapes_agree = (rules::compatible(static_dims<First>, static_dims<E>) && ...);

namespace detail {

void check_stack(std::span<const tensor_type> all, int axis, const std::source_location& where);

template <int Axis, class... X> auto stack_at(const std::source_location& where, const X&... x) {
    if constexpr ((typed_operand<X> && ...)) {
        using first = typename first_operand<X...>::type;
        static_assert((dtypes_agree<rill::dtype_tag<first>, rill::dtype_tag<X>> && ...),
                      "stack: the dtypes differ; convert with cast<T>()");
        static_assert(all_shapes_agree<extents_of<first>, extents_of<X>...>, "stack: the shapes differ");
        static_assert(rank_may_grow<extents_of<first>>, "stack: the result would have more than 8 dimensions");
        static_assert(axis_fits<extents_of<first>, Axis>, "stack: the axis is out of range");
    } else {
        check_stack(std::array{operand_type(x)...}, Axis, where);
    }
    return concat_at<Axis>(where, expand_dims<Axis>(x, where)...);
}

} // namespace detail

/// Stacks tensors of one shape along a new axis: stack<1>(a, b, …). A negative axis counts from the end of the result.
/// Gradient: g, split into slices.
template <int Axis, graph_operand X>
auto stack(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::stack_at<Axis>(where, x);
}
template <int Axis, graph_operand A, graph_operand B>
auto stack(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    return detail::stack_at<Axis>(where, a, b);
}
template <int Axis, graph_operand A, graph_operand B, graph_operand C>
auto stack(const A& a, const B& b, const C& c, const std::source_location& where = std::source_location::current()) {
    return detail::stack_at<Axis>(where, a, b, c);
}
template <int Axis, graph_operand... X>
    requires(sizeof...(X) > 3)
auto stack(const X&... x) {
    // a default source location can't follow the pack; the operands give the place
    return detail::stack_at<Axis>(std::source_location{}, x...);
}
/// Stacks tensors whose number or types are known only at run time: stack({x, z}, 1), stack(rows).
template <tensor_list L = std::vector<any_tensor>>
auto stack(const L& all, int axis = 0, const std::source_location& where = std::source_location::current()) {
    std::vector<tensor_type> types;
    for (const auto& edge : detail::sealed_list("stack", all, where)) types.push_back(type_of(edge));
    detail::check_stack(types, axis, where);
    std::vector<std::decay_t<decltype(expand_dims(*all.begin(), axis))>> deeper;
    for (const auto& x : all) deeper.push_back(expand_dims(x, axis, where));
    return concat(deeper, axis, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE void detail::check_stack(std::span<const tensor_type> all, int axis, const std::source_location& where) {
    for (const auto& t : all) {
        const auto both = [&] { return to_string(all[0]) + " and " + to_string(t) + at_place(where); };
        if (t.type != all[0].type) throw invalid_argument("stack: the dtypes differ: " + both());
        if (!rules::compatible(t.shape, all[0].shape)) throw invalid_argument("stack: the shapes differ: " + both());
        if (const auto deeper = rules::insert_axis(t.shape, axis, 1); !deeper.ok())
            throw invalid_argument("stack: " + deeper.reason() + " (" + to_string(t) + ")" + at_place(where));
    }
}

}} // namespace rill::RILL_ABI
#endif
