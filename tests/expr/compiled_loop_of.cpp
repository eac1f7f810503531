// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/compiled_loop_of.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_expr_compiled_loop_of {

using part = loop_part<1, float>;
using mixed = decltype(sin(std::declval<part>() * std::declval<tensor<float>>()) + 2.f);
static_assert(std::is_same_v<detail::parts_of<mixed>::type, detail::part_list<1, -1>>);
static_assert(std::is_same_v<detail::scalar_expression<part>::type, detail::loop_expression<leaf<float>, 1>>);
static_assert(std::is_same_v<detail::scalar_expression<int>::type, detail::loop_expression<leaf<int>, -1>>);
static_assert(std::is_void_v<detail::scalar_expression<tensor<float, 2>>::type>);
static_assert(std::is_void_v<detail::scalar_expression<any_tensor>::type>);

TEST_CASE("compiled_loop_of: a loop is found by its expressions and by which parts of the state they read") {
    using E = detail::scalar_expression<mixed>::type;
    CHECK(detail::loop_key_of<E>::text() == key_of<E::structure_type>() + "[1..]");
    CHECK(detail::loop_key_of<detail::scalar_expression<part>::type>::text() == "$0:float32[1.]");
    using condition = decltype(std::declval<part>() < 3.f);
    require_compiled_loop<condition, std::tuple<int, mixed>>();
    const auto key = detail::joined_loop_key({detail::loop_key_of<detail::scalar_expression<condition>::type>::text(),
                                              detail::loop_key_of<detail::scalar_expression<int>::type>::text(),
                                              detail::loop_key_of<E>::text()});
    CHECK(the_kernels().loops.find(key));
    CHECK_FALSE(the_kernels().loops.find(key + ";"));
}

} // namespace test_expr_compiled_loop_of
