// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/summary/scalar_summary.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;

TEST_CASE("scalar_summary: the bytes of a summary, in the collection, and what it refuses") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float> x("x");
    const auto summary = scalar_summary("loss", x);
    CHECK(s.run(summary, feed(x, 0.5f)) == detail::scalar_summary_bytes("loss", 0.5));
    CHECK_THROWS_AS(scalar_summary("two", constant({1.f, 2.f})), invalid_argument);
    CHECK_THROWS_AS(s.run(scalar_summary("open", any_placeholder("any", dtype::float32)),
                          feed("any:0", xt::xtensor<float, 1>{1, 2})),
                    invalid_argument);
    CHECK(g.collection(collections::summaries).size() == 2);
    CHECK(make_op("ScalarSummary")->equals(*make_op(scalar_summary_op{})));
}
