// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/absent_value.hpp>

#include <string>

#include "catch.hpp"

using namespace rill;

TEST_CASE("absent_value: zeros of the declared type, whose unknown extents are 1") {
    const any_array open = detail::stand_in({dtype::float64, dims{dyn, 3}});
    CHECK(open.type() == tensor_type{dtype::float64, dims{1, 3}});
    for (const double x : open.elements<double>()) CHECK(x == 0);
    CHECK(detail::stand_in({dtype::int32, dims{2}}).type() == tensor_type{dtype::int32, dims{2}});
    CHECK(detail::stand_in({dtype::boolean, dims::unknown()}).shape() == dims{});
    CHECK(detail::stand_in({dtype::string, dims{1}}).elements<std::string>()[0].empty());
    CHECK(detail::is_absent(any_array().type()));
    CHECK_FALSE(detail::is_absent(open.type()));
}
