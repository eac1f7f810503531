// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/critical_section.hpp>

#include <algorithm>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_critical_section {

TEST_CASE("critical_section: what it makes lies between its ends, of whatever they are") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 2});
    const any_tensor two = constant(std::int64_t{2});
    const auto [given, left] = detail::critical_section(
        {make_op(semaphore_acquire_op{}), make_op(semaphore_release_op{}), {s.handle().end(), two.end()}},
        [&] { return std::tuple(s.value() + 10, s.value()); }, std::source_location::current());
    const session run;
    CHECK(run.run(std::tuple(given, left)) == std::tuple(std::int64_t{10}, std::int64_t{0}));
    CHECK(run.run(s.value()) == 2);
}

TEST_CASE("critical_section: an operation comes before the release, and nothing gives the release") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const variable<float> v("v", 0.f);
    operation made;
    const operation whole = lock.critical([&] { return made = group(v.assign_add(1.f)); });
    const auto& before = whole.node()->control_inputs;
    CHECK(std::ranges::find(before, made.node()) != before.end());
    const operation nothing = lock.critical([] {});
    const session run;
    run.run(v.initializer());
    run.run(whole);
    run.run(nothing);
    CHECK(run.run(v) == 1.f);
}

TEST_CASE("critical_section: what it returns belongs to the scopes that it returns from") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const variable<float> v("v", 1.f);
    int calls = 0;
    const operation outside = host_call([&] { ++calls; });
    { const control_dependencies after(outside); }
    const auto apart = lock.critical([&] { return v * 1.f; });
    const auto within = lock.critical([&] {
        const control_dependencies after(outside, v.assign(5.f));
        return v * 2.f;
    });
    const session run;
    run.run(v.initializer());
    CHECK(run.run(apart) == 1.f);
    CHECK(calls == 0);
    CHECK(run.run(within) == 10.f);
    CHECK(calls == 1);
}

} // namespace test_ops_sync_critical_section
