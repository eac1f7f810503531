// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/range.hpp>

#include <limits>

#include <rill/ops/array/size.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_range {

template <class T> std::vector<T> numbers(const constant_value<T, dyn>& c) {
    const auto all = c.value().template elements<T>();
    return {all.begin(), all.end()};
}

TEST_CASE("range: numbers up to a limit") {
    CHECK(numbers(rill::range(0, 10, 2)) == std::vector<int>{0, 2, 4, 6, 8});
    CHECK(numbers(rill::range(0, 9, 2)) == std::vector<int>{0, 2, 4, 6, 8});
    CHECK(numbers(rill::range(3)) == std::vector<int>{0, 1, 2});
    CHECK(numbers(rill::range(5, 0, -2)) == std::vector<int>{5, 3, 1});
    CHECK(numbers(rill::range(2, 2)).empty());
    CHECK(numbers(rill::range(0.f, 1.f, 0.25f)) == std::vector<float>{0, 0.25f, 0.5f, 0.75f});
    CHECK(numbers(rill::range(1., 0., -0.5)) == std::vector<double>{1, 0.5});
    CHECK(numbers(rill::range<std::int64_t>(2)) == std::vector<std::int64_t>{0, 1});
    CHECK(numbers(rill::range<std::uint8_t>(250, 255)).size() == 5);
}

TEST_CASE("range: the ends of integers") {
    using limits = std::numeric_limits<int>;
    const auto far = numbers(rill::range(limits::min(), limits::max(), limits::max()));
    CHECK(far == std::vector<int>{limits::min(), -1, limits::max() - 1});
    const auto down = numbers(rill::range(limits::max(), limits::min(), limits::min()));
    CHECK(down == std::vector<int>{limits::max(), -1});
    CHECK(numbers(rill::range<std::int8_t>(-128, 127, 100)) == std::vector<std::int8_t>{-128, -28, 72});
}

TEST_CASE("range: as far as the shapes of a run say") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const std::vector<float> at(5, 2);
    const auto all = rill::range(0, size(x), 2);
    static_assert(std::is_same_v<decltype(all), const tensor<int, dyn>>);
    CHECK(op_test::list(s.run(all, feed(x, at))) == std::vector<int>{0, 2, 4});
    CHECK(op_test::list(s.run(rill::range(size<std::int64_t>(x)), feed(x, at))) ==
          std::vector<std::int64_t>{0, 1, 2, 3, 4});
    CHECK(op_test::list(s.run(rill::range(3, size(x)) * 2, feed(x, at))) == std::vector<int>{6, 8});
    const auto halves = rill::range(1, cast<float>(size(x)), 0.5f); // a literal beside floats, as in 1 + x
    CHECK(s.run(halves, feed(x, at))(7) == 4.5f);
    CHECK(s.run(reduce_sum(x * cast<float>(rill::range(size(x)))), feed(x, at)) == 20.f);
    CHECK(op_test::difference<int>(s.run(rill::range(any_tensor(size(x)), 0, -2), feed(x, at)), {3}, {5, 3, 1}) == "");
    CHECK_THROWS_WITH(s.run(rill::range(9, size(x)), feed(x, at)),
                      contains("range: the step leads away from the limit") && contains("node 'range"));
    CHECK(op_test::list(s.run(rill::range(reduce_sum(x)), feed(x, at))).size() == 10); // as many as data say
    CHECK_THROWS_WITH(rill::range(any_tensor(size(x)), any_tensor(x)), contains("range: the dtypes differ"));
    CHECK_THROWS_WITH(rill::range(any_tensor(size(x)), 0.5), contains("range: the literal 0.5"));
}

TEST_CASE("range: made by name") { CHECK(make_op("Range")->equals(*make_op(range_op{}))); }

TEST_CASE("range: refusals") {
    CHECK_THROWS_AS(rill::range(0, 10, 0), invalid_argument);
    CHECK_THROWS_WITH(rill::range(0, 10, 0), contains("range: the step must not be 0"));
    CHECK_THROWS_WITH(rill::range(10, 0), contains("range: the step leads away from the limit"));
    CHECK_THROWS_AS(rill::range(0., std::numeric_limits<double>::quiet_NaN()), invalid_argument);
    CHECK_THROWS_AS(rill::range(0., std::numeric_limits<double>::infinity()), invalid_argument);
    CHECK_THROWS_AS(rill::range(0., 1., 1e-300), invalid_argument);
}

} // namespace test_ops_array_range

TEST_CASE("range: has the place where it was made") {
    CHECK(range(3).where().line() == std::source_location::current().line());
    CHECK(range(1, 3).where().line() == std::source_location::current().line());
}
