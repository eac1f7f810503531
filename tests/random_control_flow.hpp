// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Random programs of branches, loops, folds, scans, maps, functions and writes, nested: what a graph computes of them, and its gradients
// to second order, is what a plain interpreter computes in numbers that carry their derivatives; third gradients are what differences
// say. Some programs have branches and loops made of primitives. Seeds: tests/seeds.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "seeds.hpp"

namespace test_random_control_flow {

using namespace rill;

/// A program: an expression over numbers that have been computed so far.
struct program {
    enum kind {
        argument,
        number,
        sum,
        product,
        sine,
        branch,
        choice,
        loop,
        fold_over,
        scan_over,
        map_over,
        call,
        write,
        matrices,
        masked
    } what = number;
    double value = 0;       // of a number
    int place = 0;          // of an argument; of a loop: how often at most
    bool primitive = false; // a branch or loop that is made of switch_, merge, enter, …
    bool other = false;     // of a function: its gradient computes it again; of matrices: extents are open
    std::vector<program> parts;
};

/// Which kinds of programs are drawn.
enum class drawn { all, with_primitives };

class generator {
public:
    explicit generator(std::uint64_t seed, drawn kinds = drawn::all)
        : random_(seed), primitives_(kinds == drawn::with_primitives) {}

    program make(int depth, int arguments) {
        program p;
        p.other = below(2) > 0;
        const int pick = depth == 0 ? below(2) : 2 + below(primitives_ ? 12 : 18);
        switch (pick) {
        case 0: return p.what = program::argument, p.place = below(arguments), p;
        case 1: return p.what = program::number, p.value = (below(200) - 100) / 64., p;
        case 2:
        case 3: return of(program::sum, p, {make(depth - 1, arguments), make(depth - 1, arguments)});
        case 4:
        case 5: return of(program::product, p, {make(depth - 1, arguments), make(depth - 1, arguments)});
        case 6: return of(program::sine, p, {make(depth - 1, arguments)});
        case 7:
        case 8: // condition, one branch, the other
            p.primitive = primitives_ && below(2) > 0;
            return of(program::branch, p,
                      {make(depth - 1, arguments), within(p, depth, arguments), within(p, depth, arguments)});
        case 9:
        case 10: // the first state, the body with the state as a further argument
            p.place = below(4);
            p.primitive = primitives_ && below(2) > 0;
            return of(program::loop, p, {make(depth - 1, arguments), within(p, depth, arguments + 1)});
        case 11: // the first state, the body with state and slice
            return of(program::fold_over, p, {make(depth - 1, arguments), make(depth - 1, arguments + 2)});
        case 12: // what is given, the function's body
            return of(program::call, p, {make(depth - 1, arguments), make(depth - 1, 1)});
        case 13: // adds to the variable, and gives what was added
            return of(pure_ > 0 ? program::sine : program::write, p, {make(depth - 1, arguments)});
        case 14: // the number, three branches
            return of(program::choice, p,
                      {make(depth - 1, arguments), make(depth - 1, arguments), make(depth - 1, arguments),
                       make(depth - 1, arguments)});
        case 15: // as a fold
            return of(program::scan_over, p, {make(depth - 1, arguments), make(depth - 1, arguments + 2)});
        case 16: // the body with the slice
            return of(program::map_over, p, {make(depth - 1, arguments + 1)});
        case 17: return of(program::matrices, p, {make(depth - 1, arguments)});
        default: return of(program::masked, p, {make(depth - 1, arguments)});
        }
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    static program of(program::kind what, program p, std::vector<program> parts) {
        p.what = what;
        p.parts = std::move(parts);
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
const std::vector<double> weights{0.5, -1, 0.75}; // of what a scan or map gives

/// An n by n matrix whose rows have sums of both signs.
struct square_matrix {
    index_t n;
    double at(index_t i, index_t j) const {
        return (i % 3 == 1 ? -0.6 : 0.8) / static_cast<double>(n + (i * 3 + j) % 4);
    }
    double product(index_t i, index_t j) const { // of it with itself
        double sum = 0;
        for (index_t k = 0; k < n; ++k) sum += at(i, k) * at(k, j);
        return sum;
    }
    xt::xtensor<double, 2> values() const {
        xt::xtensor<double, 2> all = xt::zeros<double>({n, n});
        for (index_t i = 0; i < n; ++i)
            for (index_t j = 0; j < n; ++j) all(i, j) = at(i, j);
        return all;
    }
};
constexpr square_matrix fixed{13}, open{4}; // the first has more elements than a constant of zeros is made of

/// A number with its derivatives by two others.
struct jet {
    double v = 0;
    std::array<double, 2> d{};
    std::array<double, 3> dd{}; // by the first twice, by both, by the second twice

    jet(double value = 0) : v(value) {}
    static jet by(double value, std::size_t number) {
        jet j(value);
        j.d[number] = 1;
        return j;
    }
    /// f(*this), given f and its derivatives there.
    jet through(double f, double df, double ddf) const {
        jet j(f);
        for (std::size_t i = 0; i < 2; ++i) j.d[i] = df * d[i];
        for (std::size_t k = 0; k < 3; ++k) j.dd[k] = df * dd[k] + ddf * d[k / 2] * d[(k + 1) / 2];
        return j;
    }
    double largest() const {
        double most = std::abs(v);
        for (const double x : d) most = std::max(most, std::abs(x));
        for (const double x : dd) most = std::max(most, std::abs(x));
        return most;
    }
    friend jet operator+(jet a, const jet& b) {
        a.v += b.v;
        for (std::size_t i = 0; i < 2; ++i) a.d[i] += b.d[i];
        for (std::size_t k = 0; k < 3; ++k) a.dd[k] += b.dd[k];
        return a;
    }
    friend jet operator*(const jet& a, const jet& b) {
        jet j(a.v * b.v);
        for (std::size_t i = 0; i < 2; ++i) j.d[i] = a.d[i] * b.v + a.v * b.d[i];
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t p = k / 2, q = (k + 1) / 2;
            j.dd[k] = a.dd[k] * b.v + a.d[p] * b.d[q] + a.d[q] * b.d[p] + a.v * b.dd[k];
        }
        return j;
    }
};

/// In C++.
struct interpreter {
    double written = 0;
    double nearest = 1e9; // how close a condition came to its edge
    double largest = 0;   // of all numbers and derivatives

    jet run(const program& p, std::vector<jet>& known) {
        const jet result = computed(p, known);
        largest = std::max(largest, result.largest());
        return result;
    }

private:
    jet computed(const program& p, std::vector<jet>& known) {
        switch (p.what) {
        case program::argument: return known[static_cast<std::size_t>(p.place)];
        case program::number: return p.value;
        case program::sum: {
            const jet a = run(p.parts[0], known);
            return a + run(p.parts[1], known);
        }
        case program::product: {
            const jet a = run(p.parts[0], known);
            return a * run(p.parts[1], known) * 0.5;
        }
        case program::sine: {
            const jet a = run(p.parts[0], known);
            return a.through(std::sin(a.v), std::cos(a.v), -std::sin(a.v));
        }
        case program::branch: {
            const double c = run(p.parts[0], known).v;
            is_near(c);
            return run(p.parts[c > 0 ? 1 : 2], known);
        }
        case program::choice: {
            const double c = 2 * run(p.parts[0], known).v;
            is_near(c - std::round(c));
            const double which = std::trunc(c);
            return run(p.parts[which == 0 ? 1 : which == 1 ? 2 : 3], known);
        }
        case program::loop: {
            jet state = run(p.parts[0], known);
            is_near(state.v - 5);
            for (int k = 0; k < p.place && state.v < 5; ++k) {
                state = with(known, {state}, p.parts[1]);
                is_near(state.v - 5);
            }
            return state;
        }
        case program::fold_over:
        case program::scan_over: {
            jet state = run(p.parts[0], known), all;
            for (std::size_t k = 0; k < slices.size(); ++k) {
                state = with(known, {state, slices[k]}, p.parts[1]);
                all = all + state * weights[k];
            }
            return p.what == program::fold_over ? state : all;
        }
        case program::map_over: {
            jet all;
            for (std::size_t k = 0; k < slices.size(); ++k)
                all = all + with(known, {slices[k]}, p.parts[0]) * weights[k];
            return all;
        }
        case program::call: {
            std::vector<jet> own{run(p.parts[0], known)};
            return run(p.parts[1], own);
        }
        case program::write: {
            const jet v = run(p.parts[0], known);
            written += v.v;
            return v;
        }
        case program::matrices:
        case program::masked: return squares(p, run(p.parts[0], known));
        }
        return 0;
    }
    /// The sum of squares of a times the matrix times itself: of all rows, or of those whose sum is above 0.1.
    jet squares(const program& p, const jet& a) {
        const square_matrix& m = p.other ? open : fixed;
        jet all;
        for (index_t i = 0; i < m.n; ++i) {
            double row = 0, squares = 0;
            for (index_t j = 0; j < m.n; ++j) row += m.product(i, j), squares += m.product(i, j) * m.product(i, j);
            if (p.what == program::masked) {
                is_near(a.v * row - 0.1);
                if (!(a.v * row > 0.1)) continue;
            }
            all = all + a * a * squares;
        }
        return all;
    }
    jet with(std::vector<jet>& known, const std::vector<jet>& more, const program& p) {
        known.insert(known.end(), more.begin(), more.end());
        const jet result = run(p, known);
        known.resize(known.size() - more.size());
        return result;
    }
    void is_near(double edge) { nearest = std::min(nearest, std::abs(edge)); }
};

using scalar_tensor = tensor<double>;

/// In a graph.
struct builder {
    const variable<double>& written;
    const tensor<double, 3>& over;
    const tensor<double, dyn, dyn>& matrix; // of open extents
    int &loops, &within;                    // made of primitives: how many, how many around
    bool unrolled = false;                  // all that may run is there and runs, and nothing is written

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
        case program::choice: {
            const tensor<int> which = sealed(cast<int>(build(p.parts[0], known) * 2.));
            const auto part = [&](std::size_t k) { return [&, k] { return build(p.parts[k], known); }; };
            if (unrolled)
                return scalar_tensor(
                    select(equal(which, 0), part(1)(), scalar_tensor(select(equal(which, 1), part(2)(), part(3)()))));
            return switch_case(which, part(1), part(2), part(3));
        }
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
                           std::tuple(constant(0), build(p.parts[0], known)), {.swap_memory = p.place % 2 == 0});
            return state;
        }
        case program::fold_over:
        case program::scan_over: return states(p, known);
        case program::map_over: {
            if (unrolled) {
                scalar_tensor all(constant(0.));
                for (std::size_t k = 0; k < slices.size(); ++k)
                    all = scalar_tensor(all + build(p.parts[0], with(known, {scalar_tensor(constant(slices[k]))})) *
                                                  weights[k]);
                return all;
            }
            return weighted(map([&](auto in) { return build(p.parts[0], with(known, {in})); }, over));
        }
        case program::call: {
            if (unrolled) return build(p.parts[1], {build(p.parts[0], known)});
            const auto body = [&](auto x) { return build(p.parts[1], {x}); };
            const auto given = build(p.parts[0], known);
            return p.other ? recompute(body)(given) : function(body)(given);
        }
        case program::write: {
            const auto v = build(p.parts[0], known);
            if (!unrolled) written.assign_add(v);
            return v;
        }
        case program::matrices:
        case program::masked: {
            const auto a = build(p.parts[0], known);
            if (p.other) return squares(p, a, matrix);
            return squares(p, a, tensor(reshape<fixed.n, fixed.n>(constant(fixed.values()))));
        }
        }
        return {};
    }

private:
    template <class M> static scalar_tensor squares(const program& p, const scalar_tensor& a, const M& m) {
        const tensor product = matmul(sealed(m * a), m);
        if (p.what == program::matrices) return scalar_tensor(reduce_sum(square(product)));
        return scalar_tensor(reduce_sum(square(boolean_mask(product, sealed(reduce_sum<1>(product) > 0.1)))));
    }
    static scalar_tensor weighted(const tensor<double, 3>& all) {
        return scalar_tensor(reduce_sum(all * constant({0.5, -1., 0.75})));
    }
    scalar_tensor states(const program& p, const std::vector<scalar_tensor>& known) const {
        auto state = build(p.parts[0], known);
        if (!unrolled) {
            const auto next = [&](auto s, auto in) { return build(p.parts[1], with(known, {s, in})); };
            if (p.what == program::fold_over) return fold(next, state, over);
            return weighted(scan(next, state, over, {.swap_memory = p.other}));
        }
        scalar_tensor all(constant(0.));
        for (std::size_t k = 0; k < slices.size(); ++k) {
            state = build(p.parts[1], with(known, {state, scalar_tensor(constant(slices[k]))}));
            all = scalar_tensor(all + state * weights[k]);
        }
        return p.what == program::fold_over ? state : all;
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
inline operation writes_of(const graph& g) {
    std::vector<operation> writes;
    for (const auto* n : g.nodes())
        if (!n->inside && !n->op->writes().empty() && n->name.find("written/") == std::string::npos)
            writes.emplace_back(n);
    return group(writes);
}

inline bool close(double a, double b, double tolerance) {
    return a == b || std::abs(a - b) <= tolerance * std::max({1., std::abs(a), std::abs(b)}) ||
           (std::isnan(a) && std::isnan(b));
}

/// A program with what it computes at one place.
struct trial {
    program p;
    double x, w = -0.6;
    jet value;
    double written = 0, nearest = 0, largest = 0;

    trial(std::uint64_t seed, drawn kinds)
        : p(generator(seed, kinds).make(4, 2)), x(0.4 + static_cast<double>(seed % 300) * 0.01) {
        *this = at(x);
    }
    trial at(double other_x) const {
        trial t(*this);
        t.x = other_x;
        interpreter i;
        std::vector<jet> known{jet::by(t.x, 0), jet::by(w, 1)};
        t.value = i.run(p, known);
        t.written = i.written, t.nearest = i.nearest, t.largest = i.largest;
        return t;
    }
    /// No condition is so close to its edge that rounding decides, and no number so large that little is left of others.
    bool is_clear() const { return nearest > 1e-9 && std::isfinite(largest) && largest < 1e6; }
    bool is(double found, double wanted) const { return close(found, wanted, 1e-11 * std::max(1., largest)); }
};

/// The same program in a graph, at the same place. Each node made during its life is on the device that `where` gives, if it is set.
struct built {
    graph_scope here{graph()};
    std::optional<device_scope> devices;
    placeholder<double> x{"x"};
    variable<double> w{"w", -0.6};
    variable<double> written{"written", 0.};
    placeholder<double, dyn, dyn> matrix{"matrix"};
    tensor<double, 3> over = constant({0.3, -0.7, 0.5});
    int loops = 0, within = 0;
    scalar_tensor z;
    operation writes;

    explicit built(const program& p, const device_function& where = {}) {
        if (where) devices.emplace(where);
        z = make(p, false);
        writes = writes_of(current_graph());
    }
    scalar_tensor make(const program& p, bool unrolled) {
        return builder{written, over, matrix, loops, within, unrolled}.build(p, {x, w});
    }
    template <class T> auto run(const session& s, const T& fetched, double at) const {
        return s.run(fetched, feed(x, at), feed(matrix, open.values()));
    }
};

/// Calls f(seed, trial) for each program that is wanted.
template <class F> void each_program(std::uint64_t usual, drawn kinds, const F& f) {
    seeds::each(usual, [&](std::uint64_t seed) { f(seed, trial(seed, kinds)); });
}

} // namespace test_random_control_flow
