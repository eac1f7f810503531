// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/trace/step_recorder.hpp>

#include <thread>

#include "catch.hpp"
#include "virtual_environment.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("step_recorder: what begins together, on which thread, and what was broken off") {
    step_trace t;
    t.entries.resize(3); // of an earlier run
    virtual_environment clock(1);
    {
        step_recorder to(t, clock);
        const trace_scope all{to};
        clock.sleep(std::chrono::nanoseconds(5));
        const int group = to.begin({all.entry_of("a", "Add"), all.entry_of("b", "Mul")});
        int other = -1;
        std::thread([&] { other = to.begin(all.entry_of("c", "Exp")); }).join();
        clock.sleep(std::chrono::nanoseconds(2));
        to.end(group, 2);
        const int waits = to.begin(all.entry_of("w", "Dequeue"));
        clock.sleep(std::chrono::nanoseconds(10));
        to.end(waits, {.bytes = 8, .iterations = 3, .at = 9});
        CHECK(to.now() == 17);
        CHECK(other == 2);
    }
    REQUIRE(t.entries.size() == 4);
    CHECK(t.entries[1].node == "b");
    CHECK(t.entries[1].op == "Mul");
    CHECK(t.entries[1].begin == 5);
    CHECK(t.entries[1].end == 7);
    CHECK(t.entries[1].thread == 0);
    CHECK(t.entries[2].thread == 1);
    CHECK(t.entries[2].end == 17); // it never said so
    CHECK(t.entries[3].end == 9);
    CHECK(t.entries[3].bytes == 8);
    CHECK(t.entries[3].iterations == 3);
}

TEST_CASE("step_recorder: iterations are counted for each body of a loop, or said") {
    step_trace t;
    step_recorder to(t, environment::real());
    trace_scope all{to};
    all.iteration = 4;
    const int condition = 0, body = 0;
    CHECK(all.iteration_of(&condition) == 4);
    auto loop = all.within(0, {.how = region_attributes::form::repeat});
    CHECK(loop.inside == 0);
    CHECK(loop.iteration_of(&condition) == 0);
    CHECK(loop.iteration_of(&body) == 0);
    CHECK(loop.iteration_of(&condition) == 1);
    CHECK(loop.entry_of("a", "Add").inside == 0);
    auto branch = all.within(7, {.how = region_attributes::form::choose});
    CHECK(branch.iteration_of(&body) == -1);
    CHECK(branch.iteration_of(&body) == -1);

    step_context context;
    note_iterations(nullptr, 1); // nobody writes it down
    note_iterations(&context, 1);
    context.trace = &loop;
    const traced_context within(context, all);
    note_iterations(&within, 5);
    CHECK(within.scope.iterations == 5);
    CHECK(loop.iterations == -1);
}

TEST_CASE("step_recorder: bytes of arrays") {
    CHECK(bytes_of(std::vector<any_array>{}) == 0);
    CHECK(bytes_of(std::vector{any_array(dtype::float64, dims{2, 3}), any_array(), any_array(dtype::int8, dims{})}) ==
          49);
}
