// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/initialize_table.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_initialize_table {

TEST_CASE("initialize_table: the path is an operand, read when it runs") {
    const graph_scope here{graph()};
    const auto words = index_table_from_file("rill_test_initialize_table.none");
    placeholder<std::string> path("path");
    const operation fill(
        apply_node(initialize_table_op{}, std::source_location::current(), words.handle(), path).node());
    const session s;
    CHECK_THROWS_AS(s.run(fill, feed(path, std::string("rill_test_initialize_table.neither"))), not_found);
    CHECK_THROWS_AS(s.run(words.size()), failed_precondition);
    CHECK_THROWS_AS(apply_node(initialize_table_op{}, std::source_location::current(), words.handle(), constant(1)),
                    invalid_argument);
}

} // namespace test_ops_table_initialize_table
