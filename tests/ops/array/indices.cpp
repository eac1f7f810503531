// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/indices.hpp>

#include "catch.hpp"

using namespace rill;

static_assert(is_index_type<int> && is_index_type<std::int64_t> && !is_index_type<std::int16_t> &&
              !is_index_type<float>);

TEST_CASE("indices: positions and checks") {
    const int ids[] = {0, 3, 2, -1};
    const auto check = [&](const dims& shape, index_t extent, const char* what) {
        detail::check_indices<cpu>({}, detail::index_check<int>(shape, extent, what), ids);
    };
    CHECK_NOTHROW(check({3}, 4, "id"));
    CHECK_NOTHROW(check({0}, 0, "id"));
    CHECK_THROWS_AS(check({2, 2}, 4, "id"), invalid_argument);
    CHECK_THROWS_WITH(check({2, 2}, 4, "id"), contains("id -1 at [1, 1] is outside [0, 4)"));
    CHECK_THROWS_WITH(check({4}, 3, "label"), contains("label 3 at [1] is outside [0, 3)"));
    CHECK_NOTHROW(detail::check_index_type(dtype::int64, "the ids"));
    CHECK_THROWS_WITH(detail::check_index_type(dtype::uint8, "the ids"),
                      contains("the ids must be int32 or int64, not uint8"));
    CHECK(detail::with_index_type(dtype::int64, []<class I>(std::type_identity<I>) { return sizeof(I); }) == 8);
    CHECK(detail::with_index_type(dtype::int32, []<class I>(std::type_identity<I>) { return sizeof(I); }) == 4);
}

TEST_CASE("indices: an array around an axis") {
    const detail::axis_view middle({2, 3, 4, 5}, 1), last({2, 3}, -1);
    CHECK(middle.outer == 2);
    CHECK(middle.extent == 3);
    CHECK(middle.inner == 20);
    CHECK(last.outer == 2);
    CHECK(last.extent == 3);
    CHECK(last.inner == 1);
}
