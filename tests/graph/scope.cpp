// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/scope.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_scope {

struct source {
    static constexpr auto name = "Source";
    static constexpr auto no_gradient = "";
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::float32, dims{}}}; }
    friend bool operator==(const source&, const source&) = default;
};

/// A variable, a write of it, and a look-up in it.
struct state_op : source {
    static constexpr auto name = "State";
    static constexpr auto role = op_role::variable;
    static constexpr int inputs = 0;
};
struct write_op : source {
    static constexpr auto name = "Write";
    static constexpr int inputs = 1, alias = 0;
    input_list writes() const { return {0}; }
};
struct look_up_op : source {
    static constexpr auto name = "LookUp";
    static constexpr int inputs = 2, colocated_input = 1;
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        return {{dtype::float32, dims{2, dyn}}, {dtype::int64, dims{}}};
    }
};

template <class Op> endpoint made(const Op& op, endpoint_list inputs, const std::string& name = {}) {
    return {detail::add_node(current_graph(), make_op(op), std::move(inputs), name), 0};
}

struct handle {
    const rill::node* at;
    const rill::node* node() const { return at; }
};

inline handle add(const std::string& name = {}) {
    return {detail::add_node(current_graph(), make_op(source{}), {}, name)};
}

struct fresh {
    graph g;
    graph_scope here{g};
};

} // namespace test_scope

using test_scope_fresh = test_scope::fresh;

TEST_CASE_METHOD(test_scope_fresh, "scope: names nest, repeat with a suffix, and end with their scope") {
    using test_scope::add;
    CHECK(add().at->name == "source");
    CHECK(add().at->name == "source_1");
    {
        const name_scope outer("layer1");
        CHECK(add("x").at->name == "layer1/x");
        {
            const name_scope inner("part");
            CHECK(add("x").at->name == "layer1/part/x");
            CHECK(inner.prefix() == "layer1/part/");
            CHECK(outer.prefix() == "layer1/");
        }
        CHECK(add("x").at->name == "layer1/x_1");
    }
    const name_scope again("layer1");
    CHECK(add("x").at->name == "layer1_1/x");
}

TEST_CASE_METHOD(test_scope_fresh, "scope: names of scopes and nodes are checked") {
    CHECK_THROWS_AS(name_scope("a b"), invalid_argument);
    CHECK_THROWS_AS(name_scope(""), invalid_argument);
    CHECK_THROWS_WITH(test_scope::add("x:0"), contains("'x:0'"));
    CHECK(detail::scopes().prefix.empty());
    CHECK(g.size() == 0);
}

TEST_CASE_METHOD(test_scope_fresh, "scope: devices, inner ones override part by part") {
    using test_scope::add;
    CHECK(add().at->device.empty());
    const device_scope outer("/job:ps/task:1/gpu:0");
    CHECK(add().at->device == "/job:ps/task:1/device:gpu:0");
    {
        const device_scope inner("/task:2/cpu:0");
        CHECK(add().at->device == "/job:ps/task:2/device:cpu:0");
        std::vector<std::string> asked;
        const device_scope by_node([&](const node_info& n) {
            asked.push_back(std::string(n.op) + " " + std::string(n.name));
            return n.name == "special" ? std::string("/gpu:7") : std::string();
        });
        CHECK(add("special").at->device == "/job:ps/task:2/device:gpu:7");
        CHECK(add("other").at->device == "/job:ps/task:2/device:cpu:0");
        CHECK(asked == std::vector<std::string>{"Source special", "Source other"});
    }
    CHECK(add().at->device == "/job:ps/task:1/device:gpu:0");
    CHECK_THROWS_AS(device_scope("gpu:0"), invalid_argument);
    const device_scope wrong([](const node_info&) { return std::string("nonsense"); });
    CHECK_THROWS_AS(add(), invalid_argument);
}

TEST_CASE_METHOD(test_scope_fresh, "scope: control dependencies add up, and an empty scope clears them") {
    using test_scope::add;
    using nodes = std::vector<const node*>;
    const auto a = add(), b = add();
    {
        const control_dependencies first(a);
        const control_dependencies both(b, a);
        CHECK(add().at->control_inputs == nodes{a.at, b.at});
        {
            const control_dependencies none;
            CHECK(add().at->control_inputs.empty());
            const control_dependencies only(b);
            CHECK(add().at->control_inputs == nodes{b.at});
        }
        CHECK(add().at->control_inputs == nodes{a.at, b.at});
        // given ones and the scope's are one list
        CHECK(detail::add_node(g, make_op(test_scope::source{}), {}, {}, false, std::source_location::current(), {b.at})
                  ->control_inputs == nodes{b.at, a.at});
    }
    CHECK(add().at->control_inputs.empty());
}

TEST_CASE_METHOD(test_scope_fresh, "scope: colocation") {
    using test_scope::add;
    const auto w = add("w"), v = add("v");
    const colocate_with beside(w);
    CHECK(add().at->colocated == w.at);
    {
        const colocate_with other(v);
        CHECK(add().at->colocated == v.at);
    }
    CHECK(add().at->colocated == w.at);
}

TEST_CASE_METHOD(test_scope_fresh, "scope: the result of a write stands for its variable") {
    using namespace test_scope;
    struct edge_handle {
        endpoint at;
        const rill::node* node() const { return at.from; }
        endpoint end() const { return at; }
    };
    const endpoint v = made(state_op{}, {}, "v"), once = made(write_op{}, {v}), twice = made(write_op{}, {once});
    const endpoint other = made(look_up_op{}, {v, v});
    CHECK(variable_of(v) == v.from);
    CHECK(variable_of(twice) == v.from);
    CHECK(variable_of(other) == nullptr);
    CHECK(variable_of({}) == nullptr);
    {
        const colocate_with beside(edge_handle{twice});
        CHECK(add().at->colocated == v.from);
    }
    {
        const colocate_with beside(handle{once.from}); // an operation
        CHECK(add().at->colocated == v.from);
    }
    const colocate_with beside(edge_handle{{other.from, 1}});
    CHECK(add().at->colocated == other.from);
}

TEST_CASE_METHOD(test_scope_fresh, "scope: a look-up sits beside its variable unless a scope says otherwise") {
    using namespace test_scope;
    const endpoint v = made(state_op{}, {}, "v"), x = made(source{}, {}), written = made(write_op{}, {v});
    const auto colocated = [&](const endpoint& table) { return made(look_up_op{}, {x, table}).from->colocated; };
    CHECK(colocated(v) == v.from);
    CHECK(colocated(written) == v.from);
    CHECK(colocated(x) == nullptr);
    {
        const device_scope worker("/job:worker/task:1");
        CHECK(colocated(v) == v.from);
        const device_scope at_hand("/cpu:1", explicitly);
        CHECK(colocated(v) == nullptr);
        CHECK(made(look_up_op{}, {x, v}).from->device == "/job:worker/task:1/device:cpu:1");
        const device_scope inner("/cpu:2"); // the outer scope is still explicit
        CHECK(colocated(v) == nullptr);
    }
    {
        const device_scope sometimes([](const node_info& n) { return n.name == "here" ? "/cpu:1" : ""; }, explicitly);
        CHECK(colocated(v) == v.from);
        CHECK(made(look_up_op{}, {x, v}, "here").from->colocated == nullptr);
    }
    const colocate_with beside(handle{x.from});
    CHECK(colocated(v) == x.from);
    const device_scope at_hand("/cpu:1", explicitly);
    CHECK(colocated(v) == x.from); // the program's own colocation stays
}

TEST_CASE_METHOD(test_scope_fresh, "scope: what a device function sees of a node") {
    using namespace test_scope;
    const endpoint v = made(state_op{}, {}, "v");
    std::vector<std::string> seen;
    const device_scope on([&](const node_info& n) {
        std::string text =
            std::string(n.op) + (n.is_variable() ? " variable" : "") + (n.is_resource() ? " resource" : "");
        for (const auto& t : n.outputs) text += " " + to_string(t);
        seen.push_back(text + (n.colocated ? " beside " + n.colocated->name : ""));
        CHECK(n.definition->version() == 1);
        return std::string();
    });
    made(state_op{}, {}, "w");
    made(write_op{}, {v});
    made(look_up_op{}, {v, v});
    {
        const colocate_with beside(handle{v.from});
        made(state_op{}, {}, "slot");
    }
    CHECK(seen == std::vector<std::string>{"State variable float32 []", "Write float32 [] beside v",
                                           "LookUp float32 [2, ?] int64 [] beside v",
                                           "State variable float32 [] beside v"});
    // a node that the graph refuses is refused before the function is asked
    CHECK_THROWS_AS(made(write_op{}, {}), invalid_argument);
    CHECK_THROWS_AS(made(write_op{}, {endpoint()}), failed_precondition);
    CHECK(seen.size() == 4);
}

TEST_CASE_METHOD(test_scope_fresh, "scope: another graph begins outside all scopes, the same one keeps them") {
    using test_scope::add;
    const auto a = add("a");
    const name_scope layer("layer");
    const control_dependencies after(a);
    const colocate_with beside(a);
    const device_scope on("/cpu:0");
    {
        const graph other;
        const graph_scope there(other);
        CHECK(current_graph() == other);
        const auto b = add("b"); // would be refused after a node of another graph
        CHECK(b.at->name == "b");
        CHECK(b.at->control_inputs.empty());
        CHECK(b.at->colocated == nullptr);
        CHECK(b.at->device.empty());
    }
    CHECK(current_graph() == g);
    const graph_scope here_again(g);
    const auto c = add("c");
    CHECK(c.at->name == "layer/c");
    CHECK(c.at->control_inputs.size() == 1);
    CHECK(c.at->colocated == a.at);
    CHECK(c.at->device == "/device:cpu:0");
}

TEST_CASE("scope: the default graph is one per process, scopes belong to their thread") {
    const graph before = default_graph();
    const graph g;
    const graph_scope here(g);
    const name_scope layer("layer");
    std::thread([&] {
        CHECK(current_graph() == default_graph());
        CHECK(detail::scopes().prefix.empty());
    }).join();
    CHECK(current_graph() == g);
    CHECK(default_graph() == before);
    reset_default_graph();
    CHECK_FALSE(default_graph() == before);
    CHECK(default_graph().size() == 0);
    CHECK(current_graph() == g);
}

TEST_CASE_METHOD(test_scope_fresh, "scope: a scope ends when an exception leaves it") {
    try {
        const name_scope layer("layer");
        const device_scope on("/cpu:0");
        throw 1;
    } catch (int) {}
    const auto a = test_scope::add("a");
    CHECK(a.at->name == "a");
    CHECK(a.at->device.empty());
}

TEST_CASE("scope: a node without a place takes that of the first input that has one") {
    const test_scope::fresh f;
    const auto here = std::source_location::current();
    const endpoint nowhere{test_scope::add("nowhere").node(), 0};
    const endpoint placed{detail::add_node(f.g, make_op(test_scope::source{}), {}, "placed", false, here), 0};
    const auto line = [&](endpoint_list inputs, const std::source_location& where = {}) {
        return detail::add_node(f.g, make_op(test_scope::source{}), std::move(inputs), {}, false, where)->where.line();
    };
    CHECK(line({nowhere}) == 0);
    CHECK(line({nowhere, placed}) == here.line());
    CHECK(line({nowhere, placed}, std::source_location::current()) > here.line());
}
