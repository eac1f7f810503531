// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/region/loop_state.hpp>

#include "catch.hpp"

using namespace rill;

static_assert(is_built_as<std::tuple<any_tensor, tensor<int>>, std::pair<tensor<float>, any_tensor>>);
static_assert(is_built_as<std::vector<any_tensor>, std::vector<tensor<int>>>);
static_assert(!is_built_as<std::tuple<tensor<int>>, tensor<int>> &&
              !is_built_as<std::tuple<tensor<int>>, std::tuple<>>);
static_assert(parts_keep_their_types<std::tuple<tensor<int, dyn>>, std::tuple<tensor<int, 3>>>);
static_assert(!parts_keep_their_types<std::array<tensor<int>, 1>, std::tuple<tensor<float>>>);
static_assert(state_keeps_its_type<any_tensor, tensor<float>>);
static_assert(state_keeps_its_type<tensor<float, 2>, any_tensor>);
static_assert(!state_keeps_its_type<tensor<float, 2>, tensor<float, 2, 2>>);

TEST_CASE("loop_state: one part comes back as a tensor, several as a tuple") {
    using one = decltype(detail::as_result<std::tuple<tensor<float>>>({}));
    using two = decltype(detail::as_result<std::tuple<tensor<float>, tensor<int>>>({}));
    STATIC_REQUIRE(std::is_same_v<one, tensor<float>>);
    STATIC_REQUIRE(std::is_same_v<two, std::tuple<tensor<float>, tensor<int>>>);
}
