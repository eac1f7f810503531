// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/session_core.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"
#include "counting_allocator.hpp"

using namespace rill;

namespace test_session_core {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"input"};
    tensor<float> y{x + 1.f, "layer/output"};
    operation done = group(y);
    detail::session_core core{g, {}};
};

} // namespace test_session_core

using test_session_core_fixture = test_session_core::fixture;

TEST_CASE_METHOD(test_session_core_fixture, "session core: edges by name") {
    CHECK(core.edge("layer/output:0") == y.end());
    CHECK(core.edge("layer/output") == y.end());
    CHECK_THROWS_AS(core.edge("layer/output:1"), not_found);
    CHECK_THROWS_WITH(core.edge("layer/output:1"), contains("1 outputs"));
    CHECK_THROWS_AS(core.edge("group"), not_found); // an operation has no value
    for (const auto* text : {"input:", "input:x", "input:-1", "input:99999999999999999999"}) {
        INFO(text);
        CHECK_THROWS_AS(core.edge(text), invalid_argument);
    }
}

TEST_CASE_METHOD(test_session_core_fixture, "session core: an unknown name brings the nearest ones") {
    CHECK_THROWS_AS(core.edge("layer/outptu"), not_found);
    CHECK_THROWS_WITH(core.edge("layer/outptu"),
                      contains("no node 'layer/outptu'") && contains("did you mean 'layer/output'"));
    CHECK_THROWS_WITH(core.edge("inputs:0"), contains("'input'"));
    CHECK_THROWS_WITH(core.edge("something_else_altogether"), !contains("did you mean"));
}

TEST_CASE_METHOD(test_session_core_fixture, "session core: a plan is made once per fetches, targets and feeds") {
    const detail::plan_key key{{y}, {}, {x}};
    const auto p = core.find_plan(key);
    CHECK(core.find_plan(key) == p);
    CHECK(core.find_plan({{y}, {done.node()}, {x}}) != p);
    const tensor more(y + 1.f); // a growing graph invalidates nothing
    CHECK(core.find_plan(key) == p);
}

TEST_CASE_METHOD(test_session_core_fixture,
                 "session core: keys are checked: null handles, other graphs, edges fed twice") {
    const graph other;
    const graph_scope there(other);
    const placeholder<float> stranger("stranger");
    CHECK_THROWS_AS(core.find_plan({{endpoint()}, {}, {}}), failed_precondition);
    CHECK_THROWS_AS(core.find_plan({{}, {nullptr}, {}}), failed_precondition);
    CHECK_THROWS_WITH(core.find_plan({{stranger}, {}, {}}),
                      contains("fetch") && contains("'stranger'") && contains("another graph"));
    CHECK_THROWS_WITH(core.find_plan({{}, {stranger.node()}, {}}), contains("run") && contains("'stranger'"));
    CHECK_THROWS_WITH(core.find_plan({{y}, {}, {x, stranger}}), contains("feed") && contains("'stranger'"));
    CHECK_THROWS_WITH(core.find_plan({{y}, {}, {x, x}}), contains("'input:0'") && contains("twice"));
}

TEST_CASE_METHOD(test_session_core_fixture,
                 "session core: runs with more feeds than fit on the stack, and values stay until the result goes") {
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
    const auto p = core.find_plan({fetches, {}, edges});
    const auto first = core.run(*p, values);
    const auto second = core.run(*p, values);
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(first.type(i).shape == dims{static_cast<index_t>(i) + 1});
        CHECK(static_cast<const float*>(first.data(i))[i] == static_cast<float>(i) + 1.f);
        CHECK(first.data(i) != second.data(i));
    }
}

TEST_CASE_METHOD(test_session_core_fixture, "session core: closed means cancelled") {
    const auto p = core.find_plan({{y}, {}, {x}});
    any_array one(dtype::float32, dims{});
    *static_cast<float*>(one.mutable_data()) = 1;
    const std::vector<any_array> values{one};
    CHECK(*static_cast<const float*>(core.run(*p, values).data(0)) == 2.f);
    core.close();
    CHECK(core.closed());
    CHECK_THROWS_AS(core.run(*p, values), cancelled);
    CHECK_THROWS_AS(core.find_plan({{y}, {}, {x}}), cancelled);
}

TEST_CASE("session core: writes of a variable leave the version that is held alone, and copy nothing") {
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
        const auto core = detail::make_session_core(g, {.memory = &memory});
        const std::vector<any_array> one{fed}, none;
        const auto run = [&](const node* write) {
            const bool takes = write != writes.back();
            core->run(*core->find_plan({{}, {write}, takes ? std::vector<endpoint>{x} : std::vector<endpoint>{}}),
                      takes ? one : none);
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

TEST_CASE("session core: closing gives memory back, though callables hold plans") {
    tracked_allocator memory;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor y = x * 2.f + 1.f;
    auto core = std::make_shared<detail::session_core>(g, session_options{.memory = &memory});
    const auto p = core->find_plan({{y}, {}, {x}});
    any_array many(dtype::float32, dims{1000});
    std::fill_n(static_cast<float*>(many.mutable_data()), 1000, 1.f);
    const std::vector<any_array> values{many};
    CHECK(*static_cast<const float*>(core->run(*p, values).data(0)) == 3.f);
    CHECK(memory.bytes_in_use() > 0);
    core->close();
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("session core: plans that were not used for long are given up, not those of callables") {
    tracked_allocator memory;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto core = std::make_shared<detail::session_core>(g, session_options{.memory = &memory});
    any_array many(dtype::float32, dims{1000});
    std::fill_n(static_cast<float*>(many.mutable_data()), 1000, 1.f);
    const std::vector<any_array> values{many};
    const auto next_key = [&] { return detail::plan_key{{tensor<float, dyn>(x * 2.f)}, {}, {x}}; };
    const detail::plan_key often = next_key(), once = next_key();
    const std::weak_ptr<detail::plan> kept = core->find_plan(often), given_up = core->find_plan(once);
    const auto held = core->find_plan(next_key());
    std::size_t after_hundred = 0;
    for (int i = 0; i < 300; ++i) {
        const auto p = core->find_plan(next_key());
        CHECK(static_cast<const float*>(core->run(*p, values).data(0))[999] == 2.f);
        CHECK(core->find_plan(often) == kept.lock());
        if (i == 100) after_hundred = memory.bytes_in_use();
    }
    CHECK_FALSE(kept.expired());
    CHECK(given_up.expired());
    CHECK(memory.bytes_in_use() == after_hundred);
    CHECK(core->find_plan(once) != nullptr); // made anew
    CHECK(static_cast<const float*>(core->run(*held, values).data(0))[0] == 2.f);
    const std::string report = core->memory_report();
    CHECK(std::count(report.begin(), report.end(), '\n') > 60);
    CHECK(std::count(report.begin(), report.end(), '\n') <= 66);
    core->close(); // that of the callable too
    CHECK(memory.bytes_in_use() == 0);
    CHECK_THROWS_AS(core->run(*held, values), cancelled);
}
