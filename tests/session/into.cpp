// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/into.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include <numeric>

#if __has_include(<xtensor/containers/xfixed.hpp>)
#include <xtensor/containers/xfixed.hpp>
#else
#include <xtensor/xfixed.hpp>
#endif

#include "ops/harness.hpp"

using namespace rill;

namespace test_runtime_into {

TEST_CASE("into: values go where they are wanted, small and large, of every kind of array") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto y = exp(x) * 2.f;
    for (const std::size_t n : {std::size_t(0), std::size_t(3), std::size_t(5000)}) {
        const std::vector<float> at(n, 1.f), wanted = op_test::list(s.run(y, feed(x, at)));
        xt::xtensor<float, 1> fixed({n + 1}, -1.f);
        static_assert(std::is_void_v<decltype(s.run(into(y, fixed), feed(x, at)))>);
        s.run(into(y, fixed), feed(x, at)); // another size: resized
        CHECK(op_test::list(fixed) == wanted);
        const float* const where = fixed.data();
        s.run(into(y, fixed), feed(x, at));
        CHECK(fixed.data() == where); // the same memory again
        xt::xarray<float> loose;
        s.run(into(y, loose), feed(x, at));
        CHECK(op_test::list(loose) == wanted);
        std::vector<float> flat;
        s.run(into(y, flat), feed(x, at));
        CHECK(flat == wanted);
        std::vector<float> room(n);
        std::span<float> part(room);
        s.run(into(y, part), feed(x, at));
        CHECK(room == wanted);
        s.run(into(any_tensor(y), flat), feed(x, at));
        CHECK(flat == wanted);
    }
    float sum = 0;
    s.run(into(reduce_sum(x), sum), feed(x, std::vector<float>{1, 2, 4}));
    CHECK(sum == 7);
}

TEST_CASE("into: arrays whose shape is part of their type") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    const auto y = x * 2.f;
    const auto step = s.make_callable(y, x);
    const xt::xtensor<float, 2> at{{1, 2}, {3, 4}};
    xt::xtensor_fixed<float, xt::xshape<2, 2>> room;
    s.run(into(y, room), feed(x, at));
    CHECK(room(1, 1) == 8);
    step.into(room)(at + 1.f);
    CHECK(room(1, 1) == 10);
    CHECK(s.run(y, feed(x, room))(0, 0) == 8); // fed as well
    CHECK_THROWS_WITH(
        s.run(into(y, room), feed(x, xt::xtensor<float, 2>({2, 3}, 1.f))),
        contains("into: a value of shape [2, 3] does not fit into an array whose shape is always [2, 2]"));
    CHECK_THROWS_AS(s.run(into(reduce_sum(x), room), feed(x, at)), invalid_argument);
}

TEST_CASE("into: beside other fetches") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    variable<float> v("v", 0.f);
    const operation count(v.assign_add(1.f).node());
    s.run(global_variables_initializer());
    std::vector<float> squares, cubes;
    const auto [sum, same] = s.run(std::tuple(reduce_sum(x), into(x * x, squares), count, x, into(x * x * x, cubes)),
                                   feed(x, std::vector<float>{1, 2, 3}));
    CHECK(sum == 6);
    CHECK(same(2) == 3);
    CHECK(squares == std::vector<float>{1, 4, 9});
    CHECK(cubes == std::vector<float>{1, 8, 27});
    CHECK(s.run(v) == 1);

    const auto step = s.make_callable(std::tuple(x * x, count, reduce_sum(x)), x);
    float total = 0;
    const auto fill = step.into(squares, total);
    static_assert(std::tuple_size_v<decltype(fill(std::vector<float>{}))> == 0);
    fill(std::vector<float>{5});
    CHECK(squares == std::vector<float>{25});
    CHECK(total == 5);
    step.into(cubes, total)(std::vector<float>{1, 1});
    CHECK(cubes == std::vector<float>{1, 1});
    CHECK(s.run(v) == 3);
}

TEST_CASE("into: what does not fit") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto y = x * 2.f;
    for (const std::size_t n : {std::size_t(3), std::size_t(5000)}) {
        const std::vector<float> at(n, 1.f);
        std::vector<float> room(n - 1);
        std::span<float> small(room);
        CHECK_THROWS_WITH(s.run(into(y, small), feed(x, at)),
                          contains("into: a value of shape [" + std::to_string(n) + "] does not fit into a span of"));
        std::vector<double> doubles;
        CHECK_THROWS_WITH(s.run(into(any_tensor(y), doubles), feed(x, at)), contains("of another element type"));
        xt::xtensor<float, 2> matrix;
        CHECK_THROWS_WITH(s.run(into(any_tensor(y), matrix), feed(x, at)), contains("an array of rank 2"));
        CHECK(op_test::list(s.run(y, feed(x, at))) == std::vector<float>(n, 2)); // the session goes on
    }
}

TEST_CASE("into: an array that the run is fed with is read before it is written") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto total = reduce_sum(x);
    const auto y = x * total; // needs all of x before the first element is written, and then x again
    std::vector<float> both(5000);
    std::iota(both.begin(), both.end(), 0.f);
    const auto wanted = op_test::list(s.run(y + reduce_sum(y), feed(x, both)));
    std::vector<float> got = both;
    s.run(into(y + reduce_sum(y), got), feed(x, got));
    CHECK(got == wanted);
}

} // namespace test_runtime_into
