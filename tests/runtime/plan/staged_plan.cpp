// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/plan/staged_plan.hpp>

#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_staged_plan {

TEST_CASE("staged_plan: values, feeds, variables and constants reach every stage") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const variable<float> v("v", 10.f);
    const auto n = cast<float>(size(boolean_mask(x, x > 0.f)));
    const tensor y = n * v + reduce_sum(x) + constant(1.f);
    const session s;
    s.run(v.initializer());
    for (int round = 0; round < 2; ++round) {
        CHECK(s.run(y, feed(x, {1.f, -1.f, 2.f})) == 23.f);
        CHECK(s.run(std::tuple(y, v, x), feed(x, {5.f})) == std::tuple(16.f, 10.f, xt::xtensor<float, 1>{5.f}));
    }
    const auto step = s.make_callable(std::tuple(y), x);
    CHECK(std::get<0>(step(std::vector<float>{-1.f})) == 0.f);
    xt::xtensor<float, 1> place({2});
    s.run(into(boolean_mask(x, x > 0.f), place), feed(x, {1.f, -1.f, 2.f}));
    CHECK(place(1) == 2.f);
    CHECK_THROWS_WITH(s.run(boolean_mask(x, x > 0.f) + x, feed(x, {1.f, 1.f, -1.f})),
                      contains("[2]") && contains("[3]"));
}

TEST_CASE("staged_plan: writes and reads of variables keep their order across stages") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const variable<float> v("v", 1.f);
    const auto count = cast<float>(size(where(x > 0.f)));
    const tensor early = v * 10.f;              // at the start of the step
    const tensor written = v.assign_add(count); // behind the cut
    tensor<float> late;
    {
        const control_dependencies after(written);
        late = tensor(v * 100.f, "late");
    }
    const tensor behind = count * v; // a read of the value at the start, behind the cut
    const session s;
    s.run(v.initializer());
    CHECK(s.run(std::tuple(early, written, late, behind), feed(x, {1.f, 1.f})) == std::tuple(10.f, 3.f, 300.f, 2.f));
    CHECK(s.run(v) == 3.f);
    const auto alone = host_call<float>([](float a) { return a; }, v); // stands alone, before a write
    const tensor next = v.assign_add(alone);
    CHECK(s.run(std::tuple(next, alone)) == std::tuple(6.f, 3.f));
}

TEST_CASE("staged_plan: a view of what an earlier stage has written is kept from the next write") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const variable<float, 2> v("v", {1.f, 2.f});
    const tensor first = v.assign_add(constant({1.f, 1.f}));
    const auto view = [&] {
        const control_dependencies after(boolean_mask(x, x > 0.f)); // behind the cut
        return reshape<2>(expand_dims<0>(first));
    }();
    const tensor second = v.assign_add(constant({10.f, 10.f}));
    const session s;
    s.run(v.initializer());
    const auto [seen, written] = s.run(std::tuple(view, second), feed(x, {1.f}));
    CHECK((seen(0) == 2.f && seen(1) == 3.f));
    CHECK((written(0) == 12.f && written(1) == 13.f));
}

TEST_CASE("staged_plan: a variable that the step only reads is the one it began with, in every stage") {
    const graph_scope here{graph()};
    const variable<float> v("v", 1.f);
    const tensor first = v * 1.f;
    const session* running = nullptr;
    const tensor change = v.assign_add(1.f);
    const auto meanwhile = host_call<float>([&](float a) { return running->run(change), a; }, first);
    const tensor second = meanwhile * 0.f + v;
    const session s;
    running = &s;
    s.run(v.initializer());
    CHECK(s.run(std::tuple(first, second)) == std::tuple(1.f, 1.f));
    CHECK(s.run(v) == 2.f);
}

} // namespace test_runtime_staged_plan
