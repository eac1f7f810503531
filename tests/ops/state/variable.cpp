// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/variable.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"
#include "counting_allocator.hpp"

using namespace rill;

TEST_CASE("variable: a first value that is computed of what is fed") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2> x("x");
    const variable v("v", x * 2.f, {.trainable = false});
    static_assert(std::is_same_v<decltype(v), const variable<float, 2>>);
    const session s;
    s.run(global_variables_initializer(), feed(x, {1.f, 2.f}));
    CHECK(s.run(v)(1) == 4.f);
    CHECK_THROWS_WITH(s.run(global_variables_initializer()), contains("placeholder 'x'"));
    CHECK(s.run(v)(1) == 4.f);
}

TEST_CASE("variable: first values of every form, collections, names") {
    const graph g;
    const graph_scope here(g);
    variable<float> a("a", 1.5f);
    variable<double> from_int("from_int", 2);
    variable<float, 2, 2> braces("braces", {{1.f, 2.f}, {3.f, 4.f}});
    variable<int, 3> range("range", std::vector<int>{1, 2, 3});
    variable<float, 2> array("array", xt::xtensor<float, 1>{5.f, 6.f});
    variable<float, 2> tied("tied", constant({7.f, 8.f}), {.trainable = false});
    variable<std::string> text("text", std::string("hello"));
    variable<int> counter("counter", 0, {.local = true});
    CHECK(g.collection(collections::trainable_variables).size() == 6);
    CHECK(g.collection(collections::variables).size() == 7);
    CHECK(g.collection(collections::local_variables).size() == 1);
    CHECK(a.initializer().name() == "a/initialize");

    session s;
    CHECK_THROWS_AS(s.run(a), failed_precondition);
    s.run(global_variables_initializer());
    CHECK_THROWS_AS(s.run(counter), failed_precondition);
    s.run(local_variables_initializer());
    CHECK(s.run(counter) == 0);
    CHECK(s.run(a) == 1.5f);
    CHECK(s.run(from_int) == 2.0);
    CHECK(s.run(braces)(1, 0) == 3.f);
    CHECK(s.run(range)(2) == 3);
    CHECK(s.run(array)(1) == 6.f);
    CHECK(s.run(tied)(0) == 7.f);
    CHECK(s.run(text) == "hello");
    s.run(a.assign(9.f));
    s.run(a.initializer());
    CHECK(s.run(a) == 1.5f);
}

TEST_CASE("variable: wrong first values are refused, and the message names the variable") {
    const graph g;
    const graph_scope here(g);
    try {
        variable<float, 3> v("v", std::vector<float>{1.f, 2.f});
        FAIL("no error");
    } catch (const invalid_argument&) {}
    try {
        variable<float, 3> v("ragged", {1.f, 2.f});
        FAIL("no error");
    } catch (const invalid_argument& problem) {
        CHECK(std::string(problem.what()).find("'ragged'") != std::string::npos);
    }
}

TEST_CASE("variable: one that failed leaves nothing behind") {
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_AS((variable<float, 2>("v", {1.f})), invalid_argument);
    CHECK_THROWS_AS((variable<float, 2>("v", std::vector<float>{1.f, 2.f, 3.f})), invalid_argument);
    CHECK(g.size() == 0);
    CHECK(g.collection(collections::variables).empty());
    CHECK(variable<float, 2>("v", {1.f, 2.f}).name() == "v:0");
}

TEMPLATE_TEST_CASE("variable: of 16 bits, set by numbers of its type", "", half, bfloat16) {
    using H = TestType;
    const graph g;
    const graph_scope here(g);
    variable<H> v("v", H(1.f));
    variable<H, 2> pair("pair", {H(1.f), H(2.f)});
    const tensor more = v.assign_add(H(0.5f));
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(more) == H(1.5f));
    CHECK(s.run(v.assign(H(4.f))) == H(4.f));
    CHECK(s.run(pair)(1) == H(2.f));
}

TEST_CASE("variable: updated in place, by several sessions at once") {
    session::reset();
    constexpr index_t n = 1000;
    const graph g;
    const graph_scope here(g);
    const container_scope shared("in place");
    variable<float, n> v("v", fill<n>(0.f), {.updates = variable_updates::in_place});
    const tensor more = v.assign_add(1.f);
    placeholder<int, dyn> ids("ids");
    const operation added(v.scatter_add(ids, fill<2>(1.f)).node()); // not fetched, which would read all rows
    const session s(g);
    s.run(v.initializer());
    const auto held = s.run(more);
    CHECK(held(0) == 1.f);
    std::vector<std::thread> all;
    for (int k = 0; k < 4; ++k)
        all.emplace_back([&, k] {
            const session mine(g);
            for (int i = 0; i < 50; ++i) mine.run(added, feed(ids, {2 * k, 2 * k + 1})); // rows of its own
        });
    for (auto& t : all) t.join();
    const auto after = s.run(v);
    for (std::size_t i = 0; i < 8; ++i) CHECK(after(i) == 51.f);
    CHECK(after(8) == 1.f);
    const graph other;
    const graph_scope there(other);
    variable<float, n> versioned("v", fill<n>(0.f));
    const session refused(other);
    CHECK_THROWS_WITH(refused.run(versioned), contains("updated in place"));
    session::reset();
}

TEST_CASE("variable: look-ups beside updates of rows see whole updates, and the table is not copied") {
    constexpr index_t rows = 1000, width = 8;
    counting_allocator memory(rows * width * sizeof(float));
    const graph g;
    const graph_scope here(g);
    const variable<float, rows, width> table("table", constant_initializer(0.));
    const placeholder<int, 2> ids("ids");
    const tensor found = gather(table, ids);
    const operation add(table.scatter_add(ids, fill<2, width>(1.f)).node());
    const session s(g, {.memory = &memory});
    s.run(global_variables_initializer());
    const std::vector<int> first{0, 1}, second{2, 3};
    s.run(add, feed(ids, first));
    s.run(add, feed(ids, second));
    s.run(found, feed(ids, first));
    const int before = memory.blocks();
    std::atomic<bool> torn{false};
    std::vector<std::thread> all;
    for (const auto& of : {first, second}) {
        all.emplace_back([&, of] {
            for (int k = 0; k < 200; ++k) s.run(add, feed(ids, of));
        });
        all.emplace_back([&, of] {
            for (int k = 0; k < 200; ++k) {
                const auto seen = s.run(found, feed(ids, of));
                for (const float x : seen)
                    if (x != seen(0, 0)) torn = true;
            }
        });
    }
    for (auto& t : all) t.join();
    CHECK_FALSE(torn);
    CHECK(memory.blocks() == before);
    CHECK(s.run(found, feed(ids, second))(1, width - 1) == 201.f);
}

TEST_CASE("variable: of a shape that only run time knows") {
    const graph g;
    const graph_scope here(g);
    const index_t in = 3, out = 2;
    const variable<float, dyn, dyn> w("w", dims{in, out}, constant_initializer(0.5));
    const variable<float, dyn, 2> half_open("half_open", {in, out}, 1.5f);
    const variable<float, dyn> listed("listed", {1.f, 2.f, 3.f}), flat("flat", std::vector<float>{4.f, 5.f});
    const variable<float, dyn, dyn> both("both", dims{1, 2}, std::vector<float>{6.f, 7.f});
    const variable<float, dyn> braced("braced", dims{2}, {1.f, 2.f});
    const variable<float, dyn, 2> nested("nested", dims{1, 2}, {{3.f, 4.f}}, {.trainable = false});
    const variable<int, 2> options_in_braces("options_in_braces", {1, 2}, {false});
    const variable computed("computed", listed * 2.f);
    static_assert(std::is_same_v<decltype(computed), const variable<float, dyn>>);
    CHECK(w.static_shape() == dims{3, 2});
    CHECK(half_open.static_shape() == dims{3, 2});
    CHECK(computed.static_shape() == dims{3});
    const session s(g);
    for (const auto& v :
         {listed.initializer(), flat.initializer(), both.initializer(), half_open.initializer(), w.initializer()})
        s.run(v);
    s.run(computed.initializer());
    for (const auto& v : {braced.initializer(), nested.initializer(), options_in_braces.initializer()}) s.run(v);
    CHECK(s.run(braced)(1) == 2.f);
    CHECK(s.run(nested)(0, 1) == 4.f);
    CHECK(s.run(options_in_braces)(1) == 2);
    CHECK(s.run(w)(2, 1) == 0.5f);
    CHECK(s.run(half_open)(2, 1) == 1.5f);
    CHECK(s.run(flat)(1) == 5.f);
    CHECK(s.run(both)(0, 1) == 7.f);
    CHECK(s.run(computed)(2) == 6.f);
    CHECK(s.run(w.assign(2.f))(2, 1) == 2.f);
    CHECK(s.run(w.assign_add(half_open))(0, 0) == 3.5f);
    const std::size_t nodes = g.size();
    CHECK_THROWS_WITH((variable<float, dyn, 2>("bad", dims{2, 3}, zeros())),
                      contains("'bad'") && contains("[2, 3], not [?, 2]") && contains("variable.cpp"));
    CHECK_THROWS_WITH((variable<float, dyn>("bad", dims{3}, {1.f, 2.f})),
                      contains("'bad'") && contains("[2], not [3]") && contains("variable.cpp"));
    CHECK_THROWS_WITH((variable<float, dyn>("bad", dims{dyn}, zeros())), contains("every extent must be known"));
    CHECK_THROWS_WITH((variable<float, dyn, dyn>("bad", dims{2, 2}, std::vector<float>{1.f})), contains("'bad'"));
    const placeholder<float, dyn> x("x");
    CHECK_THROWS_WITH((variable("bad", x)), contains("every extent must be known, the shape is [?]"));
    CHECK(g.size() == nodes + 1);
}

TEST_CASE("variable: a number fills it, and values of the host are assigned") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2, 2> w("w", 0.25f);
    const variable<double, 3> from_int("from_int", 2);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(w)(1, 1) == 0.25f);
    CHECK(s.run(from_int)(2) == 2.);
    const xt::xtensor<float, 2> array{{1.f, 2.f}, {3.f, 4.f}};
    CHECK(s.run(w.assign(array))(1, 0) == 3.f);
    CHECK(s.run(w.assign(2.f * array))(1, 1) == 8.f);
    CHECK(s.run(w.assign_add({{1.f, 0.f}, {0.f, 1.f}}))(1, 1) == 9.f);
    CHECK(s.run(w.assign_sub(std::vector<float>{1.f, 1.f, 1.f, 1.f}))(1, 1) == 8.f);
    CHECK(s.run(w.assign(s.run(any_tensor(w))))(0, 0) == 2.f);
    CHECK_THROWS_WITH(w.assign(xt::xtensor<float, 1>{1.f}), contains("'w'") && contains("[1], not [2, 2]"));
    CHECK_THROWS_WITH(w.assign({{1.f}, {2.f}}), contains("'w'") && contains("[2, 1], not [2, 2]"));
    CHECK_THROWS_WITH(w.assign(std::vector<float>{1.f}), contains("'w'") && contains("variable.cpp"));
    CHECK_THROWS_WITH(w.assign(s.run(any_tensor(from_int))), contains("'w'"));
}
