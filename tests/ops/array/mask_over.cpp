// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/mask_over.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

static_assert(masks_first_axes<extents<dyn, 3, 4>, extents<2, 3>> && masks_first_axes<extents<3>, extents<dyn>>);
static_assert(!masks_first_axes<extents<2, 3>, extents<3>> && !masks_first_axes<extents<3>, extents<3, 1>>);

static_assert(rules::masks_first_axes({2, 3}, {dyn}) && !rules::masks_first_axes({2, 3}, {2, 4}));
static_assert(rules::masks_first_axes(dims::unknown(), {2}) && rules::masks_first_axes({2}, dims::unknown()));

TEST_CASE("mask_over: the mask itself, or an error that shows both") {
    const graph_scope here{graph()};
    const placeholder<bool, dyn, dyn> mask("mask");
    const placeholder<std::string, dyn, dyn, 2> x("x");
    const auto y = mask_over(mask, x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<bool, dyn, dyn>>);
    const session s;
    const xt::xtensor<bool, 2> m{{true, false, true}};
    CHECK((s.run(y, feed(mask, m), feed(x, xt::xtensor<std::string, 3>({1, 3, 2}))) == m));
    CHECK_THROWS_WITH(s.run(y, feed(mask, m), feed(x, xt::xtensor<std::string, 3>({3, 1, 2}))),
                      contains("the mask's extents are not those of the first axes") && contains("[1, 3]") &&
                          contains("[3, 1, 2]"));
    const auto loose = any_placeholder("loose", dtype::float32, {3});
    CHECK_THROWS_AS(mask_over(squeeze<0>(placeholder<bool, 1, 2>()), loose), invalid_argument);
}
