// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/where.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

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
                          contains("boolean_mask: the mask's extents are not those of the first axes") &&
                              contains("[2, 3]"));
}

TEST_CASE("boolean_mask: over tensors of unknown types") {
    const graph_scope here{graph()};
    const any_tensor x = any_placeholder("x", dtype::float64, {dyn, 2}),
                     mask = any_placeholder("mask", dtype::boolean, {dyn}),
                     all = any_placeholder("all", dtype::boolean, {dyn, 2}),
                     loose = any_placeholder("loose", dtype::float64, dims::unknown());
    const session s;
    const xt::xtensor<double, 2> in{{1., -3.}, {4., 2.}};
    const std::vector<bool> second{false, true};
    const any_tensor rows = boolean_mask(x, mask), elements = boolean_mask(x, all), slices = boolean_mask(loose, mask);
    CHECK(rows.static_shape() == dims{dyn, 2});
    CHECK(elements.static_shape() == dims{dyn});
    const auto d = gradients(reduce_sum(square(tensor<double, dyn, 2>(rows))), x);
    const auto got = [](const any_array& a) {
        const auto all_of = a.elements<double>();
        return std::vector<double>(all_of.begin(), all_of.end());
    };
    CHECK(got(s.run(rows, feed(x, in), feed(mask, second))) == std::vector{4., 2.});
    CHECK(got(s.run(elements, feed(x, in), feed(all, xt::xtensor<bool, 2>{{true, false}, {false, true}}))) ==
          std::vector{1., 2.});
    CHECK(got(s.run(slices, feed(loose, in), feed(mask, second))) == std::vector{4., 2.});
    CHECK(got(s.run(d[0], feed(x, in), feed(mask, second))) == std::vector{0., 0., 8., 4.});
    // one of them of a known type
    const placeholder<bool, dyn> typed("typed");
    CHECK(got(s.run(boolean_mask(x, typed), feed(x, in), feed(typed, second))) == std::vector{4., 2.});
    CHECK(got(s.run(boolean_mask(constant(in), mask), feed(mask, second))) == std::vector{4., 2.});

    const auto refused = [&](const any_tensor& chosen, const any_tensor& by, const char* why) {
        CHECK_THROWS_WITH(boolean_mask(chosen, by), contains(std::string("boolean_mask: ") + why));
    };
    refused(x, x, "the mask must be a bool");
    refused(x, constant(true), "the mask must have an axis");
    refused(x, any_placeholder("m", dtype::boolean, dims::unknown()), "the mask's rank must be known");
    refused(loose, all, "a mask of several axes chooses from tensors of known rank");
    refused(x, any_placeholder("three", dtype::boolean, {dyn, 3}), "the mask's extents are not those");
    refused(x, any_tensor(), "");
}
