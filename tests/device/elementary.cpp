// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/elementary.hpp>

#include <complex>
#include <vector>

#include <rill/device/cpu/simd/pack.hpp>
#include <rill/device/lane.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_elementary {

/// The function of single numbers and of lanes and registers at some points, against the C++ library's.
template <class F, class T, class Reference> void check(const std::vector<double>& at, const Reference& reference) {
    constexpr int lanes = lanes_for<T>;
    for (const double x : at) {
        const T v = static_cast<T>(x), wanted = static_cast<T>(reference(v));
        INFO(x);
        CHECK(F::scalar(v) == wanted);
        CHECK(detail::compute<F>(lane<T>(v)).v == Approx(wanted).epsilon(1e-6));
        T out[lanes];
        detail::compute<F>(pack<T, lanes>(v)).store(out);
        for (const T o : out) CHECK(o == Approx(wanted).epsilon(1e-6));
    }
}

} // namespace test_elementary

TEST_CASE("elementary: single numbers and registers agree with the C++ library") {
    using namespace elementary;
    const auto all = [](auto type) {
        using T = decltype(type);
        using test_elementary::check;
        check<exp_function, T>({-3, 0, 0.5, 10}, [](T x) { return std::exp(x); });
        check<log_function, T>({0.1, 1, 2.5, 1e6}, [](T x) { return std::log(x); });
        check<sqrt_function, T>({0, 1, 2, 1e6}, [](T x) { return std::sqrt(x); });
        check<sin_function, T>({-2, 0, 0.5, 3}, [](T x) { return std::sin(x); });
        check<cos_function, T>({-2, 0, 0.5, 3}, [](T x) { return std::cos(x); });
    };
    all(float());
    all(double());
}

TEST_CASE("elementary: complex numbers and narrow ones, one by one") {
    using namespace elementary;
    using C = std::complex<double>;
    const C z(0.3, -0.7);
    CHECK(std::abs(detail::compute<exp_function>(lane<C>(z)).v - std::exp(z)) < 1e-15);
    CHECK(std::abs(detail::compute<log_function>(lane<C>(z)).v - std::log(z)) < 1e-15);
    CHECK(static_cast<float>(detail::compute<sqrt_function>(lane<half>(half(4.f))).v) == 2.f);
}
