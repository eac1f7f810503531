// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/array/zeros_like.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// What a logarithm of a sum is relative to: where the largest is infinite so is the result, and inf - inf is not wanted.
template <class X> auto finite_or_zero(const X& most) {
    return select(equal(most - most, zeros_like(most)), most, zeros_like(most));
}

template <int... Axes, class X, class... Keep>
auto reduce_logsumexp(const X& x, const std::source_location& where, Keep... keep) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_logsumexp: an axis is out of range, or named twice");
        static_assert(is_real_floating<value_type_of<X>>, "reduce_logsumexp: the elements must be floating");
    }
    require_floating("reduce_logsumexp", x, where);
    const auto relative_to = [&](auto... kept) {
        return finite_or_zero(stop_gradient(rill::reduce_max<Axes...>(x, kept..., where)));
    };
    return log(rill::reduce_sum<Axes...>(exp(x - relative_to(keep_dims)), keep..., where)) + relative_to(keep...);
}

template <class X, class... Keep>
any_tensor reduce_logsumexp_at(const X& x, const axis_list& axes, const std::source_location& where, Keep... keep) {
    const any_tensor all = floating_tensor("reduce_logsumexp", x, where);
    const auto relative_to = [&](auto... kept) {
        return finite_or_zero(stop_gradient(rill::reduce_max(all, axes, kept..., where)));
    };
    const any_tensor sum = rill::reduce_sum(exp(all - relative_to(keep_dims)), axes, keep..., where);
    return any_tensor(log(sum) + relative_to(keep...));
}

} // namespace detail

/// log(sum of e^x) over axes, free of overflow; of nothing, -infinity. Gradient: g softmax(x). All axes without a list; negative
/// axes count from the end.
template <int... Axes, graph_operand X>
auto reduce_logsumexp(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp<Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_logsumexp(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp<Axes...>(x, where, keep_dims);
}

/// Along axes known at run time only: reduce_logsumexp(x, {0, -1}).
template <graph_operand X>
any_tensor reduce_logsumexp(const X& x, const axis_list& axes,
                            const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp_at(x, axes, where);
}
template <graph_operand X>
any_tensor reduce_logsumexp(const X& x, const axis_list& axes, keep_dims_t,
                            const std::source_location& where = std::source_location::current()) {
    return detail::reduce_logsumexp_at(x, axes, where, keep_dims);
}

}} // namespace rill::RILL_ABI
