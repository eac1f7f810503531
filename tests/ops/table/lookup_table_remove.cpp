// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/lookup_table_remove.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_lookup_table_remove {

TEST_CASE("lookup_table_remove: many, one of them twice, and text") {
    const graph_scope here{graph()};
    const hash_table<int, int> t;
    const hash_table<std::string, int> words;
    const session s;
    s.run(t.insert(constant({1, 2, 3, 4}), constant({1, 2, 3, 4})));
    s.run(t.remove(constant({1, 3, 1})));
    CHECK(s.run(reduce_sum(t.find(constant({1, 2, 3, 4}), 0))) == 6);
    s.run(words.insert(constant({"a", "b"}), constant({1, 2})));
    s.run(words.remove(constant("a")));
    CHECK(s.run(words.find(constant("a"), 0)) == 0);
    CHECK(s.run(words.lookup(constant("b"))) == 2);
}

} // namespace test_ops_table_lookup_table_remove
