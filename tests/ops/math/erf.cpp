// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/erf.hpp>

#include <rill/ops/math/acos.hpp>
#include <rill/ops/math/acosh.hpp>
#include <rill/ops/math/asin.hpp>
#include <rill/ops/math/asinh.hpp>
#include <rill/ops/math/atan.hpp>
#include <rill/ops/math/atan2.hpp>
#include <rill/ops/math/atanh.hpp>
#include <rill/ops/math/cosh.hpp>
#include <rill/ops/math/digamma.hpp>
#include <rill/ops/math/erfc.hpp>
#include <rill/ops/math/floordiv.hpp>
#include <rill/ops/math/lgamma.hpp>
#include <rill/ops/math/mod.hpp>
#include <rill/ops/math/rint.hpp>
#include <rill/ops/math/round.hpp>
#include <rill/ops/math/sinh.hpp>
#include <rill/ops/math/squared_difference.hpp>
#include <rill/ops/nn/elu.hpp>
#include <rill/ops/nn/gelu.hpp>
#include <rill/ops/nn/relu6.hpp>
#include <rill/ops/nn/selu.hpp>
#include <rill/ops/nn/silu.hpp>
#include <rill/ops/nn/softplus.hpp>
#include <rill/ops/nn/softsign.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_erf {
constexpr auto f = [](const auto& x) { return erf(x); };
} // namespace test_erf

TEST_CASE("erf: values, typed and untyped") {
    op_test::unary<float, double>(
        "erf", test_erf::f, [](auto x) { return static_cast<decltype(x)>(std::erf(static_cast<long double>(x))); });
}

TEST_CASE("erf: gradient, to second order") { op_test::gradients(test_erf::f, {{-2, 2}}, 2); }

TEST_CASE("erf: known by name") {
    const auto* op = find_op("Erf");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

namespace test_erf_of_halves {

/// f of half or bfloat16 numbers is f of floats, rounded once for each operation.
template <class T, class F> void check(const char* name, const F& f) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<T, dyn> x("x");
    placeholder<float, dyn> wide("wide");
    const std::vector<float> at{0.25f, 0.5f, 0.75f, -0.5f, 1.5f, 2.5f};
    const auto got = s.run(f(x), feed(x, std::vector<T>(at.begin(), at.end())));
    const auto wanted = s.run(f(wide), feed(wide, at));
    static_assert(std::is_same_v<typename std::decay_t<decltype(got)>::value_type, T>);
    for (std::size_t i = 0; i < at.size(); ++i) {
        INFO(name << " of " << at[i]);
        CHECK(op_test::near(static_cast<double>(static_cast<float>(got(i))), static_cast<double>(wanted(i)), 0.02));
    }
}

} // namespace test_erf_of_halves

TEMPLATE_TEST_CASE("erf and its like: of half numbers", "", half, bfloat16) {
    const auto check = [](const char* name, const auto& f) { test_erf_of_halves::check<TestType>(name, f); };
    check("erf", [](const auto& x) { return erf(x); });
    check("acos", [](const auto& x) { return acos(x); });
    check("acosh", [](const auto& x) { return acosh(x); });
    check("asin", [](const auto& x) { return asin(x); });
    check("asinh", [](const auto& x) { return asinh(x); });
    check("atan", [](const auto& x) { return atan(x); });
    check("atanh", [](const auto& x) { return atanh(x); });
    check("cosh", [](const auto& x) { return cosh(x); });
    check("digamma", [](const auto& x) { return digamma(x); });
    check("erfc", [](const auto& x) { return erfc(x); });
    check("lgamma", [](const auto& x) { return lgamma(x); });
    check("rint", [](const auto& x) { return rint(x); });
    check("round", [](const auto& x) { return round(x); });
    check("sinh", [](const auto& x) { return sinh(x); });
    check("elu", [](const auto& x) { return elu(x); });
    check("gelu", [](const auto& x) { return gelu(x); });
    check("relu6", [](const auto& x) { return relu6(x); });
    check("selu", [](const auto& x) { return selu(x); });
    check("silu", [](const auto& x) { return silu(x); });
    check("softplus", [](const auto& x) { return softplus(x); });
    check("softsign", [](const auto& x) { return softsign(x); });
    check("atan2", [](const auto& x) { return atan2(x, 1.5); });
    check("floordiv", [](const auto& x) { return floordiv(x, -0.5); });
    check("mod", [](const auto& x) { return mod(x, -0.75); });
    check("squared_difference", [](const auto& x) { return squared_difference(x, 1); });
}
