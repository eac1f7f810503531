// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/softmax.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_softmax {

constexpr auto f = [](const auto& x) { return softmax(x); };
constexpr auto reference = [](const auto& x) {
    auto out = x;
    const std::size_t n = x.shape(x.dimension() - 1);
    for (std::size_t row = 0; n > 0 && row < x.size() / n; ++row) {
        long double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::exp(static_cast<long double>(x.storage()[row * n + i]) - static_cast<long double>(x.storage()[row * n]));
        for (std::size_t i = 0; i < n; ++i) {
            const auto v = static_cast<long double>(x.storage()[row * n + i]) - static_cast<long double>(x.storage()[row * n]);
            out.storage()[row * n + i] = static_cast<typename std::decay_t<decltype(x)>::value_type>(std::exp(v) / sum);
        }
    }
    return out;
};


TEST_CASE("softmax: values") {
    for (const index_t columns : {1, 3, 10, 16, 31, 33, 64, 1000})
        for (const index_t rows : {1, 2, 5, 16, 37}) {
            INFO(rows << " rows of " << columns);
            op_test::node<float, 2>(f, reference, {{rows, columns}}, {.ulps = 64});
            op_test::node<double, 2>(f, reference, {{rows, columns}}, {.order = 0, .ulps = 64});
        }
    op_test::node<float, 1>(f, reference, {{7}});
    op_test::node<double, 3>(f, reference, {{2, 3, 4}}, {.order = 0});
    op_test::node<float, 2>(f, reference, {{0, 4}});
    op_test::node<float, 2>(f, reference, {{4, 0}});
}

TEST_CASE("softmax: gradients") {
    op_test::node<double, 2>(f, reference, {{3, 4}}, {.order = 3});
    op_test::node<double, 1>(f, reference, {{5}}, {.order = 2});
    op_test::node<double, 3>([](const auto& x) { return softmax(x * x); }, [](const auto& x) { return reference(xt::xarray<double>(x * x)); }, {{2, 2, 3}}, {.in = {{-1, 1}}, .order = 2});
}

TEST_CASE("softmax: types and refusals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 10> x("x");
    static_assert(std::is_same_v<decltype(softmax(x + 1.f)), tensor<float, dyn, 10>>);
    static_assert(has_last_axis<extents<3>> && !has_last_axis<extents<>>);
    CHECK(softmax(x).name() == "softmax:0");
    const any_tensor any = any_placeholder("any", dtype::float64), scalar = any_placeholder("scalar", dtype::float32, dims{});
    const auto [whole, trace] = s.run_traced(softmax(any), feed(any, xt::xtensor<double, 2>({3, 4}, 1.)));
    CHECK(whole.elements<double>()[11] == Approx(0.25));
    CHECK_THROWS_WITH(softmax(scalar), contains("softmax: a scalar has no last axis"));
    CHECK_THROWS_AS(s.run(softmax(any), feed(any, 1.)), invalid_argument);
}

TEST_CASE("softmax: extreme numbers") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    const auto y = softmax(x);
    const float inf = std::numeric_limits<float>::infinity();
    for (const std::size_t columns : {4u, 100u}) {
        xt::xtensor<float, 2> at({3, columns}, -1e30f);
        at(0, 1) = 1e30f;
        at(1, 0) = at(1, 3) = 88.f;
        for (std::size_t c = 0; c < columns; ++c) at(2, c) = c == 2 ? 0.f : -inf;
        const auto v = s.run(y, feed(x, at));
        const auto p = [&](std::size_t r, std::size_t c) { return v(r, c); };
        CHECK(p(0, 1) == 1.f);
        CHECK(p(0, 0) == 0.f);
        CHECK(p(1, 0) == Approx(0.5f));
        CHECK(p(2, 2) == 1.f);
        CHECK(p(2, 0) == 0.f);
    }
}

TEST_CASE("softmax: narrow types are computed in float") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    for (const std::size_t columns : {5u, 300u}) {
        placeholder<half, dyn, dyn> x;
        placeholder<float, dyn, dyn> wide;
        xt::xtensor<half, 2> at({3, columns});
        xt::xtensor<float, 2> same({3, columns});
        for (std::size_t i = 0; i < at.size(); ++i) same.storage()[i] = static_cast<float>(at.storage()[i] = half(static_cast<float>(i % 7) * 0.5f));
        const auto got = s.run(softmax(x), feed(x, at));
        const auto wanted = s.run(softmax(wide), feed(wide, same));
        bool right = true;
        for (std::size_t i = 0; i < at.size(); ++i) right = right && static_cast<float>(got.storage()[i]) == static_cast<float>(half(wanted.storage()[i]));
        CHECK(right);
    }
}

} // namespace test_ops_nn_softmax
