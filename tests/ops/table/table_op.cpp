// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/table_op.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_table_op {

TEST_CASE("table_op: operands of other dtypes are refused, naming both") {
    CHECK_NOTHROW(detail::check_table_operand("keys", {dtype::int32, dims{}}, dtype::int32));
    CHECK_THROWS_WITH(detail::check_table_operand("keys", {dtype::int32, dims{}}, dtype::string),
                      contains("keys are string, not int32"));
}

} // namespace test_ops_table_table_op
