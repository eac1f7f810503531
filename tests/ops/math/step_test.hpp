// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the gradients of steps (floor, ceil, sign) have to do: they are 0 whatever comes from above.

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

namespace step_test {

using namespace rill;

template <class F> void gradient_is_zero(const F& f) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x"), above("above");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto [d] = gradients(f(x) * above, x);
    const auto [of_rest] = gradients(f(x) * above * x, x);
    const std::vector<double> at{0.5, -1.5, infinity};
    const auto zeros = s.run(d, feed(x, at), feed(above, {infinity, std::nan(""), 1.0}));
    CHECK(std::vector<double>(zeros.begin(), zeros.end()) == std::vector<double>(3));
    CHECK(s.run(of_rest, feed(x, at), feed(above, {2.0, 2.0, 2.0}))(1) == 2 * s.run(f(x), feed(x, at))(1));
    CHECK(s.run(derivative(f(x), x), feed(x, at))(0) == 0);
}

} // namespace step_test
