// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/argmin.hpp>

#include "ops/math/arg_test.hpp"

using namespace rill;

namespace test_ops_math_argmin {

template <class X> using along_last = decltype(argmin<-1>(std::declval<const X&>()));
static_assert(std::is_same_v<along_last<tensor<float, dyn, 10>>, tensor<int, dyn>>);
static_assert(std::is_same_v<along_last<tensor<std::int8_t, 3>>, tensor<int>>);
static_assert(std::is_same_v<along_last<any_tensor>, any_tensor>);
static_assert(std::is_same_v<decltype(argmin<0, std::int64_t>(std::declval<const tensor<float, 2, 3>&>())),
                             tensor<std::int64_t, 3>>);

struct op {
    static constexpr auto name = "argmin";
    static constexpr float sign = -1.f;
    static constexpr int second_column = 1, first_row = 0;
    template <int Axis, class X> static auto along(const X& x) { return argmin<Axis>(x); }
    static any_tensor axis(const any_tensor& x, int number) { return argmin(x, number); }
    template <class Index> static any_tensor axis(const any_tensor& x, int number) { return argmin<Index>(x, number); }
    template <class T> static bool better(T a, T b) { return a < b; }
};

TEST_CASE("argmin: values") { arg_test::values<op>(); }
TEST_CASE("argmin: ties, NaN, infinity") { arg_test::ties<op>(); }
TEST_CASE("argmin: at run time") { arg_test::at_run_time<op>(); }

} // namespace test_ops_math_argmin
