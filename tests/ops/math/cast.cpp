// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cast.hpp>

#include <rill/ops/math/square.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_cast {

template <class To> constexpr auto f = [](const auto& x) { return cast<To>(x); };

/// The rule: truncates and saturates, NaN gives 0, integers wrap.
template <class To, class From> To reference(From x) {
    if constexpr (std::is_floating_point_v<From> && is_integral<To>) {
        using limits = std::numeric_limits<To>;
        if (std::isnan(x)) return 0;
        if (static_cast<double>(x) >= static_cast<double>(limits::max())) return limits::max();
        if (static_cast<double>(x) <= static_cast<double>(limits::min())) return limits::min();
        return static_cast<To>(x);
    } else if constexpr (is_complex<From> && !is_complex<To>) {
        return static_cast<To>(x.real());
    } else if constexpr (is_complex<To> && is_complex<From>) {
        return To(x);
    } else if constexpr (is_complex<To>) {
        return To(static_cast<typename To::value_type>(x));
    } else {
        return static_cast<To>(x);
    }
}
template <class From, class... To> void check() {
    (op_test::unary<From>(
         "cast", f<To>, [](const From& x) { return reference<To>(x); },
         {.in = {{-300, 300}}, .special = !std::is_same_v<From, double> || !std::is_same_v<To, float>}),
     ...);
}

} // namespace test_cast

TEST_CASE("cast: values") {
    test_cast::check<float, double, int, std::uint8_t, std::int64_t, bool, std::complex<double>>();
    test_cast::check<double, float, int, bool>();
    test_cast::check<int, float, double, std::uint8_t, std::int64_t, bool>();
    test_cast::check<bool, float, int>();
    test_cast::check<std::complex<double>, std::complex<float>, double>();
}

TEST_CASE("cast: gradient flows between floating types, and stops at integers") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn> x("x");
    placeholder<int, dyn> n("n");
    const session s(g);
    const std::vector<double> v{1.5, -2};
    const std::vector<int> k{3, 4};
    const auto [d] = gradients(square(cast<float>(x)), x);
    CHECK(op_test::list(s.run(d, feed(x, v))) == std::vector<double>{3, -4});
    const auto [e, i] = gradients(x * cast<double>(n), x, n);
    CHECK(op_test::list(s.run(e, feed(x, v), feed(n, k))) == std::vector<double>{3, 4});
    CHECK(op_test::list(s.run(i, feed(x, v), feed(n, k))) == std::vector<int>{0, 0});
    const auto [z] = gradients(cast<double>(cast<int>(x)), x);
    CHECK(op_test::list(s.run(z, feed(x, v))) == std::vector<double>{0, 0});
}
