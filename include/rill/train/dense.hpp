// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/train/initializers.hpp>

namespace rill { inline namespace RILL_ABI {

/// A fully connected layer: x w + b with the variables name/kernel [In, Out] and name/bias [Out], glorot_uniform and zeros
/// unless given. x is [batch, In]. The result is an expression, so an activation around it joins its pass.
template <index_t In, index_t Out, typed_operand X, class Kernel = variance_scaling, class Bias = constant_initializer>
auto dense(const std::string& name, const X& x, const Kernel& kernel = glorot_uniform(), const Bias& bias = zeros(),
           const std::source_location& where = std::source_location::current()) {
    static_assert(extents_of<X>::rank == 2, "dense: the input must be a matrix, [batch, in]");
    if constexpr (extents_of<X>::rank == 2)
        static_assert(inner_extents_agree<extents_of<X>, extents<In, Out>>,
                      "dense: the input's last extent differs from In");
    using T = value_type_of<X>;
    const graph_scope here(detail::graph_of_operand(x));
    const name_scope scope(name);
    const variable<T, In, Out> w("kernel", kernel, {}, where);
    const variable<T, Out> b("bias", bias, {}, where);
    return matmul(x, w, where) + b;
}

}} // namespace rill::RILL_ABI
