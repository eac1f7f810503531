// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/mask_over.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the positions of true elements, in order: one row of indices for each. It runs in host memory, because data determine its
/// output shape.
struct where_op {
    static constexpr auto name = "Where";
    static constexpr int inputs = 1;
    using domain_type = domains::boolean;
    using compiled_types = types::common;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = ""; // conditions have none

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel(
            [shape = request.inputs[0].shape](const kernel_args& a) { a.sized[0] = places(shape, a.in<bool>(0)); });
    }

private:
    static any_array places(const dims& shape, const bool* condition);
};

/// Returns the positions of true elements of a bool tensor. Each position is a row of std::int64_t indices, in
/// row-major order.
template <graph_operand X>
auto where(const X& condition, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(same_dtype<value_type_of<X>, bool>, "where: the condition must be a bool");
        const any_tensor made = apply_node(where_op{}, where, condition);
        return tensor<std::int64_t, dyn, extents_of<X>::rank>(detail::unchecked, made);
    } else {
        return apply_node(where_op{}, where, condition);
    }
}

/// Returns a where the condition is true, else b: where(c, a, b). This is TensorFlow's name for select.
template <graph_operand C, class A, class B>
    requires requires(const C& c, const A& a, const B& b) { select(c, a, b); }
auto where(const C& condition, const A& a, const B& b) {
    return select(condition, a, b);
}

namespace detail {

template <class T, class E, int Skip, class I> struct masked;
template <class T, class E, int Skip, std::size_t... I> struct masked<T, E, Skip, std::index_sequence<I...>> {
    using type = tensor<T, dyn, E::value[Skip + static_cast<int>(I)]...>;
};

/// Gathers the rows at places. Several masked axes are first reshaped to one. The caller registers the kernels.
any_tensor choose_rows(const any_tensor& x, const any_tensor& places, int axes, std::uint32_t taken,
                       const std::source_location& where);

/// Returns the number of axes of a mask. Throws invalid_argument if it is unknown, or if the mask does not fit x.
int masked_axes(const tensor_type& x, const tensor_type& mask, const std::source_location& where);

} // namespace detail

/// Returns the elements where the mask is true, along one axis. A mask of lower rank selects slices along the first axes. Gradient:
/// g, put back in place.
template <graph_operand X, graph_operand M>
auto boolean_mask(const X& x, const M& mask, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<M>)
        static_assert(same_dtype<value_type_of<M>, bool>, "boolean_mask: the mask must be a bool");
    if constexpr (typed_operand<X> && typed_operand<M>)
        static_assert(masks_first_axes<extents_of<X>, extents_of<M>>,
                      "boolean_mask: the mask's extents must be those of the first axes");
    if (detail::is_null(x) || detail::is_null(mask)) detail::refuse_null("boolean_mask", where);
    const int axes = detail::masked_axes(detail::operand_type(x), detail::operand_type(mask), where);
    detail::require_kernel_for<gather_op, X>();
    const auto chosen = sealed(x);
    const auto places = squeeze<1>(rill::where(reshape<dyn>(mask_over(mask, chosen, where)), where));
    const auto rows = detail::choose_rows(chosen, places, axes, detail::taken_untyped<gather_op, X>(), where);
    if constexpr (typed_operand<X> && typed_operand<M>) {
        constexpr int rest = extents_of<X>::rank - extents_of<M>::rank;
        using result = typename detail::masked<value_type_of<X>, extents_of<X>, extents_of<M>::rank,
                                               std::make_index_sequence<static_cast<std::size_t>(rest)>>::type;
        return result(detail::unchecked, rows);
    } else {
        return rows;
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> where_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != dtype::boolean) throw invalid_argument("the condition is " + to_string(in[0]) + ", not a bool");
    return {{dtype::int64, {dyn, in[0].shape.known_rank() ? in[0].shape.rank : dyn}}};
}

RILL_INLINE any_array where_op::places(const dims& shape, const bool* condition) {
    index_t count = 0;
    for (index_t i = 0; i < shape.size(); ++i) count += condition[i];
    any_array rows(dtype::int64, {count, shape.rank});
    auto* row = static_cast<std::int64_t*>(rows.mutable_data());
    for (index_t i = 0; i < shape.size(); ++i) {
        if (!condition[i]) continue;
        const dims at = rules::position_of(i, shape);
        for (int a = 0; a < shape.rank; ++a) *row++ = at[a];
    }
    return rows;
}

RILL_INLINE int detail::masked_axes(const tensor_type& x, const tensor_type& mask, const std::source_location& where) {
    const auto refuse = [&](const char* why) {
        throw invalid_argument("boolean_mask: " + std::string(why) + ": the mask is " + to_string(mask) + ", of " +
                               to_string(x) + at_place(where));
    };
    if (mask.type != dtype::boolean) refuse("the mask must be a bool");
    if (!mask.shape.known_rank()) refuse("the mask's rank must be known");
    if (mask.shape.rank == 0) refuse("the mask must have an axis");
    if (mask.shape.rank > 1 && !x.shape.known_rank())
        refuse("a mask of several axes chooses from tensors of known rank");
    if (!rules::masks_first_axes(x.shape, mask.shape)) refuse("the mask's extents are not those of the first axes");
    return mask.shape.rank;
}

RILL_INLINE any_tensor detail::choose_rows(const any_tensor& x, const any_tensor& places, int axes, std::uint32_t taken,
                                           const std::source_location& where) {
    const graph g = x.graph();
    endpoint rows = x.end();
    if (axes > 1) { // the masked axes are merged into one
        const auto& shape = x.static_shape();
        dims flat{dyn};
        for (int a = axes; a < shape.rank; ++a) flat.push(shape[a]);
        rows = add_over(g, make_op(reshape_op{flat}), 0, {{rows}}, where);
    }
    return any_tensor(add_over(g, make_op(gather_op{0}), taken, {{rows, places.end()}}, where));
}

}} // namespace rill::RILL_ABI
#endif
