// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/embedding_lookup.hpp>

#include <rill/core/array_text.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("embedding_lookup: rows by ids of a tensor, and of the host") {
    const graph_scope here{graph()};
    const tensor table = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    const session s;
    const auto rows = embedding_lookup(table, constant({{2, 0}}));
    static_assert(std::is_same_v<std::remove_const_t<decltype(rows)>, tensor<float, 1, 2, 2>>);
    CHECK(to_string(s.run(rows)) == "{{{5, 6}, {1, 2}}}");
    CHECK(to_string(s.run(embedding_lookup(table, {1, 1}))) == "{{3, 4}, {3, 4}}");
    CHECK(to_string(s.run(embedding_lookup(table, 2))) == "{5, 6}");
}
