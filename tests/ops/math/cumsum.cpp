// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cumsum.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_cumsum {

static_assert(std::is_same_v<decltype(cumsum<-1>(std::declval<tensor<float, 2, dyn>>())), tensor<float, 2, dyn>>);

/// Along the middle axis of three, one element after the other.
template <class X> X reference(const X& x, bool exclusive, bool reverse) {
    using T = typename X::value_type;
    X y = x;
    for (std::size_t i = 0; i < x.shape(0); ++i)
        for (std::size_t k = 0; k < x.shape(2); ++k) {
            T a = 0;
            for (std::size_t j = 0; j < x.shape(1); ++j) {
                const std::size_t at = reverse ? x.shape(1) - 1 - j : j;
                const T b = x(i, at, k), next = static_cast<T>(a + b);
                y(i, at, k) = exclusive ? a : next;
                a = next;
            }
        }
    return y;
}

template <class T> void check(const dims& shape, const op_test::node_options& o) {
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true})
            op_test::node<T, 3>(
                [=](const auto& x) { return cumsum<1>(x, {.exclusive = exclusive, .reverse = reverse}); },
                [=](const auto& x) { return reference(x, exclusive, reverse); }, {shape}, o);
}

TEST_CASE("cumsum: values and gradients, to second order") {
    check<double>({2, 4, 3}, {.in = {{0.5, 1.5}}});
    check<double>({1, 5, 1}, {.in = {{0.5, 1.5}}});
    check<float>({2, 3, 400}, {.in = {{0.5, 1.5}}, .order = 0});
    check<int>({2, 3, 2}, {.in = {{-3, 3}}, .order = 0});
    check<float>({2, 0, 2}, {.order = 0});
}

TEST_CASE("cumsum: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({{1, 2}, {3, 4}});
    CHECK(op_test::difference<int>(s.run(cumsum(c, -1)), {2, 2}, {1, 3, 3, 7}) == "");
    CHECK(s.run(cumsum(c, 0, {.exclusive = true})).elements<int>()[2] == 1);
    CHECK_THROWS_WITH(cumsum(c, 2), contains("cumsum: the axis is out of range") && contains("[2, 2]"));
    const op_ptr made = make_op(cumsum_op{{1, {.reverse = true}}});
    CHECK(make_op("Cumsum", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Cumsum")->equals(*made));
}

} // namespace test_cumsum
