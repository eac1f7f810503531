// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/stack_state.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_stack_state {

TEST_CASE("stack_state: checks what is pushed, and says what it is") {
    detail::stack_state st("s", {{dtype::int32, dims{dyn}}, 2});
    const int all[] = {1, 2, 3};
    st.push(any_array(dtype::int32, dims{3}, all, nullptr));
    st.push(any_array(dtype::int32, dims{0}, all, nullptr));
    CHECK_THROWS_AS(st.push(any_array(dtype::int32, dims{1}, all, nullptr)), resource_exhausted);
    CHECK_THROWS_WITH(st.push(any_array(dtype::int32, dims{}, all, nullptr)), contains("stack 's'"));
    const tensor_type vector{dtype::int32, dims{dyn}};
    CHECK_THROWS_WITH(st.pop({dtype::int32, dims{}}), contains("(int32 [?]), not (int32 [])"));
    CHECK_THROWS_AS(st.pop({dtype::int64, dims{dyn}}), invalid_argument);
    CHECK(st.size() == 2);
    CHECK(st.pop(vector).size() == 0);
    CHECK(st.pop(vector).elements<int>()[2] == 3);
    CHECK_THROWS_AS(st.pop(vector), failed_precondition);
    CHECK(st.described() == "stack of int32 [?], capacity 2");
    CHECK_THROWS_AS((detail::stack_traits{{dtype::int32, dims{}}, 0}).check(), invalid_argument);
}

} // namespace test_ops_queue_stack_state
