// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the quotients and remainders of integers share.

#include "ops/harness.hpp"

namespace quotient_test {

using namespace rill;

/// By zero they are refused, and the session goes on; `of_ones` and `of_least` are what 1 by 1 and the least number by -1 give.
template <class F> void by_zero(const F& f, int of_ones, int of_least) {
    placeholder<int, dyn> a("a"), b("b");
    const tensor<int, dyn> y(f(a, b), "result");
    const session s;
    const std::vector<int> ones(20, 1);
    std::vector<int> some(20, 1);
    some[18] = 0;
    CHECK_THROWS_AS(s.run(y, feed(a, ones), feed(b, some)), invalid_argument);
    CHECK_THROWS_WITH(s.run(y, feed(a, ones), feed(b, some)), contains("result") && contains("division by zero"));
    CHECK(s.run(y, feed(a, ones), feed(b, ones))(18) == of_ones);
    constexpr int least = std::numeric_limits<int>::min();
    CHECK(s.run(y, feed(a, {least, least, least + 1}), feed(b, {-1, 1, 2}))(0) == of_least);
}

} // namespace quotient_test
