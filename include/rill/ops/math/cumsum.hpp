// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/scan.hpp>

namespace rill { inline namespace RILL_ABI {

/// Cumulative sums along an axis. Gradient: the cumulative sums of g in the other direction.
struct cumsum_op : detail::running {
    static constexpr auto name = "Cumsum";
    using domain_type = domains::numeric;

    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return bind_scan<combine::sum, D, T>(request);
    }
};

/// Returns cumulative sums: cumsum<0>(x) maps [a, b, c] to [a, a + b, a + b + c]. Options: cumsum<0>(x, {.exclusive =
/// true, .reverse = true}).
template <int Axis, graph_operand X>
auto cumsum(const X& x, const cumulative_options& how = {},
            const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "cumsum: the axis is out of range");
        static_assert(op_takes<cumsum_op, value_type_of<X>>, "cumsum: the element type is not a number");
    }
    return detail::add_scan(x, cumsum_op{{Axis, how}}, where);
}
/// Overload for an axis known only at run time.
template <graph_operand X>
auto cumsum(const X& x, int axis, const cumulative_options& how = {},
            const std::source_location& where = std::source_location::current()) {
    static_assert(are_numbers<X>, "cumsum: the element type is not a number");
    return detail::add_scan(x, cumsum_op{{axis, how}}, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> cumsum_op::gradient(const gradient_request& r) const {
    cumsum_op back = *this;
    back.how.reverse = !how.reverse;
    return {r.add<cumsum_op>(back, {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
