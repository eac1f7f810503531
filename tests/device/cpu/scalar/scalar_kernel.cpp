// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/scalar/scalar_kernel.hpp>

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <rill/expr/tracer.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_device_cpu_scalar_kernel {

using generator = std::mt19937;

std::size_t below(generator& r, std::size_t n) { return r() % n; }

/// An elementwise op over operands of these types.
struct elementwise {
    const elementwise_info* op;
    std::vector<dtype> operands;
    dtype result;
};

template <class Op, class... A> elementwise elementwise_of(std::tuple<A...>*) {
    return {&info_of<Op>, {dtype_of<A>...}, dtype_of<elementwise_result<Op, A...>>};
}
template <class Op, class T> elementwise elementwise_of() {
    if constexpr (requires { typename Op::template operands<T>; }) {
        return elementwise_of<Op>(static_cast<typename Op::template operands<T>*>(nullptr));
    } else {
        constexpr int operands = detail::operands_of<Op, T>();
        using all = std::conditional_t<operands == 1, std::tuple<T>,
                                       std::conditional_t<operands == 2, std::tuple<T, T>, std::tuple<T, T, T>>>;
        return elementwise_of<Op>(static_cast<all*>(nullptr));
    }
}

/// Those of the catalogue that report no errors: they stand alone.
std::vector<elementwise> all_elementwise() {
    std::vector<elementwise> all;
    types::common::each([&]<class T>(std::type_identity<T>) {
        catalogue::each([&]<class Op>(std::type_identity<Op>) {
            if constexpr (!detail::node_op_struct<Op> && op_takes<Op, T>) {
                const auto e = elementwise_of<Op, T>();
                if (!e.op->divides || is_differentiable(e.result)) all.push_back(e);
            }
        });
    });
    return all;
}

scalar_value random_number(generator& r, dtype type) {
    if (type == dtype::boolean) return scalar_value(below(r, 2) == 0);
    const double all[] = {0, 1, -1, 0.25, -0.75, 2.5, -3, 7, 1e-3, 40};
    return detail::scalar_of(type, all[below(r, std::size(all))]);
}

/// The same graph for numbers and for arrays of two equal ones, which run node by node, or in blocks.
struct graphs {
    std::vector<any_tensor> numbers, pairs;
    std::vector<any_array> values, twice; // of what is fed, the first of both
    std::vector<elementwise> ops = all_elementwise();

    void feed_one(dtype type, const scalar_value& value) {
        const std::string name = "x" + std::to_string(values.size());
        numbers.push_back(any_placeholder(name, type, dims{}));
        pairs.push_back(any_placeholder(name + "_pair", type, dims{2}));
        any_array one(type, dims{}), two(type, dims{2});
        for (std::size_t i = 0; i < 3; ++i)
            std::memcpy(static_cast<std::byte*>((i == 0 ? one : two).mutable_data()) + (i == 2 ? size_of(type) : 0),
                        value.bytes.data(), size_of(type));
        values.push_back(one);
        twice.push_back(two);
    }

    /// A node of a random program: of one op, as programs that are compiled find it, or of several.
    void add_program(generator& r) {
        std::vector<std::size_t> from;
        std::vector<dtype> leaves;
        for (std::size_t k = 1 + below(r, 3); k > 0; --k) {
            from.push_back(below(r, numbers.size()));
            leaves.push_back(numbers[from.back()].dtype());
        }
        tracer t(leaves, {});
        std::vector<int> made;
        for (std::size_t i = 0; i < leaves.size(); ++i) made.push_back(t.leaf(static_cast<int>(i)));
        for (std::size_t k = 1 + below(r, 5); k > 0; --k) {
            const auto& e = ops[below(r, ops.size())];
            std::vector<int> args;
            for (const auto type : e.operands) {
                std::vector<int> fit;
                for (const int m : made)
                    if (t.type_of(m) == type) fit.push_back(m);
                const bool number = fit.empty() || below(r, 6) == 0;
                args.push_back(number ? t.constant(random_number(r, type)) : fit[below(r, fit.size())]);
            }
            made.push_back(t.emit(*e.op, e.result, args));
        }
        const auto body = below(r, 2) == 0 ? t.finish_op(made.back()) : t.finish({made.back()});
        endpoint_list inputs, pair_inputs;
        for (const auto f : from) inputs.push_back(numbers[f]), pair_inputs.push_back(pairs[f]);
        const graph g = current_graph();
        numbers.push_back(any_tensor(detail::add_program(g, body, t.scalars(), inputs)));
        pairs.push_back(any_tensor(detail::add_program(g, body, t.scalars(), pair_inputs)));
    }

    /// A gradient by what is fed: of a value that has one.
    void add_gradient(generator& r) {
        const auto k = below(r, numbers.size());
        if (!is_differentiable(numbers[k].dtype())) return;
        const auto by = [&](const std::vector<any_tensor>& all) {
            return gradients({all[k]}, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(values.size())});
        };
        try {
            const auto one = by(numbers), two = by(pairs);
            REQUIRE(one.size() == two.size());
            for (std::size_t i = 0; i < one.size(); ++i)
                if (one[i] && two[i]) numbers.push_back(one[i]), pairs.push_back(two[i]);
        } catch (const unimplemented&) { // an op without a pullback
        }
    }

    static bool same(const any_array& number, const any_array& pair) {
        const auto* const one = static_cast<const std::byte*>(number.data());
        const auto* const two = static_cast<const std::byte*>(pair.data());
        const std::size_t n = size_of(number.type().type);
        return number.type().type == pair.type().type && std::memcmp(one, two, n) == 0 &&
               std::memcmp(one, two + n, n) == 0;
    }

    /// Fetches some of the values, with feeds of inner ones too.
    void compare(const session& s, const std::vector<std::size_t>& fetched, const std::vector<std::size_t>& fed) const {
        std::vector<feed_value> feeds, pair_feeds;
        for (std::size_t i = 0; i < values.size(); ++i) {
            feeds.push_back(feed(numbers[i], values[i]));
            pair_feeds.push_back(feed(pairs[i], twice[i]));
        }
        const auto first = feeds, first_pairs = pair_feeds;
        for (const auto f : fed) {
            feeds.push_back(feed(numbers[f], s.run(numbers[f], first)));
            pair_feeds.push_back(feed(pairs[f], s.run(pairs[f], first_pairs)));
        }
        std::vector<any_tensor> a, b;
        for (const auto f : fetched) a.push_back(numbers[f]), b.push_back(pairs[f]);
        const auto one = s.run(a, feeds), two = s.run(b, pair_feeds);
        for (std::size_t i = 0; i < fetched.size(); ++i) {
            INFO(numbers[fetched[i]].node()->name << ": " << numbers[fetched[i]].node()->op->label());
            REQUIRE(same(one[i], two[i]));
        }
    }
};

} // namespace test_device_cpu_scalar_kernel

TEST_CASE("scalar_kernel: bit for bit what the nodes give one by one, for every op and type") {
    using namespace test_device_cpu_scalar_kernel;
    const without_emitter by_calls; // machine code rounds otherwise: tests/device/cpu/scalar/scalar_jit.cpp
    generator r(7);
    for (int round = 0; round < 150; ++round) {
        const graph g;
        const graph_scope here(g);
        graphs both;
        REQUIRE(both.ops.size() > 150);
        for (const auto type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean})
            for (int i = 0; i < 2; ++i) both.feed_one(type, random_number(r, type));
        for (int k = 0; k < 25; ++k) both.add_program(r);
        for (int k = 0; k < 3; ++k) both.add_gradient(r);
        const session s(g, {.inter_op_threads = 0, .intra_op_threads = 0});
        std::vector<std::size_t> all, some, fed;
        for (std::size_t i = both.values.size(); i < both.numbers.size(); ++i) {
            all.push_back(i);
            if (below(r, 4) == 0) some.push_back(i);
            if (below(r, 8) == 0) fed.push_back(i);
        }
        INFO("round " << round);
        both.compare(s, all, {});
        if (!some.empty()) both.compare(s, some, fed);
    }
}

TEST_CASE("scalar_kernel: each op alone, of numbers that are fed and of constants") {
    using namespace test_device_cpu_scalar_kernel;
    generator r(3);
    const graph g;
    const graph_scope here(g);
    graphs both;
    for (const auto type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean})
        both.feed_one(type, random_number(r, type));
    const auto place_of = [&](dtype type) {
        std::size_t at = 0;
        while (both.numbers[at].dtype() != type) ++at;
        return at;
    };
    const session s(g);
    for (const auto& e : both.ops)
        for (std::size_t constant = 0; constant <= e.operands.size(); ++constant) { // the last: none
            if (constant < e.operands.size() && e.operands.size() == 1) continue;
            tracer t(constant > 0 || e.operands.size() == 1 ? std::vector{e.operands[0]}
                                                            : std::vector{e.operands.back()},
                     {});
            std::vector<int> args;
            for (std::size_t k = 0; k < e.operands.size(); ++k)
                args.push_back(k == constant || t.type_of(t.leaf(0)) != e.operands[k]
                                   ? t.constant(random_number(r, e.operands[k]))
                                   : t.leaf(0));
            const auto body = t.finish_op(t.emit(*e.op, e.result, args));
            const auto at = place_of(t.type_of(t.leaf(0)));
            both.numbers.push_back(any_tensor(detail::add_program(g, body, t.scalars(), {both.numbers[at]})));
            both.pairs.push_back(any_tensor(detail::add_program(g, body, t.scalars(), {both.pairs[at]})));
            INFO(e.op->name << " of " << to_string(e.operands[0]) << ", constant " << constant);
            both.compare(s, {both.numbers.size() - 1}, {});
        }
}

TEST_CASE("scalar_kernel: variables that are read and written, and nodes beside numbers") {
    const graph g;
    const graph_scope here(g);
    variable<double> v("v", 3.), w("w", 0.5);
    placeholder<double, dyn> x("x");
    tensor a = v * w + 1., b = tanh(a) - v;
    tensor sum = reduce_sum(x * b); // needs what numbers gave, and numbers need it
    tensor c = sum * a + b, d = c / v;
    auto first = v.assign(v * 2. + d);
    auto second = w.assign_add(first * 0.125); // the value written
    tensor e = second - a;
    const session s(g);
    s.run(global_variables_initializer());
    double vv = 3, ww = 0.5;
    for (int i = 0; i < 3; ++i) {
        const auto [got_d, got_e, got_a] = s.run(std::tuple(d, e, a), feed(x, std::vector<double>{1, 2, -0.5}));
        const double ha = vv * ww + 1, hb = std::tanh(ha) - vv, hc = 2.5 * hb * ha + hb, hd = hc / vv;
        vv = vv * 2 + hd, ww += vv * 0.125;
        CHECK(got_a == Approx(ha));
        CHECK(got_d == Approx(hd));
        CHECK(got_e == Approx(ww - ha));
        CHECK(s.run(v) == Approx(vv));
        CHECK(s.run(w) == Approx(ww));
    }
}

TEST_CASE("scalar_kernel: reductions of one element, whatever the rank") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x");
    const tensor mean = reduce_mean<0>(x * x);
    const tensor sum = reduce_sum(mean + 1.f), most = reduce_max(x);
    const auto [dx] = gradients(sum * most, x);
    const session s(g);
    const auto got = s.run(std::tuple(mean, sum, dx), feed(x, xt::xtensor<float, 2>{{3.f}}));
    CHECK((std::get<0>(got) == xt::xtensor<float, 1>{9.f}));
    CHECK(std::get<1>(got) == 10.f);
    CHECK((std::get<2>(got) == xt::xtensor<float, 2>{{28.f}}));
}

TEST_CASE("scalar_kernel: a division of integers by zero is an error that names its node, and the session goes on") {
    const graph g;
    const graph_scope here(g);
    placeholder<int> a("a"), b("b");
    const tensor more(a + 1, "more"), quotient(more / b, "quotient"), rest(quotient - a, "rest");
    const session s(g);
    CHECK(s.run(rest, feed(a, 7), feed(b, 2)) == -3);
    try {
        s.run(rest, feed(a, 7), feed(b, 0));
        FAIL("no error");
    } catch (const invalid_argument& problem) {
        CHECK(std::string(problem.what()).find("'quotient'") != std::string::npos);
    }
    CHECK(s.run(rest, feed(a, 8), feed(b, 3)) == -5);
}

TEST_CASE("scalar_kernel: nodes of more operands than a table on the stack holds, and steps that run at once") {
    const graph g;
    const graph_scope here(g);
    std::vector<any_tensor> all;
    for (int i = 0; i < 90; ++i) all.push_back(any_placeholder("x" + std::to_string(i), dtype::float32, dims{}));
    tracer t(std::vector<dtype>(90, dtype::float32), {});
    int sum = t.leaf(0);
    for (int i = 1; i < 90; ++i) sum = t.emit(info_of<add_op>, dtype::float32, {sum, t.leaf(i)});
    endpoint_list inputs;
    for (const auto& x : all) inputs.push_back(x);
    const any_tensor y(detail::add_program(g, t.finish({sum}), {}, inputs));
    const auto slopes = gradients({square(y)}, all); // one node with 90 results
    const session s(g);
    std::vector<feed_value> feeds;
    for (const auto& x : all) feeds.push_back(feed(x, 1.f));
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int k = 0; k < 3; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < 20; ++i) {
                const auto got = s.run(std::vector<any_tensor>{y, slopes[0], slopes[89]}, feeds);
                right += got[0].elements<float>()[0] == 90.f && got[1].elements<float>()[0] == 180.f &&
                         got[2].elements<float>()[0] == 180.f;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(right == 60);
}
