// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/tensor_list.hpp>

#include <array>

#include "catch.hpp"

using namespace rill;

TEST_CASE("make_tensor_list: arrays of other extents as one value, which knows how many they are") {
    const any_array one(dtype::float32, dims{1}), two(dtype::float32, dims{2});
    const auto all = detail::make_tensor_list(dtype::float32, {one, two, one});
    CHECK(all.dtype() == dtype::float32);
    CHECK(all.shape() == dims{3, dyn});
    CHECK(detail::is_tensor_list(all.type()));
    const auto* slices = detail::tensor_list_items(all);
    REQUIRE(slices);
    CHECK((*slices)[1].shape() == dims{2});
    CHECK((*slices)[1].data() == two.data());
    const any_array copy = detail::owned_copy(all); // its slices are nobody's to change
    CHECK(detail::tensor_list_items(copy) == slices);

    CHECK_FALSE(detail::tensor_list_items(one));
    CHECK_FALSE(detail::tensor_list_items(any_array()));
    CHECK_NOTHROW(detail::refuse_tensor_lists(std::array{one.type(), tensor_type{}}));
    CHECK_THROWS_AS(detail::refuse_tensor_lists(std::array{one.type(), all.type()}), unimplemented);
    CHECK_THROWS_WITH(detail::refuse_tensor_lists(std::array{all.type()}),
                      contains("extents differ between iterations"));
}

TEST_CASE("make_tensor_list: none at all") {
    const auto none = detail::make_tensor_list(dtype::int32, {});
    CHECK(none.shape() == dims{0});
    CHECK_FALSE(detail::tensor_list_items(none)); // an ordinary array of nothing
}
