// SPDX-License-Identifier: BSD-3-Clause
// Random programs of branches, loops, folds, functions and writes, nested: what a graph computes of them is what plain C++ does, on
// any number of threads; gradients, and gradients of those, are what differences say. Some have branches and loops made of primitives.
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <rill/rill.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_random_control_flow {

/// A program: an expression over numbers that have been computed so far.
struct program {
    enum kind { argument, number, sum, product, sine, branch, loop, fold_over, call, write } what = number;
    double value = 0;       // of a number
    int place = 0;          // of an argument; of a loop: how often at most
    bool primitive = false; // a branch or loop that is made of switch_, merge, enter, …
    std::vector<program> parts;
};

class generator {
public:
    explicit generator(std::uint64_t seed, bool primitives = false) : random_(seed), primitives_(primitives) {}

    program make(int depth, int arguments) {
        program p;
        const int pick = depth == 0 ? below(2) : 2 + below(12);
        switch (pick) {
        case 0: return p.what = program::argument, p.place = below(arguments), p;
        case 1: return p.what = program::number, p.value = (below(200) - 100) / 64., p;
        case 2:
        case 3: return two(program::sum, depth, arguments);
        case 4:
        case 5: return two(program::product, depth, arguments);
        case 6: p.what = program::sine, p.parts = {make(depth - 1, arguments)}; return p;
        case 7:
        case 8: // condition, one branch, the other
            p.what = program::branch;
            p.primitive = primitives_ && below(2) > 0;
            p.parts = {make(depth - 1, arguments), within(p, depth, arguments), within(p, depth, arguments)};
            return p;
        case 9:
        case 10: // the first state, the body with the state as a further argument
            p.what = program::loop, p.place = below(4);
            p.primitive = primitives_ && below(2) > 0;
            p.parts = {make(depth - 1, arguments), within(p, depth, arguments + 1)};
            return p;
        case 11: // the first state, the body with state and slice
            p.what = program::fold_over;
            p.parts = {make(depth - 1, arguments), make(depth - 1, arguments + 2)};
            return p;
        case 12: // what is given, the function's body
            p.what = program::call;
            p.parts = {make(depth - 1, arguments), make(depth - 1, 1)};
            return p;
        default: // adds to the variable, and gives what was added
            if (pure_ > 0) return p.what = program::sine, p.parts = {make(depth - 1, arguments)}, p;
            p.what = program::write, p.parts = {make(depth - 1, arguments)};
            return p;
        }
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    program two(program::kind what, int depth, int arguments) {
        program p;
        p.what = what;
        p.parts = {make(depth - 1, arguments), make(depth - 1, arguments)};
        return p;
    }
    /// What lies between primitives has no writes: `group` would be as dead as the one that was not taken.
    program within(const program& p, int depth, int arguments) {
        pure_ += p.primitive;
        auto made = make(depth - 1, arguments);
        pure_ -= p.primitive;
        return made;
    }
    std::mt19937_64 random_;
    bool primitives_;
    int pure_ = 0;
};

const std::vector<double> slices{0.3, -0.7, 0.5};

/// In C++. `nearest` is how close a condition came to its edge.
struct interpreter {
    double written = 0, nearest = 1e9;

    double run(const program& p, std::vector<double>& known) {
        switch (p.what) {
        case program::argument: return known[static_cast<std::size_t>(p.place)];
        case program::number: return p.value;
        case program::sum: {
            const double a = run(p.parts[0], known);
            return a + run(p.parts[1], known);
        }
        case program::product: {
            const double a = run(p.parts[0], known);
            return a * run(p.parts[1], known) * 0.5;
        }
        case program::sine: return std::sin(run(p.parts[0], known));
        case program::branch: {
            const double c = run(p.parts[0], known);
            nearest = std::min(nearest, std::abs(c));
            return run(p.parts[c > 0 ? 1 : 2], known);
        }
        case program::loop: {
            double state = run(p.parts[0], known);
            for (int k = 0; k < p.place && state < 5; ++k) {
                nearest = std::min(nearest, std::abs(state - 5));
                state = with(known, {state}, p.parts[1]);
            }
            nearest = std::min(nearest, std::abs(state - 5));
            return state;
        }
        case program::fold_over: {
            double state = run(p.parts[0], known);
            for (const double s : slices) state = with(known, {state, s}, p.parts[1]);
            return state;
        }
        case program::call: {
            std::vector<double> own{run(p.parts[0], known)};
            return run(p.parts[1], own);
        }
        case program::write: {
            const double v = run(p.parts[0], known);
            written += v;
            return v;
        }
        }
        return 0;
    }
    double with(std::vector<double>& known, const std::vector<double>& more, const program& p) {
        known.insert(known.end(), more.begin(), more.end());
        const double result = run(p, known);
        known.resize(known.size() - more.size());
        return result;
    }
};

using scalar_tensor = tensor<double>;

/// In a graph.
struct builder {
    const variable<double>& written;
    const tensor<double, 3>& over;
    int &loops, &within;   // made of primitives: how many, how many around
    bool unrolled = false; // all that may run is there and runs, and nothing is written

    scalar_tensor build(const program& p, const std::vector<scalar_tensor>& known) const {
        switch (p.what) {
        case program::argument: return known[static_cast<std::size_t>(p.place)];
        case program::number: return scalar_tensor(constant(p.value));
        case program::sum: return scalar_tensor(build(p.parts[0], known) + build(p.parts[1], known));
        case program::product: return scalar_tensor(build(p.parts[0], known) * build(p.parts[1], known) * 0.5);
        case program::sine: return scalar_tensor(sin(build(p.parts[0], known)));
        case program::branch:
            if (p.primitive) return branch_of_primitives(p, known);
            if (unrolled)
                return scalar_tensor(
                    select(build(p.parts[0], known) > 0., build(p.parts[1], known), build(p.parts[2], known)));
            return cond(
                build(p.parts[0], known) > 0., [&] { return build(p.parts[1], known); },
                [&] { return build(p.parts[2], known); });
        case program::loop: {
            if (p.primitive) return loop_of_primitives(p, known);
            if (unrolled) {
                auto state = build(p.parts[0], known);
                tensor<bool> on = sealed(state < 5.);
                for (int k = 0; k < p.place; ++k) {
                    state = scalar_tensor(select(on, build(p.parts[1], with(known, {state})), state));
                    on = sealed(logical_and(on, state < 5.));
                }
                return state;
            }
            const auto [k, state] =
                while_loop([&](auto i, auto s) { return logical_and(i < p.place, s < 5.); },
                           [&](auto i, auto s) { return std::tuple(i + 1, build(p.parts[1], with(known, {s}))); },
                           constant(0), build(p.parts[0], known));
            return state;
        }
        case program::fold_over:
            if (unrolled) {
                auto state = build(p.parts[0], known);
                for (const double x : slices)
                    state = build(p.parts[1], with(known, {state, scalar_tensor(constant(x))}));
                return state;
            }
            return fold([&](auto s, auto in) { return build(p.parts[1], with(known, {s, in})); },
                        build(p.parts[0], known), over);
        case program::call: {
            if (unrolled) return build(p.parts[1], {build(p.parts[0], known)});
            const auto f = function([&](auto x) { return build(p.parts[1], {x}); });
            return f(build(p.parts[0], known));
        }
        case program::write: {
            const auto v = build(p.parts[0], known);
            if (!unrolled) written.assign_add(v);
            return v;
        }
        }
        return {};
    }
    /// The value, which is as dead as `as`.
    static scalar_tensor tied(const scalar_tensor& value, const scalar_tensor& as) {
        const tensor pivot(as * 1., "pivot"); // a switch itself runs whichever way it sends
        const control_dependencies after(pivot);
        return scalar_tensor(value * 1.);
    }
    scalar_tensor branch_of_primitives(const program& p, const std::vector<scalar_tensor>& known) const {
        const scalar_tensor by = build(p.parts[0], known);
        const auto pivot = switch_(by, sealed(by > 0.));
        std::vector<scalar_tensor> yes, no;
        for (const auto& k : known) {
            const auto ways = switch_(k, sealed(by > 0.));
            yes.push_back(ways.if_true), no.push_back(ways.if_false);
        }
        return merge(tied(build(p.parts[1], yes), pivot.if_true), tied(build(p.parts[2], no), pivot.if_false)).value;
    }
    scalar_tensor loop_of_primitives(const program& p, const std::vector<scalar_tensor>& known) const {
        const auto name = "loop" + std::to_string(loops++);
        const enter_options several{.parallel_iterations = 1 + loops % 3};
        const auto i = merge(enter(constant(0), name, several));
        const auto s = merge(enter(build(p.parts[0], known), name, several));
        const auto go = loop_cond(logical_and(i.value < p.place, s.value < 5.));
        const auto iw = switch_(i.value, go);
        const auto sw = switch_(s.value, go);
        // in no other loop, every other one enters by itself: what a loop lies in is told by what enters it
        auto inner = known;
        for (std::size_t k = 0; k < inner.size(); k += within > 0 ? 1 : 2)
            inner[k] = enter(inner[k], name, {.is_constant = true});
        ++within;
        const auto next = tied(build(p.parts[1], with(inner, {sw.if_true})), sw.if_true);
        --within;
        close_loop({{i, next_iteration(iw.if_true + 1)}, {s, next_iteration(next)}});
        return leave(sw.if_false);
    }
    static std::vector<scalar_tensor> with(std::vector<scalar_tensor> known, const std::vector<scalar_tensor>& more) {
        known.insert(known.end(), more.begin(), more.end());
        return known;
    }
};

/// All that is written, in a body or not, is written when the body runs; outside of all bodies by name.
operation writes_of(const graph& g) {
    std::vector<operation> writes;
    for (const auto* n : g.nodes())
        if (!n->inside && !n->op->writes().empty() && n->name.find("written/") == std::string::npos)
            writes.emplace_back(n);
    return group(writes);
}

bool close(double a, double b, double tolerance) {
    return a == b || std::abs(a - b) <= tolerance * std::max({1., std::abs(a), std::abs(b)}) ||
           (std::isnan(a) && std::isnan(b));
}

TEST_CASE("random control flow: equal to plain C++ and to the graph unrolled, with gradients of three orders") {
    int compared = 0, differentiated = 0, thrice = 0, wrong = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        generator random(seed);
        const auto p = random.make(4, 2);
        const graph_scope here{graph()};
        placeholder<double> x("x"), y("y");
        const variable<double> written("written", 0.);
        const tensor<double, 3> over = constant({0.3, -0.7, 0.5});
        scalar_tensor z;
        int loops = 0, within = 0;
        z = builder{written, over, loops, within}.build(p, {x, y});
        const operation all = writes_of(current_graph());
        const auto [dx, dy] = gradients(z, x, y);
        const auto [dxx, dxy] = gradients(dx, x, y);
        const bool third = seed % 5 == 0; // graphs grow with the order
        const auto dxxx = third ? std::get<0>(gradients(dxx, x)) : scalar_tensor();
        const auto unrolled = builder{written, over, loops, within, true}.build(p, {x, y});

        const double at_x = 0.4 + static_cast<double>(seed) * 0.01, at_y = -0.6;
        const auto value = [&](double a, double b) {
            std::vector<double> known{a, b};
            interpreter i;
            const double v = i.run(p, known);
            return std::tuple(v, i.written, i.nearest);
        };
        const auto [v, w, nearest] = value(at_x, at_y);
        for (const int threads : {0, 1, 3}) {
            const session s({.inter_op_threads = threads, .intra_op_threads = threads});
            s.run(global_variables_initializer());
            const auto [found] = s.run(std::tuple(z, all), feed(x, at_x), feed(y, at_y));
            INFO("seed " << seed << ", " << threads << " threads: " << found << " and " << v);
            ++compared;
            wrong += !close(found, v, 1e-12);
            CHECK(close(found, v, 1e-12));
            CHECK(close(s.run(written), w, 1e-12));
            CHECK(close(s.run(unrolled, feed(x, at_x), feed(y, at_y)), v, 1e-12));
        }
        if (nearest < 1e-2 || !std::isfinite(v)) continue; // differences would go across an edge
        const session s;
        s.run(global_variables_initializer());
        const auto first = [&](double a, double b) { return s.run(std::tuple(dx, dy), feed(x, a), feed(y, b)); };
        const double e = 1e-5;
        const auto f = [&](double a, double b) { return std::get<0>(value(a, b)); };
        const auto [gx, gy] = first(at_x, at_y);
        INFO("seed " << seed);
        CHECK(close(gx, (f(at_x + e, at_y) - f(at_x - e, at_y)) / (2 * e), 1e-5));
        CHECK(close(gy, (f(at_x, at_y + e) - f(at_x, at_y - e)) / (2 * e), 1e-5));
        const auto [hxx, hxy] = s.run(std::tuple(dxx, dxy), feed(x, at_x), feed(y, at_y));
        CHECK(close(hxx, (std::get<0>(first(at_x + e, at_y)) - std::get<0>(first(at_x - e, at_y))) / (2 * e), 1e-5));
        CHECK(close(hxy, (std::get<0>(first(at_x, at_y + e)) - std::get<0>(first(at_x, at_y - e))) / (2 * e), 1e-5));
        ++differentiated;
        if (!third) continue;
        const auto second = [&](double a) { return s.run(dxx, feed(x, a), feed(y, at_y)); };
        const double slope = (second(at_x + e) - second(at_x - e)) / (2 * e);
        CHECK(close(s.run(dxxx, feed(x, at_x), feed(y, at_y)), slope, 1e-5));
        ++thrice;
    }
    CHECK(compared == 900);
    CHECK(differentiated > 150);
    CHECK(thrice > 30);
    CHECK(wrong == 0);
}

TEST_CASE("random control flow: with branches and loops of primitives, raised and by frames") {
    int compared = 0, wrong = 0, primitives = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        generator random(seed, true);
        const auto p = random.make(4, 2);
        const graph_scope here{graph()};
        placeholder<double> x("x"), y("y");
        const variable<double> written("written", 0.);
        const tensor<double, 3> over = constant({0.3, -0.7, 0.5});
        int loops = 0, within = 0;
        const scalar_tensor z = builder{written, over, loops, within}.build(p, {x, y});
        const operation all = writes_of(current_graph());
        for (const auto* n : current_graph().nodes()) primitives += bool(n->op->flow());
        const double at_x = 0.4 + static_cast<double>(seed) * 0.01, at_y = -0.6;
        std::vector<double> known{at_x, at_y};
        interpreter i;
        const double v = i.run(p, known);
        for (const bool raised : {true, false})
            for (const int threads : {0, 1, 3}) {
                const session s({.inter_op_threads = threads, .intra_op_threads = threads, .raise_primitives = raised});
                s.run(global_variables_initializer());
                INFO("seed " << seed << ", " << threads << " threads, raised " << raised);
                const auto [found] = s.run(std::tuple(z, all), feed(x, at_x), feed(y, at_y));
                ++compared;
                wrong += !close(found, v, 1e-12);
                CHECK(close(found, v, 1e-12));
                CHECK(close(s.run(written), i.written, 1e-12));
            }
    }
    CHECK(compared == 1800);
    CHECK(primitives > 1000);
    CHECK(wrong == 0);
}

} // namespace test_random_control_flow
