// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/summary/histogram_summary.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;

TEST_CASE("histogram_summary: the bytes of a summary, in the collection, and what it refuses") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto summary = histogram_summary("w", x);
    const xt::xtensor<float, 1> value{1, 2, 2};
    CHECK(s.run(summary, feed(x, value)) ==
          detail::histogram_summary_bytes("w", io_test::array_of<float>({3}, {1, 2, 2})));
    CHECK_THROWS_AS(histogram_summary("t", constant("text")), invalid_argument);
    CHECK(g.collection(collections::summaries).size() == 1);
    CHECK(make_op("HistogramSummary")->equals(*make_op(histogram_summary_op{})));
}
