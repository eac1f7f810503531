// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/sigmoid_cross_entropy.hpp>

#include <rill/ops/array/zeros_like.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sigmoid_cross_entropy {
constexpr auto f = [](const auto& x, const auto& z) { return sigmoid_cross_entropy(x, z); };
constexpr auto reference = [](auto x, auto z) {
    using T = decltype(x);
    const auto l = static_cast<long double>(x);
    const long double m = l >= 0 ? l : l == l ? 0 : l;
    return static_cast<T>(m - l * static_cast<long double>(z) + std::log1p(std::exp(-std::abs(l))));
};
} // namespace test_sigmoid_cross_entropy

TEST_CASE("sigmoid_cross_entropy: values") {
    op_test::binary<float, double>("sigmoid_cross_entropy", test_sigmoid_cross_entropy::f,
                                   test_sigmoid_cross_entropy::reference,
                                   {.in = {{-8, 8}, {0, 1}}, .ulps = 8, .special = false});
}
TEST_CASE("sigmoid_cross_entropy: gradient") {
    op_test::gradients(test_sigmoid_cross_entropy::f, {{-2, 2}, {0.1, 0.9}});
}

TEST_CASE("sigmoid_cross_entropy: far out, where exp overflows") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x"), z("z");
    const auto y = sigmoid_cross_entropy(x, z);
    const auto [dx] = gradients(y, x);
    const auto [v, d] = s.run(std::tuple(y, dx), feed(x, std::vector<float>{1e4f, -1e4f, 1e4f, -1e4f}),
                              feed(z, std::vector<float>{1, 0, 0, 1}));
    CHECK(v(0) == 0.f);
    CHECK(v(1) == 0.f);
    CHECK(v(2) == 1e4f);
    CHECK(v(3) == 1e4f);
    CHECK(d(0) == 0.f);
    CHECK(d(1) == 0.f);
    CHECK(d(2) == 1.f);
    CHECK(d(3) == -1.f);
}

TEST_CASE("sigmoid_cross_entropy: the second gradient of saturated logits is s (1 - s)") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto check = [&]<class T>(std::type_identity<T>, const std::vector<T>& at) {
        placeholder<T, dyn> x("x");
        const auto [d] = gradients(sigmoid_cross_entropy(x, zeros_like(x)), x);
        const auto [second] = gradients(d, x);
        const auto got = op_test::reals(s.run(any_tensor(second), feed(x, at)));
        for (std::size_t i = 0; i < at.size(); ++i) {
            const double e = std::exp(-std::abs(static_cast<double>(static_cast<float>(at[i]))));
            CHECK(got[i] == Approx(e / ((1 + e) * (1 + e))).margin(1e-5)); // e^12 is infinite as a half
        }
    };
    check(std::type_identity<float>(), {-1e4f, -110, -89, -88, -5, 0, 5, 88, 89, 1e4f});
    check(std::type_identity<double>(), {-1e4, -720, -710, -5, 0, 720});
    check(std::type_identity<half>(), {half(-88.f), half(-12.f), half(0.f), half(88.f)});
}
