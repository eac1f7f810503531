// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the gradients of reduce_max and reduce_min have to do at NaN and infinity. `along` reduces axis 1 of a tensor.

#include <rill/ops/math/mul.hpp>

#include "ops/reduction.hpp"

namespace extremum_test {

using namespace rill;

/// `best` is the column of the larger (or smaller) infinity.
template <class F> void gradient_of_nan(const F& along, std::size_t best) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 3> x("x");
    const auto [rows] = gradients(along(x), x);
    const auto d = s.run(rows, feed(x, std::vector<double>{1, std::nan(""), 5, 2, 2, 2}));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(std::isnan(d(0, i)));
        CHECK(d(1, i) == 1. / 3);
    }
    const auto [second] = gradients(rows * x, x);
    CHECK(s.run(second, feed(x, std::vector<double>{1, 2, 2, 2, 2, 2}))(1, 0) == 1. / 3);
    const double infinity = std::numeric_limits<double>::infinity();
    const auto of_infinite = s.run(rows, feed(x, std::vector<double>{-infinity, 0, infinity, 1, 2, 3}));
    CHECK(of_infinite(0, best) == 1);
    CHECK(of_infinite(0, 1) == 0);
}

} // namespace extremum_test
