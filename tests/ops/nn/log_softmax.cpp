// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/log_softmax.hpp>

#include "ops/nn/softmax_test.hpp"

using namespace rill;

namespace test_ops_nn_log_softmax {

struct op {
    static constexpr auto name = "log_softmax";
    template <class X> auto operator()(const X& x) const { return log_softmax(x); }
    template <int Axis, class X> static auto along(const X& x) { return log_softmax<Axis>(x); }
    template <class X> static any_tensor along(const X& x, int axis) { return log_softmax(x, axis); }
    static long double of(long double v, long double sum) { return v - std::log(sum); }
    static double from_share(double share) { return std::log(share); }
    static float to_share(float value) { return std::exp(value); }
};

TEST_CASE("log_softmax: values") { softmax_test::values<op>(); }
TEST_CASE("log_softmax: gradients") { softmax_test::gradients<op>(); }
TEST_CASE("log_softmax: types and refusals") { softmax_test::types_and_refusals<op>(); }
TEST_CASE("log_softmax: along other axes") { softmax_test::other_axes<op>(); }
TEST_CASE("log_softmax: extreme numbers") { softmax_test::extreme_numbers<op>(); }
TEST_CASE("log_softmax: narrow types are computed in float") { softmax_test::narrow_types<op>(); }

} // namespace test_ops_nn_log_softmax
