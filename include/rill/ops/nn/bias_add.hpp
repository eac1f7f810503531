// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>
#include <rill/ops/math/add.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of a bias for x: one number for each channel, the last axis of x.
constexpr shape_result bias(const dims& b, const dims& x) {
    const index_t channels = x.known_rank() && x.rank > 0 ? x[x.rank - 1] : dyn;
    if (x.known_rank() && x.rank < 2) return {dims{channels}, "the tensor must have two axes or more"};
    if (b.known_rank() && b.rank != 1) return {dims{channels}, "the bias must be a vector"};
    if (!b.known_rank()) return {dims{channels}};
    if (!extents_compatible(b[0], channels)) return {dims{channels}, "the bias differs from the tensor's last extent"};
    return {dims{b[0] == dyn ? channels : b[0]}};
}

} // namespace rules

/// Returns a bias after a check that its extent is that of the channels of another tensor. bias_add uses it if the types do not
/// prove that. Shares the memory of the bias. Gradient: g.
struct bias_for_op {
    static constexpr auto name = "BiasFor", label = "bias_add";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr int alias = 0;

    constexpr shape_result shape(const dims& b, const dims& x) const { return rules::bias(b, x); }
    std::vector<endpoint> gradient(const gradient_request& r) const { return {r.gradient(), {}}; }
    static input_list shape_only_inputs() { return {1}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

/// True if a bias with extents B fits a tensor with extents X.
template <class X, class B> inline constexpr bool bias_fits = rules::bias(static_dims<B>, static_dims<X>).ok();
/// True if the types suffice, so that the run needs no check.
template <class X, class B>
inline constexpr bool bias_is_known = X::rank > 1 && static_dims<B>.complete() && static_dims<X>[X::rank - 1] != dyn;

namespace detail {

template <class X, class B> auto checked_bias_add(const X& x, const B& bias, const std::source_location& where) {
    constexpr auto rule = [](const dims& b, const dims& shape) { return rules::bias(b, shape); };
    return x + apply_node(bias_for_op{}, rule, where, bias, x);
}

} // namespace detail

/// Adds a number to each channel of x, the last axis: bias_add(x, b) of [..., n] and [n]. Shape: that of x. Gradient: g to x,
/// summed over the other axes to b. An expression, which fuses with activations around it.
template <graph_operand X, graph_operand B>
auto bias_add(const X& x, const B& bias, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X> && typed_operand<B>) {
        static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<B>>, "bias_add: the dtypes differ; convert with cast<T>()");
        static_assert(bias_fits<extents_of<X>, extents_of<B>>,
                      "bias_add: a bias [n] goes with a tensor [..., n] of two axes or more");
        if constexpr (!dtypes_agree<dtype_tag<X>, dtype_tag<B>>)
            return x; // well-formed
        else if constexpr (bias_is_known<extents_of<X>, extents_of<B>> && bias_fits<extents_of<X>, extents_of<B>>)
            return x + bias;
        else
            return detail::checked_bias_add(sealed(x), bias, where);
    } else {
        return detail::checked_bias_add(sealed(x), bias, where);
    }
}

}} // namespace rill::RILL_ABI
