// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/gradients.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_gradients {

struct source {
    static constexpr auto name = "Source";
    static constexpr auto no_gradient = "";
    tensor_type type{dtype::float32, dims{2}};
    static void fields(auto& op, auto& visit) { visit("type", op.type.type), visit("shape", op.type.shape); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {type}; }
    friend bool operator==(const source&, const source&) = default;
};

/// Any number of inputs of one type; its gradient passes what came to every input that wants it, counting the calls.
struct sum {
    static constexpr auto name = "Sum";
    std::shared_ptr<std::vector<std::string>> calls;
    int results = 1;

    static void fields(auto& op, auto& visit) { visit("results", op.results); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        return std::vector<tensor_type>(static_cast<std::size_t>(results), in[0]);
    }
    std::vector<endpoint> gradient(const gradient_request& r) const {
        std::string text = r.at.name + ":";
        for (const char w : r.wanted) text += w ? '1' : '0';
        text += " from ";
        endpoint passed;
        for (const auto& g : r.gradients) {
            text += g ? g.from->name + " " : "none ";
            if (g) passed = g;
        }
        if (calls) calls->push_back(text);
        std::vector<endpoint> out;
        for (const char w : r.wanted) out.push_back(w ? passed : endpoint());
        return out;
    }
    friend bool operator==(const sum&, const sum&) = default;
};

struct closed {
    static constexpr auto name = "ClosedDoor";
    static constexpr auto no_gradient = "it only opens one way";
    shape_result shape(const dims& a) const { return {a}; }
    friend bool operator==(const closed&, const closed&) = default;
};

struct silent {
    static constexpr auto name = "Silent";
    static constexpr auto no_gradient = "";
    shape_result shape(const dims& a) const { return {a}; }
    friend bool operator==(const silent&, const silent&) = default;
};

struct misshapen {
    static constexpr auto name = "Misshapen";
    shape_result shape(const dims&) const { return {dims{}}; }
    std::vector<endpoint> gradient(const gradient_request& r) const { return {r.gradient()}; }
    friend bool operator==(const misshapen&, const misshapen&) = default;
};

struct fixture {
    graph g;
    graph_scope here{g};
    std::shared_ptr<std::vector<std::string>> calls = std::make_shared<std::vector<std::string>>();

    endpoint add(op_ptr op, std::vector<endpoint> inputs = {}, const std::string& name = {}) {
        return {detail::add_node(g, std::move(op), std::move(inputs), name, false, std::source_location::current()), 0};
    }
    endpoint input(const std::string& name, const tensor_type& type = {dtype::float32, dims{2}}) {
        return add(make_op(source{type}), {}, name);
    }
    endpoint plus(std::vector<endpoint> inputs, const std::string& name, int results = 1) {
        return add(make_op(sum{calls, results}), std::move(inputs), name);
    }
    std::vector<endpoint> gradients(const std::vector<endpoint>& ys, const std::vector<endpoint>& xs,
                                    const std::vector<endpoint>& seeds = {}, const std::vector<endpoint>& stop = {}) {
        static const elementwise_info no_add{"Add"};
        static fixture* maker = nullptr; // gradient_ops are functions of the catalogue: without a state
        maker = this;
        static constexpr gradient_ops ops{
            &no_add,
            [](const endpoint& y) { return maker->add(make_op(source{type_of(y)}), {}, "ones_like_" + y.from->name); },
            [](const std::vector<endpoint>& terms) {
                return maker->add(make_op(sum{}), terms, "add_" + std::to_string(terms.size()));
            }};
        return add_gradients(ys, xs, seeds, stop, ops);
    }
};

} // namespace test_gradients

using test_gradients_fixture = test_gradients::fixture;

TEST_CASE_METHOD(test_gradients_fixture,
                 "gradients: each node once, in reverse order, after all its gradients have come") {
    const auto x = input("x"), unused = input("unused");
    const auto a = plus({x}, "a"), b = plus({a, x}, "b"), c = plus({a, b, unused}, "c");
    plus({c}, "beside"); // no y depends on it
    const auto d = gradients({c}, {x, a});
    CHECK(*calls == std::vector<std::string>{"c:110 from gradients/ones_like_c ", "b:11 from gradients/ones_like_c ",
                                             "a:1 from gradients/add_2 "});
    REQUIRE(d.size() == 2);
    CHECK(name_of(d[1]) == "gradients/add_2:0");
    CHECK(d[0].from->inputs.size() == 2); // of a, and of b directly
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: what x is not needed for, or does not reach, is not visited") {
    const auto x = input("x"), z = input("z");
    const auto a = plus({x}, "a"), b = plus({z}, "b"), y = plus({a, b}, "y");
    const auto other = plus({x}, "other");
    const auto d = gradients({y}, {a, other});
    CHECK(*calls == std::vector<std::string>{"y:10 from gradients/ones_like_y "}); // not past a, not into b
    CHECK(bool(d[0]));
    CHECK_FALSE(bool(d[1]));
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: several ys, the same twice, and y itself") {
    const auto x = input("x");
    const auto a = plus({x}, "a"), b = plus({a}, "b");
    CHECK(gradients({a, b}, {x})[0].from->inputs.size() == 2);
    CHECK(gradients({a, a}, {a})[0].from->inputs.size() == 2);
    CHECK(gradients({a}, {a})[0].from->name.find("ones_like_a") != std::string::npos);
}

TEST_CASE_METHOD(test_gradients_fixture,
                 "gradients: seeds take the place of ones, and must have the shape of their y") {
    const auto x = input("x"), seed = input("seed"), other = input("other", {dtype::float32, dims{3}});
    const auto a = plus({x}, "a"), b = plus({x}, "b");
    CHECK(gradients({a}, {x}, {seed})[0] == seed);
    gradients({a, b}, {x}, {endpoint(), seed});
    CHECK(calls->back() == "a:1 from gradients_1/ones_like_a ");
    CHECK_THROWS_AS(gradients({a}, {x}, {other}), invalid_argument);
    CHECK_THROWS_WITH(gradients({a}, {x}, {other}),
                      contains("'other:0'") && contains("[3]") && contains("'a:0'") && contains("[2]"));
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: stop nodes are taken for constants") {
    const auto x = input("x");
    const auto a = plus({x}, "a"), b = plus({a, x}, "b");
    const auto d = gradients({b}, {x, a}, {}, {a});
    CHECK(*calls == std::vector<std::string>{"b:11 from gradients/ones_like_b "});
    CHECK(d[0].from->name == "gradients/ones_like_b"); // by b's second input alone
    CHECK(bool(d[1]));                                 // the stop node itself has a gradient
    CHECK_FALSE(bool(gradients({b}, {x}, {}, {b})[0]));
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: outputs that no gradient reaches stay empty") {
    const auto x = input("x");
    const auto split = plus({x}, "split", 3);
    const auto y = plus({{split.from, 2}}, "y");
    const auto d = gradients({y}, {x, {split.from, 2}, {split.from, 0}});
    CHECK(calls->back() == "split:1 from none none gradients/ones_like_y ");
    CHECK(bool(d[0]));
    CHECK(bool(d[1]));
    CHECK_FALSE(bool(d[2]));
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: nothing flows into integers") {
    const auto x = input("x"), ids = input("ids", {dtype::int32, dims{2}});
    const auto y = plus({x, ids}, "y");
    const auto d = gradients({y}, {x, ids});
    CHECK(calls->back() == "y:10 from gradients/ones_like_y ");
    CHECK_FALSE(bool(d[1]));
    CHECK_THROWS_AS(gradients({ids}, {x}), invalid_argument);
    CHECK_THROWS_WITH(gradients({ids}, {x}), contains("'ids:0'") && contains("int32"));
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: an op without one says why, unless nothing flows by nature") {
    const auto x = input("x");
    const auto door = add(make_op(test_gradients::closed{}), {x}, "door");
    const auto y = plus({door, x}, "y");
    CHECK_THROWS_AS(gradients({y}, {x}), unimplemented);
    CHECK_THROWS_WITH(gradients({y}, {x}), contains("ClosedDoor") && contains("it only opens one way") &&
                                               contains("'door'") && contains("gradients.cpp:"));
    CHECK(bool(gradients({y}, {x}, {}, {door})[0])); // not asked if it is a constant here
    CHECK_FALSE(bool(gradients({add(make_op(test_gradients::silent{}), {x})}, {x})[0]));
}

TEST_CASE_METHOD(test_gradients_fixture,
                 "gradients: a rule that returns another shape is an internal error, no ys are invalid") {
    const auto x = input("x");
    const auto y = add(make_op(test_gradients::misshapen{}), {x});
    CHECK_THROWS_AS(gradients({y}, {x}), internal);
    CHECK_THROWS_AS(gradients({}, {x}), invalid_argument);
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: a chain of 100,000 nodes, without recursion") {
    const auto x = input("x");
    auto last = x;
    calls = nullptr;
    for (int i = 0; i < 100000; ++i) last = plus({last}, "n" + std::to_string(i));
    const auto before = g.size();
    const auto d = gradients({last}, {x});
    CHECK(bool(d[0]));
    CHECK(g.size() == before + 1); // the ones
}

TEST_CASE_METHOD(test_gradients_fixture,
                 "gradients: what is older than every x is not walked through, nor what is beyond a stop") {
    endpoint h = input("h");
    for (int i = 0; i < 100; ++i) h = plus({h}, "before");
    const auto x = plus({h}, "x"), a = plus({x, h}, "a");
    for (int i = 0; i < 100; ++i) plus({a}, "beside");
    const auto b = plus({a, x}, "b"), y = plus({b}, "y");
    const auto between = [](std::vector<endpoint> xs, std::vector<endpoint> ys, const std::vector<endpoint>& stop) {
        detail::hash_set<const node*> stopped;
        for (const auto& s : stop) stopped.insert(s.from);
        return detail::nodes_between(xs, ys, stopped);
    };
    CHECK(between({x}, {y}, {}) == std::vector<const node*>{x.from, a.from, b.from, y.from});
    CHECK(between({x}, {y}, {b}) == std::vector<const node*>{b.from, y.from});
    CHECK(between({b}, {a}, {}).empty());
    CHECK(gradients({a}, {b}) == std::vector<endpoint>{{}}); // y is older than x
}

TEST_CASE_METHOD(test_gradients_fixture, "gradients: of a node with many outputs, what came to each") {
    const auto x = input("x");
    const node* parts = plus({x}, "parts", 3).from;
    const auto first = plus({{parts, 2}}, "first"), second = plus({{parts, 0}, {parts, 2}}, "second");
    gradients({first, second}, {x});
    CHECK(calls->back() == "parts:1 from gradients/ones_like_second none gradients/add_2 ");
}
