// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/graph.hpp>

#include <set>

#include "catch.hpp"

using namespace rill;

namespace test_graph {

struct source {
    static constexpr auto name = "Source";
    static constexpr auto no_gradient = "";
    tensor_type type{dtype::float32, dims{2}};
    std::shared_ptr<int> held = {};
    static void fields(auto& op, auto& visit) { visit("type", op.type.type), visit("shape", op.type.shape); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {type}; }
    friend bool operator==(const source&, const source&) = default;
};

struct join {
    static constexpr auto name = "Join";
    static constexpr auto no_gradient = "";
    int kind = 0;
    static void fields(auto& op, auto& visit) { visit("kind", op.kind); }
    shape_result shape(const dims& a, const dims& b) const { return rules::broadcast(a, b); }
    friend bool operator==(const join&, const join&) = default;
};

struct draw : join {
    static constexpr auto name = "Draw";
    static constexpr bool stateful = true;
    friend bool operator==(const draw&, const draw&) = default;
};

template <class Op>
const node* add(const graph& g, Op op, std::vector<endpoint> inputs = {}, const std::string& name = "n",
                bool share = false) {
    node_spec s;
    s.op = make_op(op);
    s.inputs = std::move(inputs);
    s.name = name;
    s.share = share;
    s.where = std::source_location::current();
    return g.state().add(std::move(s));
}

} // namespace test_graph

TEST_CASE("graph: names are unique") {
    using namespace test_graph;
    const graph g;
    CHECK(add(g, source{}, {}, "add")->name == "add");
    CHECK(add(g, source{}, {}, "add_1")->name == "add_1");
    CHECK(add(g, source{}, {}, "add")->name == "add_2"); // add_1 is taken by name
    CHECK(add(g, source{}, {}, "add")->name == "add_3");
    CHECK(add(g, source{}, {}, "add_1")->name == "add_1_1");
    CHECK(g.state().unique_name("scope") == "scope");
    CHECK(add(g, source{}, {}, "scope")->name == "scope_1");
    CHECK(g.state().unique_name("scope") == "scope_2");
    CHECK(g.state().find("add_3")->id == 3);
    CHECK(g.state().find("scope") == nullptr); // a scope is no node
    CHECK(g.size() == 6);
}

TEST_CASE("graph: nodes are numbered in order of creation, and typed by their ops") {
    using namespace test_graph;
    const graph g;
    const node* a = add(g, source{{dtype::float32, dims{2, 1}}});
    const node* b = add(g, source{{dtype::float32, dims{3}}});
    const node* c = add(g, join{}, {{a, 0}, {b, 0}});
    CHECK(c->output(0).shape == dims{2, 3});
    CHECK(c->owner == &g.state());
    const auto all = g.nodes();
    CHECK(all == std::vector<const node*>{a, b, c});
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i]->id == i);
}

TEST_CASE("graph: a broken shape rule names op, node, inputs with their shapes, and place, nothing is added") {
    using namespace test_graph;
    const graph g;
    const node* a = add(g, source{{dtype::float32, dims{2}}}, {}, "left");
    const node* b = add(g, source{{dtype::float32, dims{3}}}, {}, "right");
    CHECK_THROWS_AS(add(g, join{}, {{a, 0}, {b, 0}}, "broken"), invalid_argument);
    CHECK_THROWS_WITH(add(g, join{}, {{a, 0}, {b, 0}}, "broken"),
                      contains("join") && contains("'broken'") && contains("left:0 float32 [2]") &&
                          contains("right:0 float32 [3]") && contains("graph.cpp:"));
    CHECK(g.size() == 2);
    CHECK(add(g, source{}, {}, "broken")->name == "broken"); // the name is still free
}

TEST_CASE("graph: edges to another graph are refused, of every kind, and so are null ones") {
    using namespace test_graph;
    const graph g, other;
    const node* here = add(g, source{}, {}, "here");
    const node* there = add(other, source{}, {}, "there");
    CHECK_THROWS_AS(add(g, join{}, {{here, 0}, {there, 0}}), invalid_argument);
    CHECK_THROWS_WITH(add(g, join{}, {{here, 0}, {there, 0}}, "mixed"),
                      contains("'there'") && contains("another graph") && contains("'mixed'"));
    node_spec control;
    control.op = make_op(source{});
    control.control_inputs = {there};
    CHECK_THROWS_AS(g.state().add(control), invalid_argument);
    node_spec beside;
    beside.op = make_op(source{});
    beside.colocated = there;
    CHECK_THROWS_AS(g.state().add(beside), invalid_argument);
    CHECK_THROWS_AS(add(g, join{}, {{here, 0}, {}}), failed_precondition);
    CHECK(g.size() == 1);
}

TEST_CASE("graph: equal nodes are shared where asked for, and pure") {
    using namespace test_graph;
    const graph g;
    const endpoint a{add(g, source{}), 0}, b{add(g, source{}), 0};
    const node* first = add(g, join{}, {a, b}, "n", true);
    CHECK(add(g, join{}, {a, b}, "other_name", true) == first);
    CHECK(add(g, join{}, {b, a}, "n", true) != first);
    CHECK(add(g, join{1}, {a, b}, "n", true) != first);
    const node* own = add(g, join{2}, {a, b}, "n", false);
    CHECK(own != add(g, join{2}, {a, b}, "n", true)); // a node of its own is nobody's
    CHECK(add(g, draw{}, {a, b}, "n", true) != add(g, draw{}, {a, b}, "n", true));

    const auto with = [&](auto change) {
        node_spec s;
        s.op = make_op(join{});
        s.inputs = {a, b};
        s.share = true;
        change(s);
        return g.state().add(std::move(s));
    };
    CHECK(with([](node_spec&) {}) == first);
    const node* after = with([&](node_spec& s) { s.control_inputs = {a.from}; });
    const node* on = with([](node_spec& s) { s.device = "/device:cpu:0"; });
    const node* beside = with([&](node_spec& s) { s.colocated = b.from; });
    CHECK(std::set<const node*>{first, after, on, beside}.size() == 4);
    CHECK(with([&](node_spec& s) { s.control_inputs = {a.from}; }) == after);
}

TEST_CASE("graph: collections, initializers and seed belong to one graph") {
    using namespace test_graph;
    const graph g, other;
    const endpoint a{add(g, source{}), 0}, b{add(g, source{}), 0};
    g.add_to_collection(collections::losses, b);
    g.add_to_collection(collections::losses, a);
    g.add_to_collection("mine", a);
    CHECK(g.collection(collections::losses) == std::vector<endpoint>{b, a});
    CHECK(g.collection("mine") == std::vector<endpoint>{a});
    CHECK(g.collection("none").empty());
    CHECK(other.collection("mine").empty());
    g.state().set_initializer(a.from, b.from);
    CHECK(g.state().initializer(a.from) == b.from);
    CHECK(g.state().initializer(b.from) == nullptr);
    g.set_seed(17);
    CHECK(g.seed() == 17);
    CHECK(other.seed() == 0);
    CHECK_FALSE(g == other);
    const graph same = g;
    CHECK(same == g);
}

TEST_CASE("graph: lives as long as a copy of it, and no longer") {
    using namespace test_graph;
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = held;
    graph survivor;
    {
        const graph g;
        source s;
        s.held = std::move(held);
        add(g, std::move(s));
        survivor = g;
    }
    CHECK_FALSE(watch.expired());
    survivor = graph();
    CHECK(watch.expired());
}

TEST_CASE("graph: grows from many threads at once") {
    using namespace test_graph;
    const graph g;
    const endpoint root{add(g, source{}), 0};
    std::vector<std::thread> threads;
    std::atomic<bool> wrong{false};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            endpoint last = root;
            for (int i = 0; i < 300; ++i) {
                const node* n = add(g, join{i}, {last, root}, "same");
                add(g, join{i}, {root, root}, "shared", true);
                if (n->id <= last.from->id || g.state().find(n->name) != n) wrong = true;
                g.add_to_collection("all", {n, 0});
                last = {n, 0};
            }
        });
    for (int i = 0; i < 50; ++i) {
        const auto seen = g.nodes(); // a consistent snapshot: inputs come before their users
        for (const auto* n : seen)
            for (const auto& e : n->inputs)
                if (e.from->id >= n->id) wrong = true;
    }
    for (auto& t : threads) t.join();
    CHECK_FALSE(wrong);
    CHECK(g.size() == 1 + 4 * 300 + 300); // shared ones once
    CHECK(g.collection("all").size() == 4 * 300);
    std::set<std::string> names;
    for (const auto* n : g.nodes()) names.insert(n->name);
    CHECK(names.size() == g.size());
}
