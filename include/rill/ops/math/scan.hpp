// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

/// The options of cumulative sums and products.
struct cumulative_options {
    bool exclusive = false; // leaves out the element itself
    bool reverse = false;   // from the end
};

namespace detail {

/// The common base of cumsum and cumprod.
struct running {
    using compiled_types = types::numbers;
    int axis = 0;
    cumulative_options how;

    static void fields(auto& op, auto& visit) {
        visit("axis", op.axis);
        visit("exclusive", op.how.exclusive);
        visit("reverse", op.how.reverse);
    }
    constexpr shape_result shape(const dims& x) const {
        return x.known_rank() && rules::normal_axis(axis, x.rank) < 0 ? shape_result::wrong_axis(x, axis)
                                                                      : shape_result{x};
    }
    template <combine How, class D, class T> kernel bind_scan(kernel_request& request) const {
        const axis_view view(request.inputs[0].shape, axis);
        return kernel([view, how = how](const kernel_args& a) {
            D::template scan<How>(a.on, a.in<T>(0), a.out<T>(0), view.outer, view.extent, view.inner, how.exclusive,
                                  how.reverse);
        });
    }
};

template <class Op, class X> auto add_scan(const X& x, const Op& op, const std::source_location& where) {
    return apply_node(op, shape_of_first, where, x);
}

} // namespace detail

}} // namespace rill::RILL_ABI
