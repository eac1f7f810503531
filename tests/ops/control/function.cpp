// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/function.hpp>

#include <rill/graph/serialization/serialization.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("function: made once for each graph and types, called in many places") {
    int made = 0;
    const auto f = function([&](auto a, auto b) {
        ++made;
        return a * a + b;
    });
    for (int round = 0; round < 2; ++round) {
        const graph_scope here{graph()};
        placeholder<float> x("x");
        const tensor y = f(x, 1.f), z = f(y, x);
        const auto [d] = gradients(z, x);
        const auto [d2] = gradients(d, x);
        const session s;
        CHECK(s.run(std::tuple(y, z, d, d2), feed(x, 2.f)) == std::tuple(5.f, 27.f, 41.f, 52.f));
        CHECK(made == round + 1);
    }
    const graph_scope here{graph()};
    CHECK(session().run(f(constant({1, 2}), 1))(1) == 5); // other types
    CHECK(made == 3);
}

TEST_CASE("function: 33,000 tensors from outside and a variable that it writes, run, saved and loaded") {
    const graph g;
    const graph_scope here(g);
    constexpr int many = 33'000; // more than an int16 counts
    const variable<double> total("total", 0.);
    const placeholder<double> x("x");
    std::vector<any_tensor> outside;
    for (int i = 0; i < many; ++i) outside.push_back(any_tensor(tensor(x * static_cast<double>(i))));
    const auto f = function([&](auto a) {
        const tensor<double> sum(add_n(outside));
        return total.assign_add(sum + a);
    });
    const tensor y = f(x);
    const double wanted = 2. * (static_cast<double>(many) * (many - 1) / 2 + 1);
    const auto check = [&](const graph& of) {
        const session s(of);
        s.run(fetch("total/initialize"));
        CHECK(s.run(fetch(y.name()), feed("x:0", 2.)).value<double>() == wanted);
        CHECK(s.run(fetch(y.name()), feed("x:0", 2.)).value<double>() == 2 * wanted);
        CHECK(s.run(fetch("total")).value<double>() == 2 * wanted);
    };
    check(g);
    const graph again = graph_from_bytes(graph_to_bytes(g));
    check(again);
    CHECK(graph_to_bytes(again) == graph_to_bytes(g));
}

TEST_CASE("function: takes tensors from outside, gives several, and is called in loops") {
    const graph_scope here{graph()};
    placeholder<float> w("w");
    const auto both = function([&](auto x) { return std::tuple(x * w, x + w); });
    const auto [k, y] = while_loop([](auto i, auto) { return i < 3; },
                                   [&](auto i, auto v) {
                                       const auto [product, sum] = both(v);
                                       return std::tuple(i + 1, product + sum);
                                   },
                                   0, 1.f);
    const session s;
    CHECK(s.run(y, feed(w, 2.f)) == ((1 * 3 + 2) * 3 + 2) * 3 + 2);
}

TEST_CASE("function: one tensor given twice, or given and used from outside, gets each gradient once") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double> p("p"), q("q");
    const auto slopes = [&](const tensor<double>& y) {
        const auto [d] = gradients(y, p);
        const auto [d2] = gradients(d, p);
        return s.run(std::tuple(d, d2), feed(p, 2.0), feed(q, 1.0));
    };
    const auto f = function([](auto a, auto b) { return a * a + b; });
    const auto outside = function([&](auto a) { return a * a + p; });
    const auto again = recompute([&](auto a, auto b) { return a * b * p; });
    CHECK(slopes(f(p, p)) == std::tuple(5.0, 2.0));
    CHECK(slopes(outside(p)) == std::tuple(5.0, 2.0));
    CHECK(slopes(again(p, p)) == std::tuple(12.0, 12.0));
    CHECK(slopes(cond(q > 0.0, [&] { return f(p, p) * p; }, [&] { return p; })) == std::tuple(16.0, 14.0));
    const auto [i, cube] = while_loop([](auto at, auto) { return at < 2; },
                                      [&](auto at, auto v) { return std::tuple(at + 1, again(v, p)); }, 0, q);
    CHECK(slopes(cube) == std::tuple(32.0, 48.0)); // p^4
}

TEST_CASE("function: one that calls itself is refused") {
    const graph_scope here{graph()};
    std::function<tensor<float>(const tensor<float>&)> again;
    const auto f = function([&](const tensor<float>& x) { return again(x); });
    again = [&](const tensor<float>& x) { return f(x); };
    CHECK_THROWS_WITH(f(tensor<float>(constant(1.f))), contains("calls itself"));
    again = [](const tensor<float>& x) { return tensor(x + 1.f); };
    CHECK(session().run(f(tensor<float>(constant(1.f)))) == 2.f);
}

TEST_CASE("recompute: the same values and gradients, and nothing within is kept") {
    const graph_scope here{graph()};
    placeholder<double, dyn, 4> x("x");
    const variable<double, 4, 4> w("w", random_normal({.seed = 1}));
    const auto layer = [&](auto v) { return tanh(matmul(tanh(matmul(v, w)), w)); };
    const auto kept = function(layer), again = recompute(layer);
    const tensor a = reduce_sum(kept(x)), b = reduce_sum(again(x));
    const auto [da, dwa] = gradients(a, x, w);
    const auto [db, dwb] = gradients(b, x, w);
    const session s;
    s.run(w.initializer());
    const xt::xtensor<double, 2> in{{1., 2., 3., 4.}, {0.1, 0.2, 0.3, 0.4}};
    const auto [av, bv, dav, dbv, dwav, dwbv] = s.run(std::tuple(a, b, da, db, dwa, dwb), feed(x, in));
    CHECK(av == bv);
    CHECK((dav == dbv));
    CHECK((dwav == dwbv));
    const auto outputs_of = [](const tensor<double>& t) {
        const node* call = t.node()->inputs[0].from;
        return call->owner->last_variant(call)->outputs.size();
    };
    CHECK(outputs_of(a) > 1);
    CHECK(outputs_of(b) == 1);
}

TEST_CASE("function: it keeps no graph that it was called in") {
    const auto f = function([](auto a) { return a * a + 1.f; });
    std::weak_ptr<const void> life;
    for (int k = 0; k < 3; ++k) {
        const graph g;
        const graph_scope here(g);
        const float x = static_cast<float>(k);
        CHECK(session().run(f(constant(x)) + f(constant(x))) == 2 * (x * x + 1));
        CHECK(life.expired());
        life = g.state().life();
    }
    CHECK(life.expired());
}
