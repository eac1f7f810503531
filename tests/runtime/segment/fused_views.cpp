// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/fused_views.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#include "catch.hpp"

using namespace rill;

namespace {

/// Runs a step and returns its value and the ops that ran, by the names of their nodes.
template <class Y, class... F> auto run_and_list(const session& s, const Y& y, F&&... feeds) {
    const auto [value, trace] = s.run_traced(y, std::forward<F>(feeds)...);
    std::vector<std::string> ran;
    for (const auto& e : trace.entries)
        if (e.what == step_trace::kind::ran) ran.push_back(e.node);
    return std::pair(value, ran);
}
bool has(const std::vector<std::string>& all, const std::string& part) {
    for (const auto& name : all)
        if (name.find(part) != std::string::npos) return true;
    return false;
}

template <std::size_t N> xt::xtensor<float, 1> numbers() {
    xt::xtensor<float, 1> x(std::array<std::size_t, 1>{N});
    for (std::size_t i = 0; i < N; ++i) x(i) = static_cast<float>(i * i % 17) * 0.25f - 1.f;
    return x;
}

constexpr slice_range inner{1, -1}, upper{2}, lower{0, -2};

} // namespace

TEST_CASE("fused views: a stencil is one step, which reads its slices in place and writes into the padding") {
    constexpr index_t n = 3000;
    const graph g;
    const graph_scope here(g);
    const placeholder<float, n> u("u");
    const tensor middle(u(inner) + 0.1f * (u(upper) - 2.f * u(inner) + u(lower)), "stencil");
    const auto next = pad<padding{1, 1}>(middle, 7.f);
    const session s;
    const auto x = numbers<n>();
    const auto [y, ran] = run_and_list(s, tensor(next), feed(u, x));
    CHECK_FALSE(has(ran, "slice"));
    CHECK_FALSE(has(ran, "pad"));
    CHECK(ran.size() == 1);
    CHECK(y(0) == 7.f);
    CHECK(y(n - 1) == 7.f);
    float most = 0;
    for (std::size_t i = 1; i + 1 < n; ++i)
        most = std::max(most, std::abs(y(i) - (x(i) + 0.1f * (x(i + 1) - 2.f * x(i) + x(i - 1)))));
    CHECK(most < 1e-6f);
}

TEST_CASE("fused views: a slice is a step if something else needs it") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 8> u("u");
    const tensor part(u(inner), "piece");
    const tensor twice(part * 2.f, "twice");
    const session s;
    const auto x = numbers<8>();
    const auto [both, ran] = run_and_list(s, std::tuple(part, twice), feed(u, x));
    CHECK(has(ran, "slice"));
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::get<1>(both)(i) == 2 * x(i + 1));
    const auto [alone, fewer] = run_and_list(s, twice, feed(u, x));
    CHECK_FALSE(has(fewer, "slice"));
    for (std::size_t i = 0; i < 6; ++i) CHECK(alone(i) == 2 * x(i + 1));
}

TEST_CASE("fused views: a padding is a step if something else needs its value") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 6> u("u");
    const tensor value(u * 2.f, "value");
    const tensor wide(pad<padding{2, 0}>(value), "longer");
    const session s;
    const auto x = numbers<6>();
    const auto [both, ran] = run_and_list(s, std::tuple(value, wide), feed(u, x));
    CHECK(has(ran, "pad"));
    const auto& y = std::get<1>(both);
    CHECK(y(0) == 0.f);
    for (std::size_t i = 0; i < 6; ++i) CHECK(y(i + 2) == 2 * x(i));
}

TEST_CASE("fused views: a result does not take the place of a tensor whose slice is read") {
    constexpr index_t n = 2048;
    const graph g;
    const graph_scope here(g);
    const placeholder<float, n> x("x");
    const tensor<float, n> u(cumsum<0>(x), "u"); // not fused with what follows
    const tensor<float, n - 1> a(strided_slice<slice_range{0, -1}>(u) + strided_slice<slice_range{1}>(u));
    const tensor<float, n> whole(pad<padding{1, 0}>(a)), again(u * whole);
    const session s;
    const auto in = numbers<n>();
    const auto y = s.run(again, feed(x, in));
    std::vector<float> sums(n);
    std::partial_sum(in.begin(), in.end(), sums.begin());
    for (std::size_t i = 0; i < n; ++i) {
        const float left = i == 0 ? 0.f : sums[i - 1] + sums[i];
        REQUIRE_THAT(y(i), Catch::Matchers::WithinAbs(sums[i] * left, 1e-2 + 1e-5 * std::abs(sums[i] * left)));
    }
}

TEST_CASE("fused views: a slice of a variable is read before a write that runs before its reader") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 6> w("w", 1.f);
    const tensor part(w(slice_range{0, 4}), "piece");
    const auto write = w.assign(constant({9.f, 9.f, 9.f, 9.f, 9.f, 9.f}));
    const tensor later = [&] {
        const control_dependencies after(write);
        return tensor(part * 3.f, "later");
    }();
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(later)(0) == 3.f);
    CHECK(s.run(w)(0) == 9.f);
    const variable<float, 6> v("v", 2.f);
    const auto shifted = v.assign(pad<padding{1, 1}>(tensor(v(inner) + v(upper) + v(lower))));
    s.run(v.initializer());
    const auto [y, ran] = run_and_list(s, shifted);
    CHECK_FALSE(has(ran, "slice"));
    CHECK_FALSE(has(ran, "pad"));
    CHECK(y(0) == 0.f);
    CHECK(y(1) == 6.f);
    CHECK(s.run(shifted)(1) == 12.f); // 0 + 6 + 6
}

TEST_CASE("fused views: rows of matrices, short and long, and their gradients") {
    const auto check = [](auto rows, auto columns) {
        constexpr index_t m = decltype(rows)::value, n = decltype(columns)::value;
        const graph g;
        const graph_scope here(g);
        const placeholder<float, m, n> u("u");
        const auto cross =
            u(upper, inner) + u(lower, inner) + u(inner, upper) + u(inner, lower) - 4.f * u(inner, inner);
        const tensor next(u + pad<padding{1, 1}, padding{1, 1}>(tensor(0.1f * cross)));
        const auto [slope] = gradients(reduce_sum(square(next)), u);
        // the same with slices that are fetched, and computed therefore
        const tensor a(u(upper, inner)), b(u(lower, inner)), c(u(inner, upper)), d(u(inner, lower)), e(u(inner, inner));
        const tensor lap(0.1f * (a + b + c + d - 4.f * e));
        const tensor same(u + pad<padding{1, 1}, padding{1, 1}>(lap));
        const session s;
        xt::xtensor<float, 2> x(std::array<std::size_t, 2>{m, n});
        std::size_t i = 0;
        for (float& v : x) v = static_cast<float>(i++ * 7 % 23) * 0.125f - 1.f;
        const auto [fast, dx] = s.run(std::tuple(next, slope), feed(u, x));
        const auto slow = std::get<0>(s.run(std::tuple(same, a, b, c, d, e, lap), feed(u, x)));
        CHECK(fast == slow);
        // the gradient against 2 A^T A x by hand
        const auto at = [&](const auto& t, index_t r, index_t k) {
            return r < 0 || r >= m || k < 0 || k >= n ? 0.f
                                                      : t(static_cast<std::size_t>(r), static_cast<std::size_t>(k));
        };
        const auto inside = [&](index_t r, index_t k) { return r > 0 && r < m - 1 && k > 0 && k < n - 1; };
        double worst = 0;
        for (index_t r = 0; r < m; ++r)
            for (index_t k = 0; k < n; ++k) {
                double sum = at(fast, r, k);
                const auto add = [&](index_t p, index_t q, double by) {
                    if (inside(p, q)) sum += 0.1 * by * static_cast<double>(at(fast, p, q));
                };
                add(r - 1, k, 1), add(r + 1, k, 1), add(r, k - 1, 1), add(r, k + 1, 1), add(r, k, -4);
                worst = std::max(worst, std::abs(2 * sum - static_cast<double>(at(dx, r, k))));
            }
        CHECK(worst < 1e-4);
    };
    const auto of = []<index_t N>() { return std::integral_constant<index_t, N>(); };
    check(of.operator()<3>(), of.operator()<3>());
    check(of.operator()<7>(), of.operator()<40>());
    check(of.operator()<40>(), of.operator()<130>());
    check(of.operator()<5>(), of.operator()<1500>());
    check(of.operator()<300>(), of.operator()<3>());
}

TEST_CASE("fused views: slices by steps, backwards, of one column, broadcast and reduced") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 40, 30> u("u");
    const tensor stepped(strided_slice<slice_range{0, 40, 3}>(u) * 2.f);
    const tensor back(strided_slice<slice_range{slice_range::all, slice_range::all, -1}>(u) + 1.f);
    const tensor column(u(all, slice_range{3, 4}) + u);
    const tensor row(u(slice_range{5, 6}) * u);
    const auto total = reduce_sum<0>(u(slice_range{1}, slice_range{2, 20}) * 3.f);
    const auto mean = reduce_mean(square(u(slice_range{0, 1}, slice_range{0, 7})));
    const session s;
    xt::xtensor<float, 2> x(std::array<std::size_t, 2>{40, 30});
    std::size_t i = 0;
    for (float& v : x) v = static_cast<float>(i++ % 29);
    const auto [a, b, c, d, e, f] = s.run(std::tuple(stepped, back, column, row, total, mean), feed(u, x));
    CHECK(a(2, 5) == 2 * x(6, 5));
    CHECK(b(0, 7) == x(39, 7) + 1);
    CHECK(b(39, 29) == x(0, 29) + 1);
    CHECK(c(9, 8) == x(9, 3) + x(9, 8));
    CHECK(d(9, 8) == x(5, 8) * x(9, 8));
    float sum = 0;
    for (std::size_t r = 1; r < 40; ++r) sum += 3 * x(r, 6);
    CHECK(e(4) == sum);
    float squares = 0;
    for (std::size_t k = 0; k < 7; ++k) squares += x(0, k) * x(0, k);
    CHECK_THAT(f, Catch::Matchers::WithinRel(squares / 7, 1e-6f));
}

TEST_CASE("fused views: gradients of slices are written where they lie in the tensor's gradient") {
    constexpr index_t n = 2000;
    const graph g;
    const graph_scope here(g);
    const placeholder<float, n> u("u");
    const auto [slope] = gradients(reduce_sum(exp(u(inner) * 0.5f)), u);
    const session s;
    const auto x = numbers<n>();
    const auto [d, ran] = run_and_list(s, slope, feed(u, x));
    CHECK_FALSE(has(ran, "slice"));
    CHECK(d(0) == 0.f);
    CHECK(d(n - 1) == 0.f);
    double worst = 0;
    for (std::size_t i = 1; i + 1 < n; ++i)
        worst = std::max(worst, std::abs(static_cast<double>(d(i)) - 0.5 * std::exp(0.5 * static_cast<double>(x(i)))));
    CHECK(worst < 1e-5);
}

TEST_CASE("fused views: other element types") {
    const graph g;
    const graph_scope here(g);
    const placeholder<double, 9> d("d");
    const placeholder<int, 9> k("k");
    const tensor a(pad<padding{1, 1}>(tensor(d(upper) - d(lower))));
    const tensor b(pad<padding{0, 2}>(tensor(k(upper) * k(lower)), -3));
    const tensor even(equal(k(upper), k(lower)));
    const session s;
    const std::vector<double> x{1, 4, 9, 16, 25, 36, 49, 64, 81};
    const std::vector<int> y{1, 2, 1, 2, 3, 4, 3, 4, 5};
    const auto [p, q, r] = s.run(std::tuple(a, b, even), feed(d, x), feed(k, y));
    CHECK(p(0) == 0);
    CHECK(p(1) == 8);
    CHECK(q(0) == 1);
    CHECK(q(8) == -3);
    CHECK(r(0));
    CHECK_FALSE(r(2));
}

TEST_CASE("fused views: a loop over a stencil equals the loop by hand") {
    constexpr index_t n = 500;
    const graph g;
    const graph_scope here(g);
    const placeholder<float, n> start("start");
    const auto [count, last] =
        while_loop([](auto i, auto) { return i < 50; },
                   [](auto i, auto u) {
                       const tensor middle(u(inner) + 0.2f * (u(upper) - 2.f * u(inner) + u(lower)));
                       return std::tuple(i + 1, tensor<float, n>(any_tensor(pad<padding{1, 1}>(middle))));
                   },
                   constant(0), tensor<float, n>(start * 1.f));
    const auto [slope] = gradients(reduce_sum(last), start);
    const session s;
    const auto x = numbers<n>();
    const auto [y, d] = s.run(std::tuple(last, slope), feed(start, x));
    std::vector<double> now(x.begin(), x.end()), next(n), back(n, 1.), before(n);
    for (int i = 0; i < 50; ++i) {
        for (std::size_t k = 1; k + 1 < n; ++k) next[k] = now[k] + 0.2 * (now[k + 1] - 2 * now[k] + now[k - 1]);
        std::swap(now, next);
        std::fill(before.begin(), before.end(), 0.);
        for (std::size_t k = 1; k + 1 < n; ++k) {
            before[k] += 0.6 * back[k];
            before[k - 1] += 0.2 * back[k];
            before[k + 1] += 0.2 * back[k];
        }
        std::swap(back, before);
        now[0] = now[n - 1] = next[0] = next[n - 1] = 0;
    }
    double worst = 0, worst_slope = 0;
    for (std::size_t k = 0; k < n; ++k) {
        worst = std::max(worst, std::abs(now[k] - static_cast<double>(y(k))));
        worst_slope = std::max(worst_slope, std::abs(back[k] - static_cast<double>(d(k))));
    }
    CHECK(worst < 1e-4);
    CHECK(worst_slope < 1e-4);
}
