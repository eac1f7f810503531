// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/lookup_table_export.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_lookup_table_export {

TEST_CASE("lookup_table_export: of a table that is empty, and of one that is not") {
    const graph_scope here{graph()};
    const hash_table<std::int64_t, std::string> t;
    const auto [keys, values] = t.entries();
    const session s;
    CHECK(s.run(size(keys)) == 0);
    s.run(t.insert(constant({std::int64_t(5)}), constant({"five"})));
    CHECK(s.run(keys)(0) == 5);
    CHECK(s.run(values)(0) == "five");
}

} // namespace test_ops_table_lookup_table_export
