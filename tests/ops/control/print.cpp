// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/print.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("print: the value, and a line in the log for each run, gradients flow through") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn> x("x");
    const auto shown = print(x, {x, constant(7)}, "seen:");
    const auto alone = print(x * 2.f, {});
    std::vector<std::string> lines;
    set_log_sink([&](log_level, std::string_view line) { lines.emplace_back(line); });
    const xt::xtensor<float, 1> value{1, 2};
    CHECK((s.run(shown, feed(x, value)) == value));
    CHECK(s.run(alone, feed(x, value))(1) == 4);
    const auto [d] = gradients(reduce_sum(print(x * x, {})), x);
    CHECK(s.run(d, feed(x, value))(1) == 4);
    set_log_sink({});
    REQUIRE(lines.size() >= 2);
    CHECK_THAT(lines[0], contains("seen: ") && contains("7"));
    CHECK_THAT(lines[1], contains("2") && contains("4"));
    CHECK(s.run(fetch(print(any_tensor(x), {}).name()), feed(x, value)).size() == 2);
}
