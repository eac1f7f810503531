// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp_below.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <int... Axes, class X, class... Keep>
auto reduce_logsumexp(const X& x, const std::source_location& where, Keep... keep) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_logsumexp: an axis is out of range, or named twice");
    static_assert(are_real_floating<X>, "reduce_logsumexp: the elements must be floating");
    require_floating("reduce_logsumexp", x, where);
    require_axes<Axes...>("reduce_logsumexp", x, where);
    const auto most = [&](auto... kept) { return stop_gradient(rill::reduce_max<Axes...>(x, kept..., where)); };
    return log(rill::reduce_sum<Axes...>(apply<exp_below_op>(x, most(keep_dims)), keep..., where)) + most(keep...);
}

template <class X, class A, class K>
auto reduce_logsumexp_at(const X& x, const A& axes, K keep, const std::source_location& where) {
    static_assert(are_real_floating<X>, "reduce_logsumexp: the elements must be floating");
    require_floating("reduce_logsumexp", x, where);
    require_axes("reduce_logsumexp", x, to_axes(axes), where);
    const auto most = [&](auto kept) { return stop_gradient(rill::reduce_max(x, axes, kept, where)); };
    return log(rill::reduce_sum(apply<exp_below_op>(x, most(keep_dims)), axes, keep, where)) + most(keep);
}

} // namespace detail

/// Returns log(sum of e^x) over axes, without overflow. The result for no elements is -infinity. Gradient: g softmax(x); if the largest
/// elements are infinite, they get g in equal shares. Without a list, all axes are reduced; negative axes count from the end.
template <int... Axes, graph_operand X>
auto reduce_logsumexp(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp<Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_logsumexp(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp<Axes...>(x, where, keep_dims);
}

/// Overload for axes known only at run time: reduce_logsumexp(x, 1), reduce_logsumexp(x, {0, -1}), reduce_logsumexp(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_logsumexp(const X& x, const A& axes, K keep = {},
                      const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp_at(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_logsumexp(const X& x, const int (&axes)[N], K keep = {},
                      const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp_at(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
