// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/while_loop.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_control_while_loop {

static_assert(state_keeps_its_type<tensor<float, dyn>, tensor<float, 3>>);
static_assert(!state_keeps_its_type<tensor<float, 3>, tensor<float, dyn>>);
static_assert(!state_keeps_its_type<tensor<float>, tensor<int>>);

TEST_CASE("while_loop: runs while its condition holds") {
    const graph_scope here{graph()};
    const auto [i, total] =
        while_loop([](auto k, auto) { return k < 10; },
                   [](auto k, auto t) { return std::tuple(k + 1, t + cast<float>(k)); }, constant(0), constant(0.f));
    const session s;
    CHECK(s.run(std::tuple(i, total)) == std::tuple(10, 45.f));
    CHECK(i.name() == "while:0");
    CHECK(s.run(while_loop([](auto k) { return k < 0; }, [](auto k) { return k + 1; }, 5)) == 5); // not once
    // parts that change places
    const auto [a, b, k] = while_loop([](auto, auto, auto n) { return n < 10; },
                                      [](auto x, auto y, auto n) { return std::tuple(y, x + y, n + 1); }, 0, 1, 0);
    CHECK(s.run(std::tuple(a, b)) == std::tuple(55, 89));
    CHECK(s.run(while_loop([](auto n) { return n < 100; }, [](auto n) { return n + 1; }, std::tuple(0),
                           {.maximum_iterations = 7})) == 7);
}

TEST_CASE("while_loop: parts that are tuples or arrays") {
    const graph_scope here{graph()};
    const session s;
    const auto [n, pair] = while_loop(
        [](auto k, const auto&) { return k < 4; },
        [](auto k, const auto& p) { return std::tuple(k + 1, std::tuple(std::get<1>(p), std::get<0>(p) * 2.f)); }, 0,
        std::tuple(1.f, 10.f));
    CHECK(s.run(std::tuple(n, std::get<0>(pair), std::get<1>(pair))) == std::tuple(4, 4.f, 40.f));
    const auto [a, b] = while_loop([](auto x, auto) { return x < 100; },
                                   [](auto x, auto y) { return std::array<tensor<int>, 2>{x + y, x}; },
                                   std::array<tensor<int>, 2>{constant(1), constant(1)});
    CHECK(s.run(std::tuple(a, b)) == std::tuple(144, 89));
}

TEST_CASE("while_loop: arrays and text as state") {
    const graph_scope here{graph()};
    placeholder<float, dyn, 2> x("x");
    const auto [n, y] = while_loop([](auto k, auto) { return k < 3; },
                                   [&](auto k, auto v) { return std::tuple(k + 1, v * 2.f + x); }, constant(0), x);
    const session s;
    const auto out = s.run(y, feed(x, {{1.f, 2.f}, {3.f, 4.f}}));
    CHECK(out(1, 1) == 4.f * 15.f);
    CHECK(s.run(y, feed(x, xt::xtensor<float, 2>(xt::xtensor<float, 2>::shape_type{0, 2}))).size() == 0);
    const auto words = constant({std::string("a"), std::string("b")});
    const auto [m, w] =
        while_loop([](auto k, auto) { return k < 3; }, [&](auto k, auto t) { return std::tuple(k + 1, reverse<0>(t)); },
                   constant(0), words);
    CHECK(s.run(w)(0) == "b");
}

TEST_CASE("while_loop: gradients of three orders, for any number of steps") {
    const graph_scope here{graph()};
    placeholder<double> x("x"), n("n");
    const auto [k, y] =
        while_loop([&](auto i, auto) { return i < n; }, [&](auto i, auto v) { return std::tuple(i + 1., sin(v * x)); },
                   constant(0.), constant(1.));
    const auto [d] = gradients(y, x);
    const auto [d2] = gradients(d, x);
    const auto [d3] = gradients(d2, x);
    const auto f = [](double at, int steps) {
        double v = 1;
        for (int i = 0; i < steps; ++i) v = std::sin(v * at);
        return v;
    };
    const session s;
    const double e = 1e-3;
    for (const int steps : {0, 1, 3, 40}) {
        const auto [v, v1, v2, v3] = s.run(std::tuple(y, d, d2, d3), feed(x, 1.3), feed(n, double(steps)));
        const auto at = [&](double h) { return f(1.3 + h * e, steps); };
        CHECK(v == Approx(at(0)));
        CHECK(v1 == Approx((at(1) - at(-1)) / (2 * e)).epsilon(1e-4).margin(1e-9));
        CHECK(v2 == Approx((at(1) - 2 * at(0) + at(-1)) / (e * e)).epsilon(1e-4).margin(1e-6));
        CHECK(v3 == Approx((at(2) - 2 * at(1) + 2 * at(-1) - at(-2)) / (2 * e * e * e)).epsilon(1e-3).margin(1e-5));
    }
}

TEST_CASE("while_loop: nested in a fold in a branch, with gradients") {
    const graph_scope here{graph()};
    placeholder<double, 3> xs("xs");
    placeholder<bool> p("p");
    const auto y = cond(
        p,
        [&] {
            return fold(
                [&](auto acc, auto in) {
                    const auto [k, v] =
                        while_loop([](auto i, auto) { return i < 3; },
                                   [&](auto i, auto z) { return std::tuple(i + 1, z * in + acc); }, constant(0), in);
                    return v + acc;
                },
                constant(0.5), xs);
        },
        [&] { return reduce_sum(xs); });
    const auto [d] = gradients(y, xs);
    const auto f = [](std::array<double, 3> in) {
        double acc = 0.5;
        for (const double x : in) {
            double z = x;
            for (int k = 0; k < 3; ++k) z = z * x + acc;
            acc = z + acc;
        }
        return acc;
    };
    const session s;
    const std::array<double, 3> at{0.3, 0.5, 0.7};
    const auto [v, dv] = s.run(std::tuple(y, d), feed(p, true), feed(xs, at));
    CHECK(v == Approx(f(at)));
    for (std::size_t i = 0; i < 3; ++i) {
        auto up = at, down = at;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        CHECK(dv(i) == Approx((f(up) - f(down)) / 2e-5).epsilon(1e-6));
    }
    CHECK(s.run(d, feed(p, false), feed(xs, at))(1) == 1.);
}

TEST_CASE("while_loop: assigns and training steps in its body") {
    const graph_scope here{graph()};
    variable<float> w("w", 0.f);
    const auto done = while_loop([](auto i) { return i < 5; },
                                 [&](auto i) {
                                     w.assign_add(cast<float>(i));
                                     return i + 1;
                                 },
                                 0);
    placeholder<float, dyn> x("x"), y("y");
    variable<float> a("a", 0.f), b("b", 0.f);
    const auto trained = while_loop([](auto i) { return i < 200; },
                                    [&](auto i) {
                                        gradient_descent(0.05f).minimize(reduce_mean(square(a * x + b - y)));
                                        return i + 1;
                                    },
                                    0);
    // the same from outside
    variable<float> c("c", 0.f), e("e", 0.f);
    const auto step = gradient_descent(0.05f).minimize(reduce_mean(square(c * x + e - y)));
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(done) == 5);
    CHECK(s.run(w) == 10.f);
    const std::vector<float> xs{1.f, 2.f, 3.f}, ys{3.f, 5.f, 7.f};
    s.run(trained, feed(x, xs), feed(y, ys));
    for (int i = 0; i < 200; ++i) s.run(step, feed(x, xs), feed(y, ys));
    CHECK(s.run(a) == s.run(c));
    CHECK(s.run(b) == s.run(e));
    CHECK(s.run(a) == Approx(2.f).margin(0.01));
}

TEST_CASE("while_loop: a variable made in a body belongs to the graph, a handle of the body does not leave it") {
    const graph_scope here{graph()};
    tensor<float> leaked;
    const auto done = while_loop([](auto i) { return i < 3.f; },
                                 [&](auto i) {
                                     const variable<float> v("v", 2.f);
                                     leaked = i + v;
                                     return leaked;
                                 },
                                 0.f);
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(done) == 4.f);
    CHECK_THROWS_WITH(tensor(leaked * 2.f), contains("belongs to the body 'while/body'") && contains("results alone"));
}

TEST_CASE("while_loop: of tensors of unknown types") {
    const graph_scope here{graph()};
    const any_tensor x = any_placeholder("x", dtype::float32, {dyn});
    const auto out = while_loop(
        [](const auto& state) { return any_tensor(tensor<int>(state[0]) < 4); },
        [](const auto& state) { return std::vector<any_tensor>{tensor<int>(state[0]) + 1, state[1] + state[1]}; },
        std::vector<any_tensor>{constant(0), x});
    const session s;
    CHECK(s.run(out[1], feed("x:0", std::vector<float>{1.f, 2.f})).elements<float>()[1] == 32.f);
    CHECK_THROWS_AS(
        while_loop([](const auto& v) { return v[0]; }, [](const auto& v) { return v; }, std::vector<any_tensor>{}),
        invalid_argument);
}

TEST_CASE("while_loop: errors name the loop, the iteration and the node") {
    const graph_scope here{graph()};
    const session s;
    const auto divides = while_loop([](auto i) { return i >= 0; }, [](auto i) { return 100 / (2 - i) * 0 + i + 1; }, 0);
    CHECK_THROWS_WITH(s.run(divides), contains("while: in iteration 2: ") && contains("division by zero"));
    const any_tensor pair = constant({1.f, 2.f});
    const auto go_on = [](const auto& v) { return tensor<int>(v[0]) < 3; };
    const auto body = [](const auto& v) {
        return std::vector<any_tensor>{tensor<int>(v[0]) + 1, concat({v[1], v[1]}, 0)};
    };
    CHECK_THROWS_WITH(while_loop(go_on, body, std::vector<any_tensor>{constant(0), pair}),
                      contains("part 1 of the state is float32 [2], the body gives float32 [4]"));
    const any_tensor f = constant(1.f);
    CHECK_THROWS_WITH(
        while_loop([&](const auto&) { return f; }, [](const auto& v) { return v; }, std::vector<any_tensor>{f}),
        contains("the condition gives float32 []"));
}

TEST_CASE("while_loop: a part whose type leaves extents open may grow") {
    const graph_scope here{graph()};
    placeholder<double, dyn> x("x");
    placeholder<int> n("n");
    const auto doubled = [&](const auto& from) {
        return std::get<1>(while_loop([&](auto i, auto) { return i < n; },
                                      [](auto i, auto v) { return std::tuple(i + 1, concat<0>(v, v * 2.)); }, 0, from));
    };
    const auto y = doubled(x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<double, dyn>>);
    const tensor total = reduce_sum(y);
    const auto [d] = gradients(total, x);
    const session s;
    using list = xt::xtensor<double, 1>;
    const auto run = [&](const auto& t, const list& at, int steps) { return s.run(t, feed(x, at), feed(n, steps)); };
    CHECK((run(y, {1., 3.}, 0) == list{1., 3.}));
    CHECK((run(y, {1., 3.}, 1) == list{1., 3., 2., 6.}));
    CHECK(run(y, {1.}, 5).size() == 32);
    CHECK(run(total, {1.}, 5) == 243.);
    CHECK(run(total, {2.}, 1) == 6.);
    // in the body of another loop, which keeps its own extents
    const auto twice = while_loop([](auto k, auto) { return k < 2; },
                                  [&](auto k, auto t) { return std::tuple(k + 1, t * reduce_sum(doubled(x))); }, 0, 1.);
    CHECK(run(std::get<1>(twice), {1.}, 2) == 81.);
    CHECK(run(std::get<1>(twice), {2.}, 0) == 4.);
    CHECK((run(d, {1., 3.}, 0) == list{1., 1.})); // nothing runs, nothing need fit
    CHECK((run(d, {1., 3.}, 1) == list{3., 3.}));
    CHECK((run(d, {1., 3.}, 3) == list{27., 27.}));
    // a gradient that needs the values of all iterations, and one by what the body takes from outside
    placeholder<double> w("w");
    const auto powers =
        std::get<1>(while_loop([&](auto i, auto) { return i < n; },
                               [&](auto i, auto v) { return std::tuple(i + 1, concat<0>(v, v * v * w)); }, 0, x));
    const auto [by_x, by_w] = gradients(reduce_sum(powers), x, w);
    const auto at = [&](const auto& t, int steps) { return s.run(t, feed(x, list{2.}), feed(w, 3.), feed(n, steps)); };
    // a; a, w a^2; a, w a^2, w a^2, w^3 a^4
    CHECK((at(powers, 2) == list{2., 12., 12., 432.}));
    CHECK((at(by_x, 2) == list{1. + 2 * 2 * 3. * 2. + 4 * 27. * 8.}));
    CHECK(at(by_w, 2) == 2 * 4. + 3 * 9. * 16.);
    CHECK((at(by_x, 0) == list{1.}));
    CHECK(at(by_w, 1) == 4.);
    const auto in_a_body =
        cond(w > 0., [&] { return gradients(reduce_sum(powers), x); }, [&] { return std::tuple(x * 1.); });
    CHECK((at(std::get<0>(in_a_body), 2) == at(by_x, 2)));
    step_trace trace;
    CHECK((s.run(by_x, std::vector{feed(x, list{2.}), feed(w, 3.), feed(n, 2)}, {.trace = &trace}) == at(by_x, 2)));
    CHECK(std::all_of(trace.entries.begin(), trace.entries.end(), [](const auto& e) { return e.bytes >= 0; }));
    const auto sized = fold([](auto v, auto e) { return concat<0>(v, expand_dims<0>(e)); }, x, constant({5., 6.}));
    CHECK((s.run(sized, feed(x, list{1.})) == list{1., 5., 6.}));
    // in turns with runs that keep the extents
    const auto broadens = while_loop([](auto t) { return reduce_sum(t) < 10.; }, [&](auto t) { return t * 2. + x; },
                                     tensor<double, dyn>(placeholder<double, dyn>("first")));
    const auto from = [&](const list& first, const list& other) {
        return s.run(broadens, feed("first:0", first), feed(x, other));
    };
    for (int i = 0; i < 10; ++i) {
        CHECK((from({1., 1.}, {1., 1.}) == list{7., 7.}));
        CHECK((from({1.}, {1., 1.}) == list{7., 7.}));
        CHECK((from({1.}, {1., 1., 1.}) == list{7., 7., 7.}));
        CHECK((from({1., 1., 1.}, {1., 1., 1.}) == list{7., 7., 7.}));
    }
}

TEST_CASE("while_loop: gradients where iterations differ in extents, within other bodies and through values within") {
    const graph_scope here{graph()};
    placeholder<double, dyn> x("x");
    placeholder<double> w("w");
    using list = xt::xtensor<double, 1>;
    const session s;
    const auto by_w = [&](const auto& y, const list& at_x, double at_w) {
        const auto [d] = gradients(y, w);
        return s.run(d, feed(x, at_x), feed(w, at_w));
    };
    const auto grow = [&](const auto& q) { // each time twice as long; in all (1 + w)^3 of what there was
        return reduce_sum(
            std::get<1>(while_loop([](auto i, auto) { return i < 3; },
                                   [&](auto i, auto v) { return std::tuple(i + 1, concat<0>(v, v * w)); }, 0, q)));
    };
    CHECK(by_w(grow(x), {1.}, 3.) == 3 * 16.);
    CHECK(by_w(function(grow)(x), {1.}, 3.) == 3 * 16.);
    CHECK(by_w(recompute(grow)(x), {1.}, 3.) == 3 * 16.);
    CHECK(by_w(cond(w > 0., [&] { return grow(x); }, [&] { return w * 1.; }), {1.}, 3.) == 3 * 16.);
    const auto nested =
        while_loop([](auto i, auto) { return i < 2; },
                   [&](auto i, auto t) {
                       const auto v =
                           while_loop([&](auto k, auto) { return k < i + 1; },
                                      [&](auto k, auto u) { return std::tuple(k + 1, concat<0>(u, u * t)); }, 0, x);
                       return std::tuple(i + 1, reduce_sum(std::get<1>(v)));
                   },
                   0, w);
    CHECK(by_w(std::get<1>(nested), {1.}, 2.) == 8.); // (1 + (1 + w))^2
    // the state is a number, what is computed on the way is not
    const auto total =
        while_loop([](auto i, auto) { return i < 4; },
                   [&](auto i, auto t) {
                       const auto some =
                           cond(equal(mod(i, 2), 0), [&] { return concat<0>(x * w, x); }, [&] { return x * w * w; });
                       return std::tuple(i + 1, t + reduce_sum(some * some));
                   },
                   0, 0.);
    CHECK(by_w(std::get<1>(total), {2.}, 3.) == 2 * (2 * 4. * 3.) + 2 * (4 * 4. * 27.));
    const auto folded =
        fold([&](auto v, auto e) { return concat<0>(v * e, expand_dims<0>(e * w)); }, x, constant({2., 3.}));
    CHECK(by_w(reduce_sum(square(folded)), {1.}, 3.) == 270.); // (6 x)^2 + (6 w)^2 + (3 w)^2
    variable<double> v("v", 1.);
    const auto trained = while_loop([](auto i, auto) { return i < 2; },
                                    [&](auto i, auto q) { return std::tuple(i + 1, concat<0>(q, q * v)); }, 0, x);
    const auto step = gradient_descent(0.125).minimize(reduce_sum(std::get<1>(trained)));
    s.run(v.initializer());
    s.run(step, feed(x, list{1.}));
    CHECK(s.run(v) == 1. - 0.125 * 4.);
    // in turns with runs whose iterations are alike, and a second gradient, which is not known
    const auto [d] = gradients(grow(x * w), w);
    for (int i = 0; i < 3; ++i) {
        CHECK(s.run(d, feed(x, list{1.}), feed(w, 1.)) == 8. + 12.);
        CHECK(s.run(d, feed(x, list{}), feed(w, 1.)) == 0.);
    }
    const auto [again] = gradients(d, w);
    CHECK_THROWS_WITH(s.run(again, feed(x, list{1.}), feed(w, 1.)), contains("they can't be stacked"));
}

TEST_CASE("while_loop: what may change is what the type of the first value leaves open, whatever is known of it") {
    const graph_scope here{graph()};
    const session s;
    using list = xt::xtensor<float, 1>;
    const tensor<float, dyn> none = zeros<float, 0>();
    const auto grown =
        while_loop([](auto t) { return size(t) < 3; }, [](auto t) { return concat<0>(t, constant({1.f})); }, none);
    CHECK((s.run(grown) == list{1.f, 1.f, 1.f}));
    const auto folded =
        fold([](auto t, auto in) { return concat<0>(t, expand_dims<0>(in)); }, none, constant({4.f, 5.f}));
    CHECK((s.run(folded) == list{4.f, 5.f}));
    const auto body = [](const auto& v) { return std::vector<any_tensor>{concat({v[0], v[0]}, 0)}; };
    const auto go_on = [](const auto& v) { return size(v[0]) < 8; };
    const std::vector<any_tensor> first{constant({1.f})};
    CHECK_THROWS_WITH(while_loop(go_on, body, first), contains("what may change must be dyn"));
    const auto any = while_loop(go_on, body, first, {.shape_invariants = {{dyn}}});
    CHECK(s.run(any[0]).shape() == dims{8});
    CHECK_THROWS_WITH(while_loop(go_on, body, first, {.shape_invariants = {{dyn}, {}}}),
                      contains("2 shape_invariants"));
    CHECK_THROWS_WITH(while_loop(go_on, body, first, {.shape_invariants = {{2}}}), contains("its shape_invariant [2]"));
    CHECK_THROWS_WITH(
        while_loop([](auto i) { return i < 3; }, [](auto i) { return i + 1; }, 0, {.shape_invariants = {{dyn}}}),
        contains("shape_invariants are those of a std::vector<any_tensor>"));
    // its gradient, of one extent each and one that the graph knew
    const tensor<float, dyn> start = constant({2.f, 3.f});
    const auto powers = while_loop([](auto k, auto) { return k < 2; },
                                   [](auto k, auto t) { return std::tuple(k + 1, t * t); }, 0, start);
    const auto [d] = gradients(std::get<1>(powers), start);
    CHECK((s.run(d) == list{32.f, 108.f}));
}

TEST_CASE("while_loop: one part of a state, with options, without a tuple") {
    const graph_scope here{graph()};
    const auto ten =
        while_loop([](auto i) { return i >= 0; }, [](auto i) { return i + 1; }, 0, {.maximum_iterations = 10});
    static_assert(std::is_same_v<decltype(ten), const tensor<int>>);
    CHECK(session().run(ten) == 10);
}

TEST_CASE("while_loop: errors say where it was made, also of what its body made of its state") {
    const graph_scope here{graph()};
    const session s;
    const auto fails = [](auto i) { return 1 / (3 - i) * 0 + i + 1; };
    const auto one = while_loop([](auto i) { return i < 5; }, fails, 0);
    const auto two =
        while_loop([](auto i, auto) { return i < 5; }, [&](auto i, auto x) { return std::tuple(fails(i), x); }, 0, 0);
    const auto three = while_loop([](auto i, auto, auto) { return i < 5; },
                                  [&](auto i, auto x, auto y) { return std::tuple(fails(i), x, y); }, 0, 0, 0);
    const auto text_of_error = [&](const auto& t) -> std::string {
        try {
            s.run(t);
        } catch (const invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    for (const auto& text : {text_of_error(one), text_of_error(std::get<0>(two)), text_of_error(std::get<0>(three))}) {
        CHECK_THAT(text, contains("integer division by zero (node 'while"));
        CHECK_THAT(text, contains("while_loop.cpp:"));
        CHECK_THAT(text, !contains("unknown place"));
    }
}

TEST_CASE("while_loop: as many parts as the state has, and a limit that is one") {
    const graph_scope here{graph()};
    const auto loop = [](std::size_t parts, std::int64_t most) {
        return while_loop([](const std::vector<any_tensor>& v) { return any_tensor(tensor<float>(v[0]) < 3.f); },
                          [=](const std::vector<any_tensor>& v) {
                              return std::vector<any_tensor>(parts, tensor<float>(tensor<float>(v[0]) + 1.f));
                          },
                          std::vector<any_tensor>{constant(0.f)}, {.maximum_iterations = most});
    };
    CHECK(session().run(loop(1, -1))[0].value<float>() == 3.f);
    CHECK(session().run(loop(1, 0))[0].value<float>() == 0.f);
    for (const std::size_t parts : {0u, 2u})
        CHECK_THROWS_WITH(loop(parts, -1), contains("the state has 1 parts, the body gives " + std::to_string(parts)));
    CHECK_THROWS_WITH(loop(1, -2), contains("maximum_iterations is -2"));
}

TEST_CASE("while_loop: ends when it is told to, and when its time is over") {
    const graph_scope here{graph()};
    const session s;
    const auto endless = while_loop([](auto i) { return i >= 0; }, [](auto i) { return i * 1; }, 1);
    CHECK_THROWS_AS(s.run(endless, {.timeout = std::chrono::milliseconds(5)}), deadline_exceeded);
    const cancellation_token token;
    std::thread ends([&] { token.cancel(); });
    CHECK_THROWS_AS(s.run(endless, {.cancel = token}), cancelled);
    ends.join();
    CHECK_THROWS_AS(s.run(endless, {.cancel = token}), cancelled); // for ever
    session closing;
    std::thread closes([&] { closing.close(); });
    CHECK_THROWS_AS(closing.run(endless), cancelled);
    closes.join();
    variable<float> v("v", 0.f);
    s.run(v.initializer());
    const auto counts = while_loop([](auto i) { return i >= 0; },
                                   [&](auto i) {
                                       const control_dependencies after(v.assign_add(1.f));
                                       return tensor(100 / (50 - i)) * 0 + i + 1;
                                   },
                                   0);
    CHECK_THROWS_AS(s.run(counts), invalid_argument);
    CHECK(s.run(v) == 51.f); // what was written before the op that failed stays
}

} // namespace test_ops_control_while_loop
