// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/summary/image_summary.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;

TEST_CASE("image_summary: the bytes of a summary, in the collection, and what it refuses") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 1, 2, 1> x("x");
    const auto summary = image_summary("x", x, 1);
    CHECK(s.run(summary, feed(x, xt::xtensor<float, 4>{{{{0}, {1}}}, {{{2}, {3}}}})) ==
          detail::image_summary_bytes("x", io_test::array_of<float>({1, 1, 2, 1}, {0, 1}), 1));
    CHECK_THROWS_AS(image_summary("r", constant({1.f, 2.f})), invalid_argument);
    CHECK_THROWS_AS(image_summary("r", x, 0), invalid_argument);
    CHECK(make_op("ImageSummary")->equals(*make_op(image_summary_op{})));
}
