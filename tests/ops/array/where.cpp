// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/where.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("where: the places of what is true") {
    const graph_scope here{graph()};
    placeholder<float, dyn, 2> x("x");
    const auto places = where(x > 0.f);
    static_assert(std::is_same_v<std::remove_const_t<decltype(places)>, tensor<std::int64_t, dyn, 2>>);
    const session s;
    CHECK((s.run(places, feed(x, {{1.f, -1.f}, {-1.f, 2.f}})) == xt::xtensor<std::int64_t, 2>{{0, 0}, {1, 1}}));
    CHECK(s.run(places, feed(x, {{-1.f, -1.f}})).shape(0) == 0);
    CHECK(s.run(where(constant(true))).shape() == std::array<std::size_t, 2>{1, 0});
    // what follows is bound to the extents that came
    const auto rows = reduce_sum(cast<float>(places)) + cast<float>(size(places));
    CHECK(s.run(rows, feed(x, {{1.f, -1.f}, {-1.f, 2.f}})) == 2.f + 4.f);
    CHECK(s.run(rows, feed(x, {{1.f, 1.f}})) == 1.f + 4.f);
    CHECK_THROWS_WITH(apply_node(where_op{}, std::source_location::current(), any_tensor(constant(1.f))),
                      contains("float32"));
}

TEST_CASE("boolean_mask: elements and slices, with gradients") {
    const graph_scope here{graph()};
    placeholder<float, dyn, 2> x("x");
    const auto rows = boolean_mask(x, reduce_sum<1>(x) > 0.f);
    static_assert(std::is_same_v<std::remove_const_t<decltype(rows)>, tensor<float, dyn, 2>>);
    const auto elements = boolean_mask(x, x > 0.f);
    static_assert(std::is_same_v<std::remove_const_t<decltype(elements)>, tensor<float, dyn>>);
    const auto [d] = gradients(reduce_sum(square(elements)), x);
    const session s;
    const xt::xtensor<float, 2> in{{1.f, -3.f}, {4.f, 2.f}, {-1.f, -1.f}};
    CHECK((s.run(rows, feed(x, in)) == xt::xtensor<float, 2>{{4.f, 2.f}}));
    CHECK((s.run(elements, feed(x, in)) == xt::xtensor<float, 1>{1.f, 4.f, 2.f}));
    CHECK((s.run(d, feed(x, in)) == xt::xtensor<float, 2>{{2.f, 0.f}, {8.f, 4.f}, {0.f, 0.f}}));
    const auto none = s.run(std::tuple(elements, d), feed(x, {{-1.f, -1.f}}));
    CHECK(std::get<0>(none).size() == 0);
    CHECK(std::get<1>(none)(0, 1) == 0.f);
}

TEST_CASE("boolean_mask: a mask of other extents is refused when it comes") {
    const graph_scope here{graph()};
    const placeholder<float, dyn, dyn> x("x");
    const placeholder<bool, dyn> mask("mask");
    const auto rows = boolean_mask(x, mask);
    const session s;
    const xt::xtensor<float, 2> in{{1.f, -3.f, 0.f}, {4.f, 2.f, 0.f}};
    CHECK(s.run(rows, feed(x, in), feed(mask, std::vector<bool>{false, true})).shape(0) == 1);
    for (const auto& other : {std::vector<bool>{true}, {true, false, false}})
        CHECK_THROWS_WITH(s.run(rows, feed(x, in), feed(mask, other)),
                          contains("mask_over: the mask's extents are not those of the first axes") &&
                              contains("[2, 3]"));
}
