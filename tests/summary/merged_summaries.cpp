// SPDX-License-Identifier: BSD-3-Clause
#include <rill/summary/merged_summaries.hpp>

#include <rill/ops/summary/scalar_summary.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("merged_summaries: the bytes of all, one after another, none: an empty text") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK(s.run(merged_summaries()).empty());
    scalar_summary("a", constant(1.f));
    const auto b = scalar_summary("b", constant(2));
    CHECK(s.run(merged_summaries()) == detail::scalar_summary_bytes("a", 1) + detail::scalar_summary_bytes("b", 2));
    CHECK(s.run(merge_summaries({b})) == detail::scalar_summary_bytes("b", 2));
}
