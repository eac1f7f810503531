// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/fused_kernel.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/zeros_like.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/nn/clip.hpp>
#include <rill/session/session.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("fused: every way of stretching and reducing, against plain loops") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn, dyn, dyn> x("x");
    placeholder<double, dyn, 1, dyn> y("y");
    const auto product = x * y;
    const auto rows = reduce_sum<2>(product), middle = reduce_sum<1>(product), outer = reduce_mean<0>(product);
    const auto ends = reduce_sum<0, 2>(product);
    session s;
    for (const auto& [a, b, c] : {std::tuple<std::size_t, std::size_t, std::size_t>{2, 3, 4},
                                  {1, 5, 1},
                                  {7, 40, 50},
                                  {3, 2, 1500},
                                  {1, 1, 1}}) {
        xt::xtensor<double, 3> xv({a, b, c}), yv({a, 1, c});
        for (std::size_t i = 0; i < xv.size(); ++i) xv.storage()[i] = static_cast<double>(i % 11) - 4;
        for (std::size_t i = 0; i < yv.size(); ++i) yv.storage()[i] = static_cast<double>(i % 5) - 1;
        xt::xtensor<double, 2> rv({a, b}, 0.0), mv({a, c}, 0.0), ov({b, c}, 0.0);
        xt::xtensor<double, 1> ev({b}, 0.0);
        for (std::size_t i = 0; i < a; ++i)
            for (std::size_t j = 0; j < b; ++j)
                for (std::size_t k = 0; k < c; ++k) {
                    const double p = xv(i, j, k) * yv(i, 0, k);
                    rv(i, j) += p, mv(i, k) += p, ov(j, k) += p / static_cast<double>(a), ev(j) += p;
                }
        const auto [r, m, o, e] = s.run(std::tuple(rows, middle, outer, ends), feed(x, xv), feed(y, yv));
        const auto close = [](const auto& got, const auto& wanted) {
            REQUIRE(got.size() == wanted.size());
            for (std::size_t i = 0; i < got.size(); ++i)
                REQUIRE(got.storage()[i] == Approx(wanted.storage()[i]).margin(1e-9));
        };
        close(r, rv);
        close(m, mv);
        close(o, ov);
        close(e, ev);
    }
}

TEST_CASE("fused: integer division by zero is reported, also in a later block") {
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> a("a"), b("b");
    tensor q = a / b;
    session s;
    std::vector<int> as(3000, 6), bs(3000, 2);
    CHECK(s.run(q, feed(a, as), feed(b, bs))(2999) == 3);
    bs[2500] = 0;
    CHECK_THROWS_AS(s.run(q, feed(a, as), feed(b, bs)), invalid_argument);
    bs[2500] = 3;
    CHECK(s.run(q, feed(a, as), feed(b, bs))(2500) == 2); // the session goes on
}

TEST_CASE("fused: six dimensions that stretch in turns, forward and backward") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn, dyn, dyn, dyn, dyn> x("x"), y("y");
    const tensor z = x * y;
    const auto [dx, dy] = gradients(z, x, y);
    const auto sums = reduce_sum<1, 3, 5>(z);
    for (const auto& [a, b] : {std::pair(dims{2, 1, 3, 1, 2, 1}, dims{1, 4, 1, 3, 1, 2}),
                               {dims{2, 3, 1, 1, 5, 7}, dims{2, 1, 4, 3, 1, 7}},
                               {dims{1, 1, 1, 1, 1, 900}, dims{3, 2, 1, 2, 1, 1}},
                               {dims{5, 1, 40, 1, 40, 1}, dims{1, 3, 1, 1, 1, 2}}}) {
        const auto av = op_test::point_array<double>({-1, 1}, a), bv = op_test::point_array<double>({-1, 1}, b, 1);
        const dims space = rules::broadcast(a, b).shape;
        std::vector<double> product, ga(static_cast<std::size_t>(a.size())), gb(static_cast<std::size_t>(b.size()));
        const dims kept{space[0], 1, space[2], 1, space[4], 1};
        std::vector<double> total(static_cast<std::size_t>(kept.size()));
        for (index_t i = 0; i < space.size(); ++i) {
            const auto p = static_cast<std::size_t>(op_test::source_of(i, space, a)),
                       q = static_cast<std::size_t>(op_test::source_of(i, space, b));
            const double u = av.elements<double>()[p], v = bv.elements<double>()[q];
            product.push_back(u * v);
            ga[p] += v;
            gb[q] += u;
            total[static_cast<std::size_t>(op_test::source_of(i, space, kept))] += u * v;
        }
        INFO(to_string(a) << " and " << to_string(b));
        const auto get = [&](const any_tensor& t) { return op_test::reals(op_test::run(s, t, {x, y}, {av, bv})); };
        CHECK(op_test::far_apart(get(z), product, 1e-15) == "");
        CHECK(op_test::far_apart(get(dx), ga, 1e-12) == "");
        CHECK(op_test::far_apart(get(dy), gb, 1e-12) == "");
        CHECK(op_test::far_apart(get(sums), total, 1e-12) == "");
    }
}

TEST_CASE("fused: a result may take the memory of an operand that ends with it") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    tensor h = x * 2.f;
    for (int i = 0; i < 5; ++i)
        h = tensor(h * h / (h + reduce_sum<0>(h, keep_dims) * 0.f)); // also read as a sum of itself
    const auto got = s.run(h, feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{30, 70}, 1.5f)));
    for (const float v : got) REQUIRE(v == Approx(3.f));
}

TEST_CASE("fused: bit for bit the same for any number of threads") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x");
    placeholder<float, dyn> y("y");
    const tensor map = x * y / (x + 3.f);
    const auto sum = reduce_sum(x * y), mean = reduce_mean(x / y);
    const auto rows = reduce_sum<1>(x * y), columns = reduce_mean<0>(x * y);
    const auto [dx, dy] = gradients(reduce_sum(x * y / (x + 3.f)), x, y);
    const auto [ddy] = gradients(reduce_sum(dy * dy), y); // interpreted
    for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{900, 1100}, {3, 400000}, {300000, 4}}) {
        xt::xtensor<float, 2> xv({a, b});
        auto yv = xt::xtensor<float, 1>::from_shape({b});
        for (std::size_t i = 0; i < xv.size(); ++i) xv.storage()[i] = static_cast<float>(i % 1013) * 0.01f;
        for (std::size_t i = 0; i < b; ++i) yv(i) = 1.f + static_cast<float>(i % 17) * 0.1f;
        const auto run = [&](int threads) {
            const session s(g, {.intra_op_threads = threads});
            return s.run(std::tuple(map, sum, mean, rows, columns, dx, dy, ddy), feed(x, xv), feed(y, yv));
        };
        const auto alone = run(1);
        double wanted = 0;
        for (std::size_t i = 0; i < a; ++i)
            for (std::size_t j = 0; j < b; ++j) wanted += static_cast<double>(xv(i, j)) * static_cast<double>(yv(j));
        CHECK(std::get<1>(alone) == Approx(wanted).epsilon(1e-5));
        for (const int threads : {2, 3, 5}) {
            const auto shared = run(threads);
            const auto same = [](const auto& p, const auto& q) {
                if constexpr (requires { p.storage(); })
                    return std::equal(p.begin(), p.end(), q.begin(), q.end());
                else
                    return p == q;
            };
            INFO(a << " x " << b << " on " << threads);
            CHECK(same(std::get<0>(shared), std::get<0>(alone)));
            CHECK(same(std::get<1>(shared), std::get<1>(alone)));
            CHECK(same(std::get<2>(shared), std::get<2>(alone)));
            CHECK(same(std::get<3>(shared), std::get<3>(alone)));
            CHECK(same(std::get<4>(shared), std::get<4>(alone)));
            CHECK(same(std::get<5>(shared), std::get<5>(alone)));
            CHECK(same(std::get<6>(shared), std::get<6>(alone)));
            CHECK(same(std::get<7>(shared), std::get<7>(alone)));
        }
    }
}

TEST_CASE("fused: threads report division by zero too") {
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> x("x"), y("y");
    const tensor q = x / y;
    const session s(g, {.intra_op_threads = 3});
    std::vector<int> xs(1'000'000, 6), ys(xs.size(), 2);
    CHECK(s.run(q, feed(x, xs), feed(y, ys))(999'999) == 3);
    ys[777'777] = 0;
    CHECK_THROWS_AS(s.run(q, feed(x, xs), feed(y, ys)), invalid_argument);
    ys[777'777] = 2;
    CHECK(s.run(q, feed(x, xs), feed(y, ys))(777'777) == 3);
}

namespace test_fused {

// An expression of depth N over leaves: by its type, one node or few; by any_tensor, a node for each op.

template <class Next, int N, class X, class Y> any_tensor nested(const std::vector<X>& leaves, const Y& y) {
    if constexpr (N == 0)
        return any_tensor(tensor(y));
    else
        return nested<Next, N - 1>(leaves, Next::of(leaves, N - 1, y));
}
template <class Next, int N> any_tensor nodes(const std::vector<any_tensor>& leaves, any_tensor y) {
    for (int i = N; i-- > 0;) y = Next::of(leaves, i, y);
    return y;
}

struct clips {
    static constexpr std::size_t leaves = 2;
    template <class X> static auto of(const std::vector<X>& leaf, int i, const auto& y) {
        const auto at = static_cast<std::size_t>(2 * i + 1);
        return clip(y, leaf[at], leaf[at + 1]);
    }
};
struct selects {
    static constexpr std::size_t leaves = 3;
    template <class X> static auto of(const std::vector<X>& leaf, int i, const auto& y) {
        const auto at = static_cast<std::size_t>(3 * i + 1);
        return y * select(leaf[at] > leaf[at + 1], leaf[at], leaf[at + 2]);
    }
};
struct products {
    static constexpr std::size_t leaves = 1;
    template <class X> static auto of(const std::vector<X>& leaf, int i, const auto& y) {
        return y * leaf[static_cast<std::size_t>(i + 1)];
    }
};

/// The gradients of the sum of squares of the gradients, and so on.
inline std::vector<any_tensor> gradients_of_order(any_tensor y, const std::vector<any_tensor>& leaves, int order) {
    std::vector<any_tensor> found;
    for (int o = 0; o < order; ++o) {
        found.clear();
        any_tensor sum;
        for (const auto& d : gradients({y}, leaves)) {
            found.push_back(d ? d : zeros_like(leaves[0]));
            const any_tensor part = reduce_sum(square(found.back()));
            sum = sum ? any_tensor(sum + part) : part;
        }
        y = sum;
    }
    return found;
}

/// One node of many operands computes what nodes of few do.
template <class Next, int N> void compare(index_t extent, int order) {
    const graph g;
    const graph_scope here(g);
    std::vector<placeholder<double, dyn>> typed;
    std::vector<any_tensor> leaves;
    std::vector<feed_value> feeds;
    for (std::size_t i = 0; i <= Next::leaves * N; ++i) {
        leaves.push_back(typed.emplace_back("leaf"));
        feeds.push_back(
            feed(leaves.back(), op_test::point_array<double>({0.4, 1.4}, dims{extent}, static_cast<int>(i))));
    }
    auto all = gradients_of_order(reduce_sum(nested<Next, N>(typed, typed[0] * typed[0])), leaves, order);
    const std::size_t count = all.size();
    for (const auto& d : gradients_of_order(reduce_sum(nodes<Next, N>(leaves, leaves[0] * leaves[0])), leaves, order))
        all.push_back(d);
    for (const int threads : {1, 3}) {
        const session s(g, {.intra_op_threads = threads});
        const auto values = s.run(all, feeds);
        for (std::size_t k = 0; k < count; ++k) {
            const std::span<const double> one = values[k].template elements<double>(),
                                          many = values[count + k].template elements<double>();
            for (std::size_t i = 0; i < one.size(); ++i)
                if (!(std::abs(one[i] - many[i]) <= 1e-9 * std::abs(many[i]) + 1e-12))
                    FAIL_CHECK(one[i] << " " << many[i]);
        }
    }
}

} // namespace test_fused

TEST_CASE("fused: gradients of nodes with any number of operands") {
    using namespace test_fused;
    for (const index_t extent : {3, 20000}) {
        compare<clips, 16>(extent, 1);
        compare<clips, 16>(extent, 2);
        compare<selects, 22>(extent, 1);
        compare<products, 22>(extent, 2);
    }
    compare<products, 22>(2, 3);
    compare<selects, 22>(2, 3);
}
