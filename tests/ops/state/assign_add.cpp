// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/assign_add.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include <thread>

#include "catch.hpp"

using namespace rill;

TEST_CASE("assign_add: in place, by a tensor or a number, atomic between threads") {
    const graph g;
    const graph_scope here(g);
    variable<int, 20> w("w", constant_value<int, 20>(to_any_array<int>(std::vector<int>(20, 3), dims{20})));
    const auto by_tensor = w.assign_add(constant_value<int, 20>(to_any_array<int>(std::vector<int>(20, 2), dims{20})));
    const auto one = w.assign_add(1);
    session s;
    s.run(global_variables_initializer());
    CHECK(s.run(by_tensor)(19) == 5);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            for (int i = 0; i < 100; ++i) s.run(operation(one.node()));
        });
    for (auto& t : all) t.join();
    CHECK(s.run(w)(0) == 5 + 400);
}

TEST_CASE("assign_add: several in one step add up, each to what it finds, uses of the variable being the step's first "
          "value") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2> x("x");
    variable<float, 2> v("v", {1.f, 1.f}), u("u", {1.f, 1.f}), w("w", {1.f, 1.f});
    const operation both[] = {group(v.assign_add(x), v.assign_add(x)),
                              group(u.assign_add(x * 1.f), u.assign_add(x * 2.f)),
                              group(w.assign_add(w), w.assign_add(w * x))};
    session s;
    s.run(global_variables_initializer());
    for (const auto& step : both) s.run(step, feed(x, std::vector<float>{1, 3}));
    CHECK(s.run(v)(1) == 1 + 3 + 3);
    CHECK(s.run(u)(1) == 1 + 3 + 6);
    CHECK(s.run(w)(1) == 1 + 1 + 3);
}
