// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/summary/text_summary.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;

TEST_CASE("text_summary: the bytes of a summary, in the collection, and what it refuses") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string> x("x");
    const auto summary = text_summary("notes", x);
    CHECK(s.run(summary, feed(x, "*hi*")) ==
          detail::text_summary_bytes("notes", io_test::array_of<std::string>({}, {"*hi*"})));
    CHECK_THROWS_AS(text_summary("n", constant(1.f)), invalid_argument);
    CHECK(make_op("TextSummary")->equals(*make_op(text_summary_op{})));
}
