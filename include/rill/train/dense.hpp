// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/train/get_variable.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the last extent of a layer's input, [.., in]; throws if it is unknown.
index_t dense_inputs(const tensor_type& x, const std::source_location& where);

template <int Rank> inline constexpr bool is_dense_input = Rank >= 2;
template <class X> inline constexpr index_t last_extent = rules::extent_along(extents_of<X>::value, -1);

template <class X> index_t dense_inputs_of(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(is_dense_input<extents_of<X>::rank>,
                      "dense: the input must have two dimensions or more, [.., in]");
        if constexpr (last_extent<X> != dyn) return last_extent<X>;
    }
    if (is_null(x)) refuse_null("dense", where);
    return dense_inputs(type_of(seal(x)), where);
}

/// Adds the layer, with a number of units that is known at graph construction.
template <index_t In, index_t Out, class X, class Kernel, class Bias>
auto add_dense(const std::string& name, const X& x, index_t in, index_t units, const Kernel& kernel, const Bias& bias,
               const std::source_location& where) {
    const graph_scope here(graph_of_operand(x));
    const variable_scope scope(name);
    if constexpr (typed_operand<X>) {
        using T = value_type_of<X>;
        const auto w = get_variable<T, In, Out>("kernel", dims{in, units}, kernel, {}, where);
        const auto b = get_variable<T, Out>("bias", dims{units}, bias, {}, where);
        return matmul(x, w, where) + b;
    } else {
        const any_tensor w = get_variable("kernel", x.dtype(), dims{in, units}, kernel, {}, where);
        const any_tensor b = get_variable("bias", x.dtype(), dims{units}, bias, {}, where);
        return matmul(x, w, where) + b;
    }
}

} // namespace detail

/// Adds a fully connected layer: x w + b with the variables name/kernel [In, Out] and name/bias [Out]. get_variable makes or finds them: a
/// variable_scope says whether a second layer of that name shares them. By default kernel gets the scope's initializer (glorot_uniform if
/// it has none) and bias gets zeros. x is [.., In], of two dimensions or more. The result is an expression, so that an activation fuses
/// with it.
template <index_t In, index_t Out, typed_operand X, class Kernel = detail::default_initializer,
          class Bias = constant_initializer>
auto dense(const std::string& name, const X& x, const Kernel& kernel = {}, const Bias& bias = zeros(),
           const std::source_location& where = std::source_location::current()) {
    static_assert(detail::is_dense_input<extents_of<X>::rank>,
                  "dense: the input must have two dimensions or more, [.., in]");
    if constexpr (detail::is_dense_input<extents_of<X>::rank>)
        static_assert(inner_extents_agree<extents_of<X>, extents<In, Out>>,
                      "dense: the input's last extent differs from In");
    return detail::add_dense<In, Out>(name, x, In, Out, kernel, bias, where);
}
/// Adds a layer whose number of inputs is the last extent of x: dense<128>("hidden", x). Throws invalid_argument if that is unknown.
template <index_t Out, graph_operand X, class Kernel = detail::default_initializer, class Bias = constant_initializer>
auto dense(const std::string& name, const X& x, const Kernel& kernel = {}, const Bias& bias = zeros(),
           const std::source_location& where = std::source_location::current()) {
    const index_t in = detail::dense_inputs_of(x, where);
    if constexpr (typed_operand<X>)
        return detail::add_dense<detail::last_extent<X>, Out>(name, x, in, Out, kernel, bias, where);
    else
        return detail::add_dense<dyn, Out>(name, x, in, Out, kernel, bias, where);
}
/// Takes a number of units that is known only at run time: dense("hidden", x, units).
template <graph_operand X, class Kernel = detail::default_initializer, class Bias = constant_initializer>
auto dense(const std::string& name, const X& x, index_t units, const Kernel& kernel = {}, const Bias& bias = zeros(),
           const std::source_location& where = std::source_location::current()) {
    const index_t in = detail::dense_inputs_of(x, where);
    if constexpr (typed_operand<X>)
        return detail::add_dense<detail::last_extent<X>, dyn>(name, x, in, units, kernel, bias, where);
    else
        return detail::add_dense<dyn, dyn>(name, x, in, units, kernel, bias, where);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/dense.ipp>
#endif
