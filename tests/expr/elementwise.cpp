// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/elementwise.hpp>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_elementwise {

/// An op as a user writes it.
struct softsign {
    static constexpr auto name = "Softsign";
    using domain_type = domains::real_floating;
    template <class V> static constexpr V value(V x) { return x / (V(1) + abs(x)); }
    template <class V> static constexpr V pullback(V x, V, V g) {
        auto d = V(1) + abs(x);
        return g / (d * d);
    }
};

/// Of two operands, one of which gets no gradient, and dear.
struct gate {
    static constexpr auto name = "Gate";
    static constexpr int weight = 5;
    using domain_type = domains::any;
    template <class U> using operands = std::tuple<bool, U>;
    template <class C, class V> static auto value(const C& open, const V& x) { return select(open, x, V(0)); }
    template <class C, class V> static auto pullback(const C& open, const V&, const V&, const V& g) {
        return adjoints<no_gradient, V>(no_gradient{}, select(open, g, V(0)));
    }
};

/// Says nothing of its domain: floating and complex.
struct silent {
    static constexpr auto name = "Silent";
    template <class V> static auto value(const V& x) { return x; }
    template <class V> static auto pullback(const V&, const V&, const V& g) { return g; }
};

constexpr auto f = [](const auto& x) { return apply<softsign>(x); };

} // namespace test_elementwise

TEST_CASE("elementwise: an op of the user's own has values and gradients of any order") {
    op_test::unary<float, double>("softsign", test_elementwise::f, [](auto x) { return x / (1 + std::abs(x)); },
                                  {.special = false});
    op_test::gradients(test_elementwise::f, {{0.1, 2}});
    op_test::gradients([](const auto& x) { return exp(test_elementwise::f(x) * x); }, {{-1, -0.1}}, 2);
}

TEST_CASE("elementwise: an op whose operands have several dtypes") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x");
    const auto y = apply<test_elementwise::gate>(x > 0.0, x * x);
    const auto [d] = gradients(y, x);
    const auto [value, slope, by] = s.run(std::tuple(y, d, derivative(y, x)), feed(x, std::vector<double>{-3, 2}));
    CHECK(op_test::list(value) == std::vector<double>{0, 4});
    CHECK(op_test::list(slope) == std::vector<double>{0, 4});
    CHECK(op_test::list(by) == std::vector<double>{0, 4});
    const any_tensor loose =
        apply<test_elementwise::gate>(any_placeholder("c", dtype::boolean), any_placeholder("v", dtype::float64));
    CHECK(loose.dtype() == dtype::float64);
    CHECK_THROWS_WITH(apply<test_elementwise::gate>(any_tensor(x), any_tensor(x)),
                      contains("gate: operand 0 must be bool"));
}

TEST_CASE("elementwise: domains, weights and result types") {
    using test_elementwise::gate;
    using test_elementwise::silent;
    using test_elementwise::softsign;
    STATIC_REQUIRE((op_takes<softsign, float> && op_takes<softsign, half> && !op_takes<softsign, int> &&
                    !op_takes<softsign, std::complex<float>>));
    STATIC_REQUIRE((op_takes<silent, std::complex<float>> && !op_takes<silent, int> && !op_takes<silent, bool>));
    STATIC_REQUIRE((op_takes<gate, bool> && op_takes<gate, int> && !op_takes<gate, std::string>));
    STATIC_REQUIRE((domains::numeric::has<int> && domains::numeric::has<bfloat16> && !domains::numeric::has<bool>));
    STATIC_REQUIRE(
        (domains::real::has<int> && !domains::real::has<std::complex<double>> && domains::comparable::has<bool>));
    STATIC_REQUIRE((domains::boolean::has<bool> && !domains::boolean::has<int>));
    STATIC_REQUIRE((op_weight<gate> == 5 && op_weight<softsign> == 1));
    STATIC_REQUIRE(std::is_same_v<elementwise_result<greater_op, float, float>, bool>);
    STATIC_REQUIRE(std::is_same_v<elementwise_result<gate, bool, double>, double>);
}

TEST_CASE("elementwise: the interpreter and the tracer get what was required") {
    require_primitive<test_elementwise::softsign, double>();
    const auto found = the_kernels().blocks.find("Softsign($0:float64)");
    REQUIRE(found);
    const double in[] = {1, -3, 0};
    double out[3];
    const void* leaf[] = {in};
    void* result[] = {out};
    found->forward({leaf, nullptr, result, nullptr, 3});
    CHECK(out[0] == 0.5);
    CHECK(out[1] == -0.75);
    CHECK(out[2] == 0);
    CHECK(the_kernels().pullbacks.find("Softsign($0:float64)"));
    require_primitive<greater_op, double, double>();
    CHECK(the_kernels().blocks.find("Greater($0:float64,$1:float64):bool"));
    CHECK_FALSE(the_kernels().pullbacks.find("Greater($0:float64,$1:float64):bool"));
}

TEST_CASE("elementwise: traced numbers fold, traced values make instructions") {
    tracer t({dtype::float64}, {});
    const symbol<double> x(t, t.leaf(0));
    CHECK((symbol<double>(2) + symbol<double>(3)).literal() == 5);
    CHECK((symbol<double>(2) > symbol<double>(3)).literal() == false);
    const auto y = select(x > 1, x, 2);
    const auto p = t.finish({y.id(t)});
    REQUIRE(p->code.size() == 2);
    CHECK(p->code[0].op->name == "Greater");
    CHECK(p->code[0].type == dtype::boolean);
    CHECK(p->code[1].type == dtype::float64);
}

TEMPLATE_TEST_CASE("elementwise: half types are rounded once an operation, forward and backward", "", half, bfloat16) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<TestType, dyn> x("x");
    const auto y = exp(x) * x + 0.5f;
    const auto [d] = gradients(y, x);
    std::vector<TestType> v;
    for (int i = 0; i < 37; ++i) v.push_back(TestType(static_cast<float>(i) / 16 - 1));
    const auto [value, slope, by] = s.run(std::tuple(y, d, derivative(y, x)), feed(x, v));
    for (std::size_t i = 0; i < v.size(); ++i) {
        const float f = static_cast<float>(v[i]);
        const auto round = [](float a) { return static_cast<float>(TestType(a)); };
        CHECK(static_cast<float>(value(i)) == round(round(round(std::exp(f)) * f) + 0.5f));
        CHECK(static_cast<float>(slope(i)) == Approx(std::exp(f) * (1 + f)).epsilon(0.02).margin(0.02));
        CHECK(static_cast<float>(by(i)) == static_cast<float>(slope(i)));
    }
}
