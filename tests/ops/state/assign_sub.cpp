// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/assign_sub.hpp>

#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include <thread>

#include "catch.hpp"

using namespace rill;

TEST_CASE("assign_sub: in place, by a tensor or a number, atomic between threads") {
    const graph g;
    const graph_scope here(g);
    variable<int, 20> w("w", constant_value<int, 20>(to_any_array<int>(std::vector<int>(20, 3), dims{20})));
    const auto by_tensor = w.assign_sub(constant_value<int, 20>(to_any_array<int>(std::vector<int>(20, 2), dims{20})));
    const auto one = w.assign_sub(1);
    session s;
    s.run(global_variables_initializer());
    CHECK(s.run(by_tensor)(19) == 1);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            for (int i = 0; i < 100; ++i) s.run(operation(one.node()));
        });
    for (auto& t : all) t.join();
    CHECK(s.run(w)(0) == 1 - 400);
}
