// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/lookup_table_size.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_lookup_table_size {

TEST_CASE("lookup_table_size: of a table only") {
    const graph_scope here{graph()};
    const hash_table<int, int> t;
    const mutex lock("lock");
    const session s;
    s.run(t.insert(1, 2));
    CHECK(s.run(t.size()) == 1);
    CHECK_THROWS_WITH(
        s.run(any_tensor(apply_node(lookup_table_size_op{}, std::source_location::current(), lock.handle()))),
        contains("hash_table is expected, not of a mutex"));
}

} // namespace test_ops_table_lookup_table_size
