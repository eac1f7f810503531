// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What cumsum and cumprod share. An op names itself by a struct: first, the value of nothing; join(a, b); run(x, options) along
// axis 1.

#include <rill/ops/math/scan.hpp>

#include "ops/harness.hpp"

namespace scan_test {

using namespace rill;

/// Along the middle axis of three, one element after the other.
template <class Op, class X> X reference(const X& x, bool exclusive, bool reverse) {
    using T = typename X::value_type;
    X y = x;
    for (std::size_t i = 0; i < x.shape(0); ++i)
        for (std::size_t k = 0; k < x.shape(2); ++k) {
            T a = Op::first;
            for (std::size_t j = 0; j < x.shape(1); ++j) {
                const std::size_t at = reverse ? x.shape(1) - 1 - j : j;
                const T next = static_cast<T>(Op::join(a, x(i, at, k)));
                y(i, at, k) = exclusive ? a : next;
                a = next;
            }
        }
    return y;
}

template <class Op, class T> void check(const dims& shape, const op_test::node_options& o) {
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true})
            op_test::node<T, 3>([=](const auto& x) { return Op::run(x, {.exclusive = exclusive, .reverse = reverse}); },
                                [=](const auto& x) { return reference<Op>(x, exclusive, reverse); }, {shape}, o);
}

template <class Op> void values_and_gradients() {
    check<Op, double>({2, 4, 3}, {.in = {{0.5, 1.5}}});
    check<Op, double>({1, 5, 1}, {.in = {{0.5, 1.5}}});
    check<Op, float>({2, 3, 400}, {.in = {{0.5, 1.5}}, .order = 0});
    check<Op, int>({2, 3, 2}, {.in = {{-3, 3}}, .order = 0});
    check<Op, float>({2, 0, 2}, {.order = 0});
}

} // namespace scan_test
