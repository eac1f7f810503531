// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/moments.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_moments {

/// Mean and variance of the columns of a matrix.
struct columns {
    std::vector<double> mean, variance;

    explicit columns(const xt::xarray<double>& x) {
        const std::size_t n = x.shape(0);
        for (std::size_t j = 0; j < x.shape(1); ++j) {
            double sum = 0, squares = 0;
            for (std::size_t i = 0; i < n; ++i) sum += x(i, j);
            for (std::size_t i = 0; i < n; ++i) squares += std::pow(x(i, j) - sum / static_cast<double>(n), 2);
            mean.push_back(sum / static_cast<double>(n));
            variance.push_back(squares / static_cast<double>(n));
        }
    }
    static xt::xarray<double> array(const std::vector<double>& v, const std::vector<std::size_t>& shape) {
        xt::xarray<double> out(shape);
        std::copy(v.begin(), v.end(), out.storage().begin());
        return out;
    }
};

TEST_CASE("moments: values and gradients, to second order") {
    op_test::node<double, 2>([](const auto& x) { return std::get<0>(moments<0>(x)); },
                             [](const auto& x) { return columns::array(columns(x).mean, {3}); }, {{5, 3}});
    op_test::node<double, 2>([](const auto& x) { return std::get<1>(moments<0>(x)); },
                             [](const auto& x) { return columns::array(columns(x).variance, {3}); }, {{5, 3}});
    op_test::node<double, 2>([](const auto& x) { return std::get<0>(moments<-2>(x, keep_dims)); },
                             [](const auto& x) { return columns::array(columns(x).mean, {1, 3}); }, {{5, 3}});
    op_test::node<double, 2>([](const auto& x) { return std::get<1>(moments<0>(2.0 * x, keep_dims)); },
                             [](const auto& x) { return columns::array(columns(2.0 * x).variance, {1, 3}); }, {{5, 3}});
    op_test::node<double, 1>(
        [](const auto& x) {
            const auto [mean, variance] = moments(x);
            return mean * variance;
        },
        [](const auto& x) {
            const columns c(columns::array({x.begin(), x.end()}, {x.size(), 1}));
            return xt::xarray<double>(c.mean[0] * c.variance[0]);
        },
        {{7}});
}

TEST_CASE("moments: types") {
    using x = tensor<float, dyn, 4, 5>;
    static_assert(
        std::is_same_v<decltype(moments<0, 2>(std::declval<x>())), std::tuple<tensor<float, 4>, tensor<float, 4>>>);
    static_assert(std::is_same_v<decltype(moments<0, 2>(std::declval<x>(), keep_dims)),
                                 std::tuple<tensor<float, 1, 4, 1>, tensor<float, 1, 4, 1>>>);
    static_assert(std::is_same_v<decltype(moments(std::declval<x>())), std::tuple<tensor<float>, tensor<float>>>);
}

TEST_CASE("moments: a large mean does not eat the variance") {
    placeholder<float, dyn> x("x");
    const auto [mean, variance] = moments(x);
    const auto [m, v] = session().run(std::tuple(mean, variance), feed(x, {10000.f, 10001.f, 10002.f}));
    CHECK(m == 10001);
    CHECK(v == Approx(2. / 3));
}

TEST_CASE("moments: of a tensor whose type is known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32);
    const auto at = op_test::make_array<float>({2, 2}, {1, 2, 3, 6});
    const auto [mean, variance] = moments<0>(x);
    CHECK(op_test::difference<float>(op_test::run(s, mean, {x}, {at}), {2}, {2, 4}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, variance, {x}, {at}), {2}, {1, 4}) == "");
    const auto [all, spread] = moments(x);
    CHECK(op_test::difference<float>(op_test::run(s, all, {x}, {at}), {}, {3}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, spread, {x}, {at}), {}, {3.5f}) == "");
    CHECK_THROWS_WITH(moments(any_placeholder("ids", dtype::int32)),
                      contains("moments: the elements of 'ids:0' are int32"));
    CHECK_THROWS_WITH(moments<2>(any_placeholder("table", dtype::float32, {2, 3})),
                      contains("an axis is out of range"));
}

TEST_CASE("moments: along axes known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32);
    const auto at = op_test::make_array<float>({2, 2}, {1, 2, 3, 6});
    const auto [mean, variance] = moments(x, {0});
    CHECK(op_test::difference<float>(op_test::run(s, mean, {x}, {at}), {2}, {2, 4}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, variance, {x}, {at}), {2}, {1, 4}) == "");
    const auto [kept, spread] = moments(x, {1}, keep_dims);
    CHECK(op_test::difference<float>(op_test::run(s, kept, {x}, {at}), {2, 1}, {1.5f, 4.5f}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, spread, {x}, {at}), {2, 1}, {0.25f, 2.25f}) == "");
}

} // namespace test_moments
