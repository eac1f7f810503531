// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What every random op has to do. An op describes itself by a struct:
//     name; seeded<T, D...>(seed) and unseeded<T, D...>(), typed; untyped(dtype, dims, seed) and untyped(dtype, dims);
//     like<T>(shape, seed) and like(dtype, shape, seed), where the shape is a tensor;
//     fill(n, stream, to): the primitive behind `seeded`, for float.

#include <algorithm>
#include <cmath>

#include <rill/ops/array/shape.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

namespace random_test {

using namespace rill;
using op_test::list;

template <class Op> void seed_says_everything() {
    const graph g;
    const graph_scope here(g);
    const auto x = Op::template seeded<float, 3, 4>(7);
    static_assert(std::is_same_v<std::remove_const_t<decltype(x)>, tensor<float, 3, 4>>);
    const session s(g), t(g);
    const auto first = list(s.run(x)), second = list(s.run(x));
    CHECK(first != second);
    CHECK(list(t.run(x)) == first); // each session counts its own runs
    CHECK(list(t.run(x)) == second);
    any_array direct(dtype::float32, {3, 4});
    auto* values = static_cast<float*>(direct.mutable_data());
    Op::fill(12, {7, 1}, values);
#ifdef RILL_TEST_ROUNDS // the device's logarithms and sines round differently
    constexpr double rounding = 1e-5;
#else
    constexpr double rounding = 0;
#endif
    CHECK(std::equal(second.begin(), second.end(), values,
                     [&](double a, double b) { return std::abs(a - b) <= rounding * std::max(1., std::abs(b)); }));
    const auto other = Op::template seeded<float, 3, 4>(8);
    CHECK(list(t.run(other)) != first);
}

template <class Op> void graph_and_name_seed() {
    const auto draw = [](std::uint64_t seed, const std::string& scope) {
        const graph g;
        const graph_scope here(g);
        g.set_seed(seed);
        const name_scope named(scope);
        const auto x = Op::template unseeded<double, 5>(), y = Op::template unseeded<double, 5>();
        const session s(g);
        const auto [a, b] = s.run(std::tuple(x, y));
        CHECK(list(a) != list(b)); // equal attributes, and yet never one node
        return list(a);
    };
    CHECK(draw(1, "a") == draw(1, "a"));
    CHECK(draw(1, "a") != draw(2, "a"));
    CHECK(draw(1, "a") != draw(1, "b"));
}

template <class Op> void one_value_in_a_run() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = Op::template unseeded<float, 100>();
    const auto difference = s.run(x + x - x - x);
    CHECK(std::all_of(difference.begin(), difference.end(), [](float v) { return v == 0.f; }));
    CHECK_FALSE(gradients({x}, {any_placeholder("other", dtype::float32)})[0]);
}

template <class Op> void known_at_run_time() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = Op::untyped(dtype::float64, {2, 5}, 3);
    CHECK(s.run(x).type() == tensor_type{dtype::float64, {2, 5}});
    CHECK(list(s.run(x)) != list(s.run(x)));
    const any_tensor of_float = Op::template like<float>(dims{2, 5}, 3); // the type said, the shape not
    CHECK(s.run(of_float).type() == tensor_type{dtype::float32, {2, 5}});
    CHECK(s.run(Op::template unseeded<half, 7>()).size() == 7);
    CHECK(s.run(Op::template unseeded<float>()) != 0.f);
    CHECK(s.run(Op::template unseeded<float, 0, 3>()).size() == 0);
    CHECK_THROWS_WITH(Op::untyped(dtype::float32, {2, dyn}),
                      contains(std::string(Op::name) + ": the shape [2, ?] is not known"));
    CHECK_THROWS_AS(Op::untyped(dtype::string, {2}), invalid_argument);
}

/// The shape is that which a tensor says in a run.
template <class Op> void shape_is_a_value() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 2> x("x");
    const auto typed = Op::template like<float>(shape(x), 7);
    static_assert(std::is_same_v<std::remove_const_t<decltype(typed)>, tensor<float, dyn, dyn>>);
    const any_tensor wide = any_placeholder("n", dtype::int64, {dyn});
    const any_tensor untyped = Op::like(dtype::float64, wide, 7);
    const session s(g), t(g);
    const auto first = list(s.run(typed, feed(x, xt::xtensor<float, 2>({3, 2}, 0.f))));
    CHECK(first.size() == 6);
    CHECK(list(t.run(Op::template seeded<float, 3, 2>(7))) == first); // as if the extents were known
    CHECK(list(s.run(typed, feed(x, xt::xtensor<float, 2>({3, 2}, 0.f)))) != first);
    CHECK(s.run(typed, feed(x, xt::xtensor<float, 2>({0, 2}, 0.f))).size() == 0);
    CHECK(s.run(untyped, feed(wide, std::vector<std::int64_t>{2, 5, 1})).type() ==
          tensor_type{dtype::float64, {2, 5, 1}});
    CHECK_THROWS_AS(s.run(untyped, feed(wide, std::vector<std::int64_t>{2, -5})), invalid_argument);
    CHECK_THROWS_WITH(Op::like(dtype::float32, any_placeholder("f", dtype::float32, {2}), 0),
                      contains(std::string(Op::name) + ": the shape must be int32 or int64"));
}

/// The values are those of one thread, however many there are and whatever runs beside.
template <class Op> void threads_change_nothing() {
    const auto draw = [](int threads) {
        const graph g;
        const graph_scope here(g);
        const auto x = Op::template seeded<float, 300, 500>(7), y = Op::template seeded<float, 300, 500>(8);
        const session s(g, {.intra_op_threads = threads});
        s.run(x + y);
        return list(s.run(x - y));
    };
    const auto alone = draw(1);
    CHECK(draw(2) == alone);
    CHECK(draw(5) == alone);
}

} // namespace random_test
