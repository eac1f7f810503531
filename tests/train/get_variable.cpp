// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/get_variable.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include <atomic>
#include <thread>

#include "catch.hpp"

using namespace rill;

namespace test_get_variable {

/// A layer as users write it, called twice for shared weights.
template <class X> auto layer(const X& x) {
    const auto w = get_variable<float, 2, 2>("w", constant_initializer(0.5));
    return matmul(x, w);
}

TEST_CASE("get_variable: shared by name, whoever asks") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 2> x("x");
    const auto model = [&] {
        const variable_scope scope("tower", {.reuse = reuse::automatic});
        return layer(x);
    };
    const auto a = model(), b = model();
    CHECK(g.collection(collections::variables).size() == 1);
    const session s(g);
    s.run(global_variables_initializer());
    const auto train = gradient_descent(1.f).minimize(reduce_sum(a + b));
    s.run(train, feed(x, xt::xtensor<float, 2>({1, 2}, 1.f)));
    CHECK(s.run(fetch("tower/w:0")).elements<float>()[0] == 0.5f - 2.f); // by both uses
}

TEST_CASE("get_variable: names are those of variable scopes, exactly") {
    const graph g;
    const graph_scope here(g);
    const name_scope elsewhere("ops");
    const variable_scope outer("a");
    {
        const variable_scope inner("b");
        CHECK((get_variable<float, 2>("w").name()) == "a/b/w:0");
    }
    const variable_scope inner("b", {.reuse = reuse::always});
    CHECK((get_variable<float, 2>("w").name()) == "a/b/w:0");
    CHECK(tensor(constant(1.f), "c").name().find("ops/a") == 0);
    CHECK_THROWS_AS((get_variable<float, 2>("v")), not_found);
    CHECK_THROWS_WITH((get_variable<float, 3>("w")),
                      contains("'a/b/w' is float32 [2]") && contains("asked for as float32 [3]"));
    CHECK_THROWS_WITH((get_variable<double, 2>("w")), contains("asked for as float64 [2]"));
    const variable_scope deeper("c"); // still shares: as the scope around it says
    CHECK_THROWS_AS((get_variable<float, 2>("w")), not_found);
}

TEST_CASE("get_variable: once only, unless a scope says so") {
    const graph g;
    const graph_scope here(g);
    const auto w = get_variable<float>("w", 3.f);
    CHECK_THROWS_WITH(get_variable<float>("w"), contains("'w' exists (made at") && contains("reuse::automatic"));
    const tensor other(constant(1.f), "other");
    CHECK_THROWS_WITH(get_variable<float>("other"), contains("is the name of another node"));
    CHECK_THROWS_AS(get_variable<float>("no name"), invalid_argument);
    CHECK_THROWS_AS(variable_scope("no name"), invalid_argument);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(w) == 3.f);
}

TEST_CASE("get_variable: how they begin") {
    const graph g;
    const graph_scope here(g);
    const auto by_default = get_variable<float, 40, 60>("by_default");
    const auto whole = get_variable<int, 3>("whole");
    const variable_scope scope("s", {.initializer = constant_initializer(7)});
    const auto by_scope = get_variable<double, 2>("by_scope");
    const auto by_hand = get_variable<float, 2>("by_hand", ones());
    const variable_scope inner("t");
    const auto inherited = get_variable<float, 2>("inherited");
    const session s(g);
    s.run(global_variables_initializer());
    const auto values = s.run(by_default);
    const float limit = std::sqrt(6.f / 100); // glorot_uniform's
    CHECK(*std::max_element(values.begin(), values.end()) <= limit);
    CHECK(*std::max_element(values.begin(), values.end()) > 0.9f * limit);
    CHECK(s.run(whole)(2) == 0);
    CHECK(s.run(by_scope)(1) == 7.);
    CHECK(s.run(by_hand)(1) == 1.f);
    CHECK(s.run(inherited)(0) == 7.f);
}

TEST_CASE("get_variable: threads that ask at once share") {
    const graph g;
    std::vector<std::thread> all;
    std::atomic<int> ready = 0;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            const graph_scope here(g);
            const variable_scope scope("s", {.reuse = reuse::automatic});
            for (++ready; ready < 4;) {} // all together
            for (int i = 0; i < 100; ++i) get_variable<float, 2>("w" + std::to_string(i), zeros());
        });
    for (auto& t : all) t.join();
    CHECK(g.collection(collections::variables).size() == 100);
}

TEST_CASE("get_variable: a variable of no collection is left to its maker") {
    const graph g;
    const graph_scope here(g);
    variable<float> v("v", 1.f, {.trainable = false, .collections = {}}), w("w", 2.f, {.collections = {"mine"}});
    CHECK(g.collection(collections::variables).empty());
    CHECK(g.collection(collections::trainable_variables).size() == 1);
    CHECK(g.collection("mine").size() == 1);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK_THROWS_AS(s.run(v), failed_precondition);
    s.run(v.initializer());
    CHECK(s.run(v) == 1.f);
}

TEST_CASE("get_variable: of dims that only run time knows") {
    const graph g;
    const graph_scope here(g);
    const index_t n = 3;
    const variable_scope scope("s", {.reuse = reuse::automatic});
    const auto w = get_variable<float, dyn, 2>("w", dims{n, 2}, 0.5f);
    const any_tensor any = get_variable("any", dtype::float64, dims{n}, ones());
    CHECK(get_variable<float, dyn, 2>("w").node() == w.node());
    CHECK(get_variable<float, dyn, dyn>("w", dims{n, 2}).node() == w.node());
    CHECK(get_variable<float, 3, 2>("w").node() == w.node());
    CHECK(get_variable("any", dtype::float64, dims{n}).node() == any.node());
    CHECK_THROWS_WITH((get_variable<float, dyn, dyn>("w", dims{4, 2})),
                      contains("'s/w' is float32 [3, 2]") && contains("get_variable.cpp"));
    CHECK_THROWS_WITH((get_variable<float, dyn>("new")), contains("every extent must be known"));
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(w)(2, 1) == 0.5f);
    CHECK(s.run(any).elements<double>()[2] == 1.);
}

} // namespace test_get_variable
