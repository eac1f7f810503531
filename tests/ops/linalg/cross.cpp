// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/cross.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_cross {

template <class X> X reference(const X& a, const X& b) {
    X c = a;
    for (std::size_t at = 0; at < a.size(); at += 3)
        for (std::size_t i = 0; i < 3; ++i) {
            const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
            c.flat(at + i) = a.flat(at + j) * b.flat(at + k) - a.flat(at + k) * b.flat(at + j);
        }
    return c;
}

TEST_CASE("cross: values and gradients, to second order") {
    const auto f = [](const auto& a, const auto& b) {
        using T = value_type_of<decltype(a)>;
        return cross(tensor<T, dyn, 3>(any_tensor(a)), tensor<T, dyn, 3>(any_tensor(b)));
    };
    const auto wanted = [](const auto& a, const auto& b) { return reference(a, b); };
    op_test::node<double, 2, 2>(f, wanted, {{4, 3}, {4, 3}}, {.order = 2, .ulps = 100});
    op_test::node<int, 2, 2>(f, wanted, {{2, 3}, {2, 3}});
    op_test::node<float, 2, 2>(f, wanted, {{0, 3}, {0, 3}});
    static_assert(
        std::is_same_v<decltype(cross(std::declval<tensor<float, 2, 3>>(), std::declval<tensor<float, 2, 3>>())),
                       tensor<float, 2, 3>>);
}

TEST_CASE("cross: of the axes") {
    const graph_scope here{graph()};
    const session s;
    const auto z = s.run(cross(constant({1.f, 0.f, 0.f}), constant({0.f, 1.f, 0.f})));
    CHECK(z(0) == 0.f);
    CHECK(z(1) == 0.f);
    CHECK(z(2) == 1.f);
    static_assert(!has_vectors_of_three<extents<>> && !has_vectors_of_three<extents<3, 2>>);
    static_assert(!has_vectors_of_three<extents<3, dyn>>); // a run might find another number
}

} // namespace test_ops_linalg_cross
