// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_any.hpp>

#include "ops/math/truth_test.hpp"

using namespace rill;

namespace test_reduce_any {

static_assert(std::is_same_v<decltype(reduce_any<1>(std::declval<tensor<bool, 2, dyn>>())), tensor<bool, 2>>);
static_assert(
    std::is_same_v<decltype(reduce_any<0>(std::declval<tensor<bool, 2, dyn>>(), keep_dims)), tensor<bool, 1, dyn>>);

struct op {
    static constexpr auto name = "reduce_any";
    static constexpr bool of_nothing = false;
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_any<Axes...>(x > 0, keep...); }
    static auto of_bools(const auto& x) { return reduce_any(x); }
    template <class T> static T of(const std::vector<T>& v) {
        return static_cast<T>(std::any_of(v.begin(), v.end(), [](const T& x) { return x > 0; }));
    }
};

} // namespace test_reduce_any

TEST_CASE("reduce_any: values over axes, of expressions") { truth_test::values<test_reduce_any::op>(); }
TEST_CASE("reduce_any: only of bool") { truth_test::only_of_bool<test_reduce_any::op>(); }
