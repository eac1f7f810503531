// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/loop_state.hpp>

#include "catch.hpp"

using namespace rill;

static_assert(state_is_whole<2, 2> && !state_is_whole<1, 2>);
static_assert(state_keeps_its_type<any_tensor, tensor<float>>);
static_assert(state_keeps_its_type<tensor<float, 2>, any_tensor>);
static_assert(!state_keeps_its_type<tensor<float, 2>, tensor<float, 2, 2>>);

TEST_CASE("loop_state: one part comes back as a tensor, several as a tuple") {
    using one = decltype(detail::as_result<std::tuple<tensor<float>>>({}));
    using two = decltype(detail::as_result<std::tuple<tensor<float>, tensor<int>>>({}));
    STATIC_REQUIRE(std::is_same_v<one, tensor<float>>);
    STATIC_REQUIRE(std::is_same_v<two, std::tuple<tensor<float>, tensor<int>>>);
}
