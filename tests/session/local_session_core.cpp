// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/local_session_core.hpp>

#include <memory>
#include <vector>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/resources/variable_state.hpp>

#include "catch.hpp"
#include "counting_allocator.hpp"
#include "session/core_fixture.hpp"

using namespace rill;

TEST_CASE_METHOD(test_session_core_fixture,
                 "local session core: a run is prepared once per fetches, targets and feeds") {
    const detail::plan_key key{{y}, {}, {x}};
    const auto p = core.find_run(key);
    CHECK(core.find_run(key) == p);
    CHECK(core.find_run({{y}, {done.node()}, {x}}) != p);
    const tensor more(y + 1.f); // a growing graph invalidates nothing
    CHECK(core.find_run(key) == p);
}

TEST_CASE_METHOD(test_session_core_fixture,
                 "local session core: keys are checked: null handles, other graphs, edges fed twice") {
    const graph other;
    const graph_scope there(other);
    const placeholder<float> stranger("stranger");
    CHECK_THROWS_AS(core.find_run({{endpoint()}, {}, {}}), failed_precondition);
    CHECK_THROWS_AS(core.find_run({{}, {nullptr}, {}}), failed_precondition);
    CHECK_THROWS_WITH(core.find_run({{stranger}, {}, {}}),
                      contains("fetch") && contains("'stranger'") && contains("another graph"));
    CHECK_THROWS_WITH(core.find_run({{}, {stranger.node()}, {}}), contains("run") && contains("'stranger'"));
    CHECK_THROWS_WITH(core.find_run({{y}, {}, {x, stranger}}), contains("feed") && contains("'stranger'"));
    CHECK_THROWS_WITH(core.find_run({{y}, {}, {x, x}}), contains("'input:0'") && contains("twice"));
}

TEST_CASE_METHOD(
    test_session_core_fixture,
    "local session core: runs with more feeds than fit on the stack, and values stay until the result goes") {
    std::vector<endpoint> edges;
    std::vector<any_array> values;
    std::vector<endpoint> fetches;
    for (int i = 0; i < 20; ++i) {
        const placeholder<float, dyn> p;
        edges.push_back(p);
        fetches.push_back(tensor<float, dyn>(p + 1.f));
        any_array a(dtype::float32, dims{i + 1});
        std::fill_n(static_cast<float*>(a.mutable_data()), i + 1, static_cast<float>(i));
        values.push_back(a);
    }
    const auto p = core.find_run({fetches, {}, edges});
    const auto first = p->run(values);
    const auto second = p->run(values);
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(first.type(i).shape == dims{static_cast<index_t>(i) + 1});
        CHECK(static_cast<const float*>(first.data(i))[i] == static_cast<float>(i) + 1.f);
        CHECK(first.data(i) != second.data(i));
    }
}

TEST_CASE_METHOD(test_session_core_fixture, "local session core: closed means cancelled") {
    const auto p = core.find_run({{y}, {}, {x}});
    any_array one(dtype::float32, dims{});
    *static_cast<float*>(one.mutable_data()) = 1;
    const std::vector<any_array> values{one};
    CHECK(*static_cast<const float*>(p->run(values).data(0)) == 2.f);
    core.close();
    CHECK(core.closed());
    CHECK_THROWS_AS(p->run(values), cancelled);
    CHECK_THROWS_AS(core.find_run({{y}, {}, {x}}), cancelled);
}

TEST_CASE("local session core: writes of a variable leave the version that is held alone, and copy nothing") {
    constexpr index_t n = 3000;
    using values = std::vector<float>;
    counting_allocator memory(n * sizeof(float));
    const graph g;
    const graph_scope here(g);
    const placeholder<float, n> x("x");
    const variable<float, n> v("v", 3.f);
    const std::vector<const node*> writes{v.assign(x).node(), v.assign_add(x).node(), v.assign_sub(x * 0.25f).node(),
                                          v.assign(v * x + 1.f).node(), v.initializer().node()};
    any_array fed(dtype::float32, dims{n});
    for (index_t i = 0; i < n; ++i) static_cast<float*>(fed.mutable_data())[i] = static_cast<float>(i % 89) * 0.3f;
    const auto written = [&](bool held, int& blocks) {
        const auto core = detail::make_local_session_core(g, {.memory = &memory});
        const std::vector<any_array> one{fed}, none;
        const auto run = [&](const node* write) {
            const bool takes = write != writes.back();
            const auto p = core->find_run({{}, {write}, takes ? std::vector<endpoint>{x} : std::vector<endpoint>{}});
            p->run(takes ? one : none);
        };
        const auto of = [](const std::shared_ptr<detail::element_block>& version) {
            const auto* const data = static_cast<const float*>(version->data());
            return values(data, data + n);
        };
        std::vector<values> all;
        run(writes.back());
        for (const auto* w : writes) run(w); // makes the frames
        const auto state = core->shared(v.node());
        std::shared_ptr<detail::element_block> reader;
        const int before = memory.blocks();
        for (const auto* w : writes) {
            if (held) reader = state->read();
            const values was = of(state->read());
            run(w);
            if (held) CHECK(of(reader) == was);
            all.push_back(of(state->read()));
        }
        blocks = memory.blocks() - before;
        return all;
    };
    int without = 0, with = 0;
    const auto alone = written(false, without), beside = written(true, with);
    CHECK(alone == beside);
    CHECK(alone[0][4] == 1.2f);
    CHECK(alone[4][4] == 3.f);
    CHECK(without == 0);
    CHECK(with == 1);
    CHECK(memory.in_use() == 0);
}

TEST_CASE("local session core: closing gives memory back, though callables hold runs") {
    tracked_allocator memory;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor y = x * 2.f + 1.f;
    auto core = std::make_shared<detail::local_session_core>(g, session_options{.memory = &memory});
    const auto p = core->find_run({{y}, {}, {x}});
    any_array many(dtype::float32, dims{1000});
    std::fill_n(static_cast<float*>(many.mutable_data()), 1000, 1.f);
    const std::vector<any_array> values{many};
    CHECK(*static_cast<const float*>(p->run(values).data(0)) == 3.f);
    CHECK(memory.bytes_in_use() > 0);
    core->close();
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("local session core: runs that were not used for long are given up, not those of callables") {
    tracked_allocator memory;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto core = std::make_shared<detail::local_session_core>(g, session_options{.memory = &memory});
    any_array many(dtype::float32, dims{1000});
    std::fill_n(static_cast<float*>(many.mutable_data()), 1000, 1.f);
    const std::vector<any_array> values{many};
    const auto next_key = [&] { return detail::plan_key{{tensor<float, dyn>(x * 2.f)}, {}, {x}}; };
    const detail::plan_key often = next_key(), once = next_key();
    const std::weak_ptr<detail::prepared_run> kept = core->find_run(often), given_up = core->find_run(once);
    const auto held = core->find_run(next_key());
    std::size_t after_hundred = 0;
    for (int i = 0; i < 300; ++i) {
        const auto p = core->find_run(next_key());
        CHECK(static_cast<const float*>(p->run(values).data(0))[999] == 2.f);
        CHECK(core->find_run(often) == kept.lock());
        if (i == 100) after_hundred = memory.bytes_in_use();
    }
    CHECK_FALSE(kept.expired());
    CHECK(given_up.expired());
    CHECK(memory.bytes_in_use() == after_hundred);
    CHECK(core->find_run(once) != nullptr); // made anew
    CHECK(static_cast<const float*>(held->run(values).data(0))[0] == 2.f);
    const std::string report = core->memory_report();
    CHECK(std::count(report.begin(), report.end(), '\n') > 60);
    CHECK(std::count(report.begin(), report.end(), '\n') <= 66);
    core->close(); // that of the callable too
    CHECK(memory.bytes_in_use() == 0);
    CHECK_THROWS_AS(held->run(values), cancelled);
}
