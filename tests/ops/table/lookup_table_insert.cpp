// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/lookup_table_insert.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_lookup_table_insert {

TEST_CASE("lookup_table_insert: before a look-up that waits for it") {
    const graph_scope here{graph()};
    const hash_table<int, int> t;
    placeholder<int, dyn> keys("keys");
    const operation put = t.insert(keys, keys * 10);
    tensor<int> sum;
    {
        const control_dependencies after(put);
        sum = reduce_sum(t.lookup(keys));
    }
    const session s;
    CHECK(s.run(sum, feed(keys, {1, 2, 3})) == 60);
    CHECK(find_op(lookup_table_insert_op::name));
}

} // namespace test_ops_table_lookup_table_insert
