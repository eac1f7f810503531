// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/ragged.hpp>

#include <array>

#include "catch.hpp"

using namespace rill;

TEST_CASE("ragged: arrays of other extents as one value, which knows how many they are") {
    const any_array one(dtype::float32, dims{1}), two(dtype::float32, dims{2});
    const auto all = detail::ragged(dtype::float32, {one, two, one});
    CHECK(all.dtype() == dtype::float32);
    CHECK(all.shape() == dims{3, dyn});
    CHECK(detail::is_ragged(all.type()));
    const auto* slices = detail::ragged_slices(all);
    REQUIRE(slices);
    CHECK((*slices)[1].shape() == dims{2});
    CHECK((*slices)[1].data() == two.data());
    const any_array copy = detail::owned_copy(all); // its slices are nobody's to change
    CHECK(detail::ragged_slices(copy) == slices);

    CHECK_FALSE(detail::ragged_slices(one));
    CHECK_FALSE(detail::ragged_slices(any_array()));
    CHECK_NOTHROW(detail::refuse_ragged(std::array{one.type(), tensor_type{}}));
    CHECK_THROWS_AS(detail::refuse_ragged(std::array{one.type(), all.type()}), unimplemented);
}

TEST_CASE("ragged: none at all") {
    const auto none = detail::ragged(dtype::int32, {});
    CHECK(none.shape() == dims{0});
    CHECK_FALSE(detail::ragged_slices(none)); // an ordinary array of nothing
}
