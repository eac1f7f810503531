// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/shape_input.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if all extents are known, as a constant needs.
template <index_t... D> inline constexpr bool static_extents = static_dims<extents<D...>>.complete();
/// True if the element type has a zero and a one.
template <class T> inline constexpr bool has_zero_and_one = is_numeric<T> || std::is_same_v<T, bool>;

namespace detail {

template <class T> any_array filled_array(const dims& shape, const T& value, const std::source_location& where = {}) {
    if (!shape.complete())
        throw invalid_argument("fill: the shape " + to_string(shape) + " is not known" + at_place(where));
    if (const tensor_type type{dtype_of<T>, shape}; !type.countable())
        throw resource_exhausted("fill: " + to_string(type) + " is more than memory can hold" + at_place(where));
    any_array all(dtype_of<T>, shape);
    std::fill_n(static_cast<T*>(all.mutable_data()), all.size(), value);
    return all;
}

/// Returns a constant with the given extents. An open extent, which a check refuses, counts as 0.
template <class T, index_t... D> auto filled_constant(const T& value, const std::source_location& where) {
    return constant_value<T, D...>(filled_array<T>(dims{(D == dyn ? 0 : D)...}, value), where);
}

any_tensor constant_node(any_array value, const std::source_location& where);

/// Returns a zero of the element type of x, in its graph.
template <class X> auto zero_of(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        return constant(value_type_of<X>{}, where);
    } else {
        const graph_scope here(x.graph());
        return constant(filled_array(operand_type(x).type, dims{}, 0), where);
    }
}

/// The element type of a value, or void if its type does not give it.
template <class V> struct filled_type {
    using type = void;
};
template <typed_operand V> struct filled_type<V> {
    using type = value_type_of<V>;
};

} // namespace detail

/// Returns a tensor filled with one value. The shape is an input. Gradient for the value: the sum of g.
struct fill_op {
    static constexpr auto name = "Fill";
    static constexpr int inputs = 2; // the shape, the value
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<combining<combine::sum>>;

    static input_list shape_inputs() { return {0}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type>) const { return in[1].type; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        detail::strided_layout l;
        const index_t n = request.outputs[0].shape.size();
        l.push(n, 0, 1);
        return kernel([=](const kernel_args& a) {
            if (n > 0) D::copy(a.on, a.in<T>(1), a.out<T>(0), l);
        });
    }
};

/// Returns a constant filled with one value: fill<2, 3>(7.f).
template <index_t... D, element T>
auto fill(const T& value, const std::source_location& where = std::source_location::current()) {
    static_assert(static_extents<D...>, "fill: every extent must be known; fill(dims, value) takes them at run time");
    return detail::filled_constant<T, D...>(value, where);
}
/// Fills a shape known only at run time.
template <element T>
any_tensor fill(const dims& shape, const T& value,
                const std::source_location& where = std::source_location::current()) {
    return detail::constant_node(detail::filled_array(shape, value, where), where);
}
/// Fills the shape given by a tensor: fill(shape(x), 7.f). The value is a number, or a tensor of rank 0.
template <graph_operand S, class V>
    requires(element<V> || graph_operand<V>)
auto fill(const S& shape, const V& value, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<S>)
        static_assert(is_shape_tensor<extents_of<S>, value_type_of<S>>,
                      "fill: the shape must be of rank 1, and of int or std::int64_t");
    if constexpr (element<V>) {
        return fill(shape, constant(value, where), where);
    } else {
        using T = typename detail::filled_type<V>::type;
        constexpr auto rule = [](const dims& s, const dims&) { return shape_result{detail::rank_from(s)}; };
        detail::enable_dynamic_shapes();
        if constexpr (std::is_void_v<T>)
            return apply_node(fill_op{}, where, shape, value);
        else
            return apply_node<T, T>(fill_op{}, rule, where, shape, value);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> fill_op::outputs(const known_inputs& in) const {
    const dims& value = in.types[1].shape;
    if (value.known_rank() && value.rank != 0) throw invalid_argument("the value must be of rank 0");
    const dims shape = detail::shape_from(in, 0);
    if (shape.known_rank() && in.value(0))
        for (int i = 0; i < shape.rank; ++i)
            if (shape[i] < 0) throw invalid_argument("an extent is negative (asked for " + to_string(shape) + ")");
    return {{in.types[1].type, shape}};
}

RILL_INLINE std::vector<endpoint> fill_op::gradient(const gradient_request& r) const {
    return {{}, detail::add_reduction(any_tensor(r.gradient()), {combine::sum, {}, false}, &detail::make_fused_op, {})};
}

namespace detail {

RILL_INLINE any_tensor constant_node(any_array value, const std::source_location& where) {
    return add_constant(current_graph(), value, false, {}, where);
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
