// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/softmax.hpp>

#include "ops/nn/softmax_test.hpp"

using namespace rill;

namespace test_ops_nn_softmax {

struct op {
    static constexpr auto name = "softmax";
    template <class X> auto operator()(const X& x) const { return softmax(x); }
    template <int Axis, class X> static auto along(const X& x) { return softmax<Axis>(x); }
    template <class X> static any_tensor along(const X& x, int axis) { return softmax(x, axis); }
    static long double of(long double v, long double sum) { return std::exp(v) / sum; }
    static double from_share(double share) { return share; }
    static float to_share(float value) { return value; }
};

TEST_CASE("softmax: values") { softmax_test::values<op>(); }
TEST_CASE("softmax: gradients") { softmax_test::gradients<op>(); }
TEST_CASE("softmax: types and refusals") { softmax_test::types_and_refusals<op>(); }
TEST_CASE("softmax: along other axes") { softmax_test::other_axes<op>(); }
TEST_CASE("softmax: extreme numbers") { softmax_test::extreme_numbers<op>(); }
TEST_CASE("softmax: narrow types are computed in float") { softmax_test::narrow_types<op>(); }

} // namespace test_ops_nn_softmax
