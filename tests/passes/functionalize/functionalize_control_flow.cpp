// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/functionalize/functionalize_control_flow.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_passes_functionalize_control_flow {

/// What a run of the fetches has in place of primitives: names of ops.
std::vector<std::string> raised(const std::vector<endpoint>& fetches, bool regions = true) {
    std::vector<endpoint> feeds;
    for (const auto* n : current_graph().nodes())
        if (n->op->role() == op_role::placeholder) feeds.push_back({n, 0});
    const auto flow =
        detail::functionalize_control_flow({fetches, {}, feeds}, make_op(switch_op{})->functional_ops(), regions);
    if (!flow) return {"nothing"};
    std::vector<std::string> names;
    for (const auto& it : sort_items(prune(fetches, {}, feeds, nullptr, flow.get())).items)
        if (it.origin && it.origin->bodies) names.emplace_back(it.op->name());
    std::ranges::sort(names);
    return names;
}
using list = std::vector<std::string>;

/// The same run with branches and loops in place of primitives, and node by node.
template <class X, class W, class... F> void check_both(const X& x, const W& wanted, const F&... feeds) {
    CHECK(session().run(x, feeds...) == wanted);
    CHECK(session({.raise_primitives = false}).run(x, feeds...) == wanted);
}

/// A loop over a counter and one state: state = body(i, state) while i < n.
template <class N, class S, class Body>
auto loop(const std::string& name, const N& n, const S& first, const Body& body, int parallel = 10) {
    const auto i = merge(enter(constant(0), name, {.parallel_iterations = parallel}));
    const auto s = merge(enter(first, name, {.parallel_iterations = parallel}));
    const auto go = loop_cond(i.value < enter(n, name, {.is_constant = true}));
    const auto i_way = switch_(i.value, go);
    const auto s_way = switch_(s.value, go);
    close_loop({{i, next_iteration(i_way.if_true + 1)}, {s, next_iteration(body(i_way.if_true, s_way.if_true))}});
    return leave(s_way.if_false);
}

TEST_CASE("functionalize_control_flow: a graph without primitives, and what needs none, is left alone") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const tensor y = x * 2.f;
    CHECK(raised({y}) == list{"nothing"});
    const auto [off, on] = switch_(x, sealed(x > 0.f));
    CHECK(raised({y}) == list{"nothing"});
    CHECK(raised({merge(off, on).value}) == list{"Case"});
}

TEST_CASE("functionalize_control_flow: switches and merges become a branch, one for all that a predicate decides") {
    const graph_scope here{graph()};
    placeholder<float> x("x"), y("y");
    const auto p = sealed(x > 0.f);
    const auto xs = switch_(x, p), ys = switch_(y, p);
    const auto a = merge(xs.if_false * y, xs.if_true + ys.if_true), b = merge(ys.if_false, xs.if_true);
    const tensor sum = a.value + b.value;
    CHECK(raised({sum, b.index}) == list{"Case"});
    CHECK(raised({sum}, false) == list{"PartitionedCall"});
    CHECK(raised({sum, xs.if_true}) == list{"PartitionedCall"}); // what may be dead is fetched
    check_both(sum, 3.f + 4.f + 3.f, feed(x, 3.f), feed(y, 4.f));
    check_both(sum, -3.f * 4.f + 4.f, feed(x, -3.f), feed(y, 4.f));
}

TEST_CASE("functionalize_control_flow: branches within branches") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto outer = switch_(x, sealed(x > 0.f));
    const auto inner = switch_(outer.if_true, sealed(outer.if_true > 10.f));
    const auto within = merge(inner.if_false * 2.f, inner.if_true * 3.f);
    const auto all = merge(outer.if_false * -1.f, within.value + 1.f);
    CHECK(raised({all.value}) == list{"Case"});
    check_both(all.value, 11.f, feed(x, 5.f));
    check_both(all.value, 61.f, feed(x, 20.f));
    check_both(all.value, 5.f, feed(x, -5.f));
}

TEST_CASE("functionalize_control_flow: branches in a row by one predicate are a branch each") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const placeholder<bool> p("p"), q("q");
    const auto branch = [](const tensor<float>& v, const tensor<bool>& by, float times, float more) {
        const auto way = switch_(v, by);
        return tensor<float>(merge(way.if_false * times, way.if_true + more).value);
    };
    const auto check_ways = [&](const tensor<float>& y, const auto& wanted) {
        for (const bool of_p : {true, false})
            for (const bool of_q : {true, false})
                check_both(y, wanted(of_p, of_q), feed(x, 3.f), feed(p, of_p), feed(q, of_q));
    };
    const auto either = [](bool on, float v, float times, float more) { return on ? v + more : v * times; };
    const tensor<float> first = branch(x, p, 2.f, 1.f), second = branch(first, p, 3.f, 10.f);
    CHECK(raised({second}) == list{"Case", "Case"});
    CHECK(raised({first, second}) == list{"Case", "Case"});
    check_ways(second, [&](bool on, bool) { return either(on, either(on, 3.f, 2.f, 1.f), 3.f, 10.f); });

    const tensor<float> turned = branch(branch(first, q, 5.f, 7.f), p, 3.f, 10.f);
    CHECK(raised({turned}) == list{"Case", "Case", "Case"});
    check_ways(turned, [&](bool on, bool of_q) {
        return either(on, either(of_q, either(on, 3.f, 2.f, 1.f), 5.f, 7.f), 3.f, 10.f);
    });

    // two of each, which would wait for one another if each predicate had one branch
    const tensor<float> other = branch(branch(x, q, 4.f, 2.f), p, 6.f, 3.f);
    const tensor<float> crossed = branch(first, q, 5.f, 7.f) + other;
    check_ways(crossed, [&](bool on, bool of_q) {
        return either(of_q, either(on, 3.f, 2.f, 1.f), 5.f, 7.f) + either(on, either(of_q, 3.f, 4.f, 2.f), 6.f, 3.f);
    });

    const placeholder<int> n("n");
    const auto looped = loop("l", n, x, [&](const auto& i, const auto& v) {
        const auto even = sealed(equal(mod(i, 2), 0));
        return branch(branch(v, even, 2.f, 1.f), even, 3.f, 10.f);
    });
    CHECK(raised({looped}) == list{"While"});
    check_both(looped, (3.f + 11.f) * 6.f + 11.f, feed(n, 3), feed(x, 3.f));
}

TEST_CASE("functionalize_control_flow: what two branches of one predicate use is computed once") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const placeholder<bool> p("p");
    const auto way = switch_(x, p);
    const tensor shared(reduce_sum(stack<0>(way.if_true, random_uniform<float>({.seed = 3}) * way.if_true)), "shared");
    const tensor<float> first = merge(way.if_false, shared * 2.f).value;
    const auto again = switch_(first, p);
    const tensor<float> second = merge(again.if_false * 5.f, again.if_true - shared).value;
    CHECK(raised({second}) == list{"Case", "Case"});
    for (const bool r : {true, false}) {
        const session s({.raise_primitives = r});
        const auto [a, b] = s.run(std::tuple(first, second), feed(x, 3.f), feed(p, true));
        CHECK(b == Approx(a / 2)); // drawn once
        CHECK(s.run(second, feed(x, 3.f), feed(p, false)) == 15.f);
    }
    // a branch within the first one: what lies deeper is not passed on
    const auto inner = switch_(way.if_true, sealed(way.if_true > 2.f));
    const tensor<float> deep(inner.if_true * 7.f);
    const tensor<float> one = merge(way.if_false, merge(inner.if_false, deep).value).value;
    const auto ones = switch_(one, p);
    const auto deeper = switch_(ones.if_true, sealed(way.if_true > 2.f));
    const tensor<float> two =
        merge(ones.if_false + 1.f, merge(deeper.if_false, deeper.if_true + way.if_true).value).value;
    check_both(two, 3.f * 7.f + 3.f, feed(x, 3.f), feed(p, true));
    check_both(two, 1.f, feed(x, 1.f), feed(p, true));
    check_both(two, 4.f, feed(x, 3.f), feed(p, false));
}

TEST_CASE("functionalize_control_flow: in a branch, what waits for one way of a switch outside of it") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    placeholder<bool> p("p"), q("q");
    const auto way = switch_(x, p);
    const auto inner = switch_(constant(1.f), q); // live whichever way p goes
    const auto after = [&](const tensor<float>& by, float times) {
        const control_dependencies wait(tensor(by * 1.f));
        return tensor(way.if_true * times);
    };
    const auto chosen = merge(after(inner.if_true, 2.f), after(inner.if_false, 3.f)).value;
    const tensor<float> y = merge(chosen, way.if_false).value;
    CHECK(raised({y}) == list{"PartitionedCall"});
    for (const bool of_p : {true, false})
        for (const bool of_q : {true, false})
            check_both(y, !of_p ? 5.f : of_q ? 10.f : 15.f, feed(x, 5.f), feed(p, of_p), feed(q, of_q));
}

TEST_CASE("functionalize_control_flow: frames become loops, with what they take from outside") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    placeholder<float, dyn> x("x");
    const auto y = loop("l", n, x, [&](const auto& i, const auto& v) { return v * 2.f + x + cast<float>(i); });
    const auto z = loop("m", n, y, [&](const auto&, const auto& v) { return v + 1.f; });
    CHECK(raised({y}) == list{"While"});
    CHECK(raised({z}) == list{"While", "While"});
    CHECK(raised({z}, false) == list{"PartitionedCall"});
    check_both(tensor(reduce_sum(z)), 2 * (1.f * 7 + 1) + 2 * 2, feed(n, 2), feed(x, {1.f, 1.f}));
    check_both(tensor(reduce_sum(z)), 2.f, feed(n, 0), feed(x, {1.f, 1.f}));
}

TEST_CASE("functionalize_control_flow: loops in loops, branches in loops, loops in branches") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto nested = loop("outer", n, constant(0.f), [&](const auto& i, const auto& v) {
        return loop("inner", i, v, [&](const auto& j, const auto& w) { return w + cast<float>(j) + 1.f; });
    });
    CHECK(raised({nested}) == list{"While"});
    check_both(nested, 0.f + 1.f + 3.f + 6.f, feed(n, 4));

    const auto branches = loop("l", n, constant(1), [&](const auto& i, const auto& v) {
        const auto p = sealed(equal(i, 2));
        const auto is = switch_(i, p), vs = switch_(v, p);
        return merge(vs.if_false * 2, vs.if_true + is.if_true * 100).value;
    });
    CHECK(raised({branches}) == list{"While"});
    check_both(branches, ((1 * 2 * 2) + 200) * 2, feed(n, 4));

    placeholder<float> x("x");
    const auto p = sealed(x > 0.f);
    const auto xs = switch_(x, p);
    const auto ns = switch_(n, p);
    const auto branch =
        merge(xs.if_false, loop("b", ns.if_true, xs.if_true, [](const auto&, const auto& v) { return v * 2.f; }));
    CHECK(raised({branch.value}) == list{"Case"});
    check_both(branch.value, 24.f, feed(n, 3), feed(x, 3.f));
    check_both(branch.value, -3.f, feed(n, 3), feed(x, -3.f));
    const auto three = loop("1", n, constant(0), [&](const auto& i, const auto& a) {
        return loop("2", i, a, [&](const auto& j, const auto& b) {
            const auto s = switch_(b, sealed(j > 0));
            return merge(s.if_false + 1,
                         loop("3", n, s.if_true, [&](const auto& k, const auto& c) { return c + k * (i + j); }))
                .value;
        });
    });
    int wanted = 0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) {
            if (j == 0) ++wanted;
            for (int k = 0; j > 0 && k < 4; ++k) wanted += k * (i + j);
        }
    check_both(three, wanted, feed(n, 4));
}

TEST_CASE("functionalize_control_flow: states whose extents change, and branches that give other extents") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    placeholder<float, dyn> x("x");
    const auto grown = loop("grow", n, x, [](const auto&, const auto& v) { return concat<0>(v, v); });
    for (const bool r : {true, false}) {
        const session s({.raise_primitives = r});
        CHECK(s.run(grown, feed(n, 3), feed(x, {1.f, 2.f})).size() == 16);
        CHECK(s.run(grown, feed(n, 0), feed(x, {1.f, 2.f})).size() == 2);
    }
    const auto way = switch_(x, sealed(n > 0));
    const auto y = merge(way.if_false, concat<0>(way.if_true, way.if_true));
    check_both(tensor(reduce_sum(y.value)), 6.f, feed(n, 1), feed(x, {1.f, 2.f}));
    check_both(tensor(reduce_sum(y.value)), 3.f, feed(n, 0), feed(x, {1.f, 2.f}));
}

TEST_CASE(
    "functionalize_control_flow: writes in a loop happen once in each iteration, and in a branch if it is taken") {
    for (const bool r : {true, false}) {
        const graph_scope here{graph()};
        placeholder<int> n("n");
        variable<float> w("w", 1.f), v("v", 0.f);
        const auto last = loop("l", n, constant(0.f), [&](const auto& i, const auto& s) {
            const auto sum = w.assign_add(cast<float>(i) + s * 0.f);
            return sum + v;
        });
        const auto p = sealed(n > 3);
        const auto ns = switch_(cast<float>(n), p);
        const auto chosen = merge(ns.if_false, v.assign_add(ns.if_true));
        const session s({.raise_primitives = r});
        s.run(global_variables_initializer());
        CHECK(s.run(last, feed(n, 4)) == 7.f);
        CHECK(s.run(w) == 7.f);
        CHECK(s.run(chosen.value, feed(n, 2)) == 2.f);
        CHECK(s.run(v) == 0.f);
        CHECK(s.run(chosen.value, feed(n, 5)) == 5.f);
        CHECK(s.run(v) == 5.f);
        s.run(operation(chosen.value.node()), feed(n, 6));
        CHECK(s.run(v) == 11.f);
    }
}

TEST_CASE("functionalize_control_flow: what is drawn, waits, or is no form of a loop") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    // drawn once an iteration, each time anew
    const auto drawn = loop("l", n, constant({0.f, 0.f}), [](const auto& i, const auto& s) {
        const control_dependencies after(i);
        return s + random_uniform<float, 2>({.minval = 1.f, .maxval = 2.f});
    });
    for (const bool r : {true, false}) {
        const auto sum = session({.raise_primitives = r}).run(drawn, feed(n, 50));
        CHECK(sum(0) > 60.f);
        CHECK(sum(0) < 90.f);
    }
    // the state leaves before the condition is asked, in each iteration
    const auto i = merge(enter(constant(0), "odd"));
    const auto go = loop_cond(i.value < enter(n, "odd", {.is_constant = true}));
    const auto way = switch_(i.value, go);
    close_loop({{i, next_iteration(way.if_true + 1)}});
    const auto doubled = leave(way.if_false * 2);
    CHECK(raised({doubled}) == list{"PartitionedCall"});
    check_both(doubled, 8, feed(n, 4));
    // what can be raised beside what can't
    const auto good = loop("good", n, constant(1), [](const auto&, const auto& v) { return v * 2; });
    CHECK(raised({doubled, good}) == list{"PartitionedCall", "While"});
    check_both(tensor(doubled + good), 8 + 16, feed(n, 4));
    check_both(loop("more", n, doubled, [](const auto&, const auto& v) { return v + 1; }), 12, feed(n, 4));
}

TEST_CASE("functionalize_control_flow: primitives in the body of a while_loop, and a while_loop in a frame") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto [k, inside] =
        while_loop([&](auto j, auto) { return j < n; },
                   [&](auto j, auto v) {
                       return std::tuple(j + 1, loop("l", j, v, [](const auto&, const auto& w) { return w + 1; }));
                   },
                   constant(0), constant(0));
    check_both(inside, 6, feed(n, 4));
    const auto outside = loop("l", n, constant(0), [](const auto& i, const auto& v) {
        return v + while_loop([](auto w) { return w < 10; }, [](auto w) { return w * 2; }, sealed(i + 1));
    });
    check_both(outside, 16 + 16 + 12, feed(n, 3));
}

TEST_CASE("functionalize_control_flow: a loop that depends on its own result is refused") {
    const graph_scope here{graph()};
    const auto i = merge(enter(constant(0), "l"));
    const auto way = switch_(i.value, loop_cond(i.value < 3));
    const auto out = leave(way.if_false);
    close_loop({{i, next_iteration(way.if_true + enter(out, "l", {.is_constant = true}))}});
    CHECK_THROWS_WITH(session().run(out), contains("the loop 'l' depends on its own result"));
}

/// A random program of numbers, branches and loops.
struct program {
    enum kind { argument, number, sum, sine, branch, loop } what = number;
    double value = 0;
    int place = 0; // of an argument; of a loop: how often
    std::vector<program> parts;
};

program make(std::mt19937_64& random, int depth, int arguments) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
    program p;
    p.what = static_cast<program::kind>(depth == 0 ? below(2) : 2 + below(4));
    p.value = (below(200) - 100) / 64.;
    p.place = p.what == program::argument ? below(arguments) : below(4);
    const int parts[] = {0, 0, 2, 1, 3, 2};
    for (int i = 0; i < parts[p.what]; ++i) {
        const int more = p.what == program::loop && i == 1 ? 1 : 0; // the body has the state besides
        p.parts.push_back(make(random, depth - 1, arguments + more));
    }
    return p;
}

double computed(const program& p, std::vector<double> arguments) {
    const auto part = [&](int i) { return computed(p.parts[i], arguments); };
    switch (p.what) {
    case program::argument: return arguments[p.place];
    case program::number: return p.value;
    case program::sum: return part(0) + part(1);
    case program::sine: return std::sin(part(0) * 3);
    case program::branch: return part(0) > 0.1 ? part(1) : part(2);
    case program::loop: break;
    }
    arguments.push_back(part(0));
    for (int k = 0; k < p.place; ++k) {
        const double next = part(1);
        arguments.back() = next;
    }
    return arguments.back();
}

/// Of primitives. What enters a loop says so, or not; loops have names of their own, and room for a few iterations.
tensor<double> built(const program& p, const std::vector<tensor<double>>& arguments, int& loops) {
    const auto part = [&](int i) { return built(p.parts[i], arguments, loops); };
    switch (p.what) {
    case program::argument: return arguments[p.place];
    case program::number: return constant(p.value);
    case program::sum: return part(0) + part(1);
    case program::sine: return sin(part(0) * 3.);
    case program::branch: {
        const auto which = sealed(part(0) > 0.1);
        std::vector<tensor<double>> off, on;
        for (const auto& a : arguments) {
            const auto way = switch_(a, which);
            off.push_back(way.if_false);
            on.push_back(way.if_true);
        }
        // what does not depend on the way is live on both
        const auto ways = switch_(constant(0.), which);
        return merge(ways.if_false + built(p.parts[2], off, loops), ways.if_true + built(p.parts[1], on, loops)).value;
    }
    case program::loop: break;
    }
    const auto name = "loop" + std::to_string(loops++);
    const enter_options room{.parallel_iterations = 1 + loops % 3};
    const auto i = merge(enter(constant(0), name, room)), go_to = merge(enter(constant(p.place), name, room));
    // what enters shows where the loop lies
    const auto s = merge(enter(part(0) + arguments.back() * 0., name, room));
    const auto go = loop_cond(i.value < go_to.value);
    const auto i_way = switch_(i.value, go), to_way = switch_(go_to.value, go);
    const auto s_way = switch_(s.value, go);
    auto inside = arguments;
    for (auto& a : inside)
        if (loops % 2 == 0) a = enter(a, name, {.is_constant = true});
    inside.push_back(s_way.if_true);
    const tensor<double> next = built(p.parts[1], inside, loops) + s_way.if_true * 0.;
    close_loop(
        {{i, next_iteration(i_way.if_true + 1)}, {go_to, next_iteration(to_way.if_true)}, {s, next_iteration(next)}});
    return leave(s_way.if_false);
}

TEST_CASE("functionalize_control_flow: random programs of primitives give what plain C++ does, raised and by frames") {
    std::mt19937_64 random(11);
    for (int round = 0; round < 60; ++round) {
        const graph_scope here{graph()};
        const auto p = make(random, 4, 2);
        placeholder<double> x("x"), y("y");
        int loops = 0;
        const tensor<double> out = built(p, {x, y}, loops) + x * 0.;
        const session a, b({.raise_primitives = false});
        for (const double at : {0.3, -0.8}) {
            INFO("program " << round << " at " << at);
            const double wanted = computed(p, {at, 0.5});
            CHECK(a.run(out, feed(x, at), feed(y, 0.5)) == Approx(wanted).margin(1e-12));
            CHECK(b.run(out, feed(x, at), feed(y, 0.5)) == Approx(wanted).margin(1e-12));
        }
    }
}
TEST_CASE("functionalize_control_flow: a constant beside primitives may be fed, if no body of a node there reads it") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const tensor two(constant(2.f), "two");
    const auto p = sealed(x > 0.f);
    const auto way = switch_(x, p);
    const tensor y = merge(way.if_false * two, way.if_true + two).value;
    check_both(y, 5.f, feed(x, 3.f));
    check_both(y, 13.f, feed(x, 3.f), feed(two, 10.f));
    check_both(y, -30.f, feed(x, -3.f), feed(two, 10.f));

    const auto again = switch_(x, p);
    const auto inner = cond(
        sealed(again.if_true > 1.f), [&] { return tensor(two * 3.f); }, [&] { return tensor(two * 4.f); });
    const tensor z = merge(again.if_false, again.if_true + inner).value;
    check_both(z, 9.f, feed(x, 3.f));
    for (const bool raise : {true, false})
        CHECK_THROWS_WITH(session({.raise_primitives = raise}).run(z, feed(x, 3.f), feed(two, 10.f)),
                          contains("constant 'two'") && contains("is fed, but '") && contains("identity()"));
}

} // namespace test_passes_functionalize_control_flow
