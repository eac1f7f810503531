// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/lookup_table_find.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_lookup_table_find {

TEST_CASE("lookup_table_find: a typed result for typed keys, any_tensor for others") {
    const graph_scope here{graph()};
    const hash_table<int, float> t;
    const session s;
    s.run(t.insert(constant({1, 2}), constant({1.5f, 2.5f})));
    const tensor<float> one = t.lookup(1);
    const any_tensor any = t.lookup(any_tensor(constant({2, 1})));
    CHECK(s.run(one) == 1.5f);
    CHECK(s.run(any).elements<float>()[0] == 2.5f);
    lookup_table_find_op op;
    op.key = dtype::int32;
    op.value = dtype::float32;
    const tensor_type handle{dtype::int64, dims{}}, keys{dtype::int32, dims{3}};
    CHECK(make_op(op)->outputs({std::vector{handle, keys}}) == std::vector{tensor_type{dtype::float32, dims{3}}});
    CHECK_THROWS_AS(make_op(op)->outputs({std::vector{handle, handle}}), invalid_argument);
    CHECK_THROWS_AS(make_op(op)->outputs({std::vector{handle, keys, handle, handle}}), invalid_argument);
}

} // namespace test_ops_table_lookup_table_find
