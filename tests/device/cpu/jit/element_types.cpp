// SPDX-License-Identifier: BSD-3-Clause
// Programs of each element type that has machine code, compared by bits: with the block interpreter, and with plain C++.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <rill/device/cpu/fusion/interpreter.hpp>
#include <rill/device/cpu/jit/jit_program.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"
#include "seeds.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_device_cpu_jit_element_types {

/// An op for the interpreter and as machine code, also where the headers are all there is.
template <class Op, class... T> void require_kernels() {
    compile_primitive<Op, T...>(); // here, for the level of this file
    detail::register_vector_op<Op, T...>();
}

template <class F> void for_levels(F f) {
    for (const int level : {3, 4})
        if (detail::emits_programs && supports_level(level)) f(level);
}

/// Equal in every bit; a NaN equals any NaN.
template <class T> bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(a) && std::isnan(b)) return true;
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T> using numbers = std::vector<T>;

/// Memory of the operands of a block function.
template <class T> struct operands {
    std::vector<numbers<T>> leaves, results;
    numbers<T> scalars;

    template <class Run> void call(std::int64_t n, const Run& run) {
        std::vector<const void*> from, single;
        std::vector<void*> to;
        for (const auto& l : leaves) from.push_back(l.data());
        for (const auto& s : scalars) single.push_back(&s);
        for (auto& r : results) to.push_back(r.data());
        run(block_args{from.data(), single.data(), to.data(), nullptr, n});
    }
    void run(block_function f, std::int64_t n) {
        call(n, [&](const block_args& a) { f(a); });
    }
    void interpret(const program_ptr& p, std::int64_t n) {
        const block_interpreter by_op(p);
        std::vector<std::byte> scratch(by_op.scratch_bytes());
        call(n, [&](const block_args& a) {
            by_op.begin(scratch.data(), a.scalar);
            by_op.run(a, scratch.data());
        });
    }
};

/// Any number: of usual size, of any size, or of random bits.
template <class T> T any_number(std::mt19937_64& random) {
    switch (random() % 4) {
    case 0: return static_cast<T>(static_cast<double>(random() % 2001) / 100 - 10);
    case 1: return static_cast<T>(static_cast<std::int64_t>(random() % 41) - 20);
    case 2:
        return static_cast<T>(
            std::ldexp(static_cast<double>(random() % 1000) - 500, static_cast<int>(random() % 40) - 20));
    default: {
        const std::uint64_t bits = random();
        T x;
        std::memcpy(&x, &bits, sizeof(T));
        return x;
    }
    }
}

/// Numbers at which functions have edges, and any numbers.
template <class T> numbers<T> all_numbers() {
    using limits = std::numeric_limits<T>;
    numbers<T> all{0,
                   1,
                   2,
                   3,
                   7,
                   20,
                   88,
                   89,
                   103,
                   104,
                   709,
                   710,
                   745,
                   746,
                   8192,
                   8193,
                   1 << 20,
                   (1 << 20) + 1,
                   limits::max(),
                   limits::lowest()};
    if constexpr (std::is_floating_point_v<T>) {
        for (const T x : {T(0.5),
                          T(0.25),
                          T(2.5),
                          T(3.5),
                          T(0.7071067811865475),
                          T(1.4142135623730951),
                          T(1.4142135623730949),
                          T(9.02),
                          T(9.04),
                          T(709.78),
                          T(709.79),
                          T(88.7228),
                          T(1e-3),
                          T(1e-8),
                          T(1e-20),
                          T(1e10),
                          T(8388607.5),
                          limits::infinity(),
                          limits::quiet_NaN(),
                          limits::min(),
                          limits::denorm_min(),
                          limits::min() / 3,
                          limits::epsilon()})
            all.push_back(x);
        all.push_back(std::nextafter(T(1), T(0)));
        all.push_back(std::nextafter(T(1), T(2)));
    }
    for (std::size_t k = 0, n = all.size(); k < n; ++k)
        all.push_back((-lane<T>(all[k])).v), all.push_back((lane<T>(0) - lane<T>(all[k])).v);
    std::mt19937_64 random(5);
    while (all.size() < 2000) all.push_back(any_number<T>(random));
    return all;
}

/// Equal up to some roundings.
template <class T> bool near(T a, T b) {
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    if (same(a, b)) return true;
    if (!(std::abs(a) < most / 2)) return std::signbit(a) == std::signbit(b) && std::abs(b) >= most / 2; // an infinity
    return std::abs(a - b) <= std::numeric_limits<T>::epsilon() * (8 * std::max(std::abs(a), std::abs(b)) + 8 * least);
}

/// Compares a program with the interpreter, over all pairs of a number and some others.
template <class T>
void check_program(const program_ptr& body, int level, numbers<T> scalars = {}, bool (*equal)(T, T) = &same<T>) {
    const block_function made = detail::emit_program(*body, level);
    REQUIRE(made);
    const auto all = all_numbers<T>();
    const std::size_t leaves = body->leaves.size();
    for (std::size_t shift = 0; shift < (leaves == 1 ? 1u : 24u); ++shift)
        for (std::size_t from = 0; from < all.size(); from += 1000) {
            const std::size_t n = std::min<std::size_t>(1000, all.size() - from);
            operands<T> o{{}, {numbers<T>(n)}, scalars};
            for (std::size_t l = 0; l < leaves; ++l) {
                o.leaves.emplace_back();
                for (std::size_t i = 0; i < n; ++i)
                    o.leaves.back().push_back(
                        all[(from + i + l * (shift * 37 + (shift < 12 ? i * 6 : 0))) % all.size()]);
            }
            operands<T> expected = o;
            o.run(made, static_cast<std::int64_t>(n));
            expected.interpret(body, static_cast<std::int64_t>(n));
            for (std::size_t i = 0; i < n; ++i)
                if (!equal(o.results[0][i], expected.results[0][i])) {
                    INFO("level " << level << ", of " << o.leaves[0][i] << ", " << o.leaves.back()[i]);
                    REQUIRE(o.results[0][i] == expected.results[0][i]);
                }
        }
}

template <class Op, class T, class... Operands> void check_op() {
    INFO("op " << Op::name);
    require_kernels<Op, Operands...>();
    std::vector<dtype> types(sizeof...(Operands), dtype_of<T>);
    tracer t(types, {});
    const auto body = [&]<std::size_t... K>(std::index_sequence<K...>) {
        return t.finish({t.emit(info_of<Op>, dtype_of<T>, {t.leaf(static_cast<int>(K))...})});
    }(std::index_sequence_for<Operands...>());
    for_levels([&](int level) { check_program<T>(body, level); });
}

/// An elementary function has the bits of its kernel for a level with fma, and is near to others.
template <class Op, class T, class... Operands> void check_function() {
    INFO("op " << Op::name);
    require_kernels<Op, Operands...>();
    tracer t(std::vector<dtype>(sizeof...(Operands), dtype_of<T>), {});
    const auto body = [&]<std::size_t... K>(std::index_sequence<K...>) {
        return t.finish({t.emit(info_of<Op>, dtype_of<T>, {t.leaf(static_cast<int>(K))...})});
    }(std::index_sequence_for<Operands...>());
    const int compiled = block_interpreter::find_loop(*body, body->code[0]).level;
    for_levels([&](int level) {
        // tanh of floats has a table for each level; silu adds 1 to a square, which compilers may fuse
        const bool by_level = std::is_same_v<Op, tanh_op> && sizeof(T) == 4, fuses = std::is_same_v<Op, silu_op>;
        const bool exact = !fuses && (by_level ? compiled == level : compiled >= 3);
        check_program<T>(body, level, {}, exact ? &same<T> : &near<T>);
    });
}

/// A truth value decides between two numbers.
template <class Op, class T, class... Operands> void check_truth() {
    INFO("op " << Op::name);
    require_kernels<Op, Operands...>();
    require_kernels<select_op, bool, T, T>();
    std::vector<dtype> types(sizeof...(Operands), dtype_of<T>);
    tracer t(types, {scalar_value(T(1)), scalar_value(T(2))});
    t.fix_scalars(2);
    const auto body = [&]<std::size_t... K>(std::index_sequence<K...>) {
        const int truth = t.emit(info_of<Op>, dtype::boolean, {t.leaf(static_cast<int>(K))...});
        return t.finish({t.emit(info_of<select_op>, dtype_of<T>, {truth, t.scalar(0), t.scalar(1)})});
    }(std::index_sequence_for<Operands...>());
    for_levels([&](int level) { check_program<T>(body, level, {T(1), T(2)}); });
}

/// Computes one instruction of a random program for one element, in plain C++.
template <class T> T computed(const program::instruction& i, const std::vector<T>& v) {
    const auto at = [&](std::size_t k) { return v[static_cast<std::size_t>(i.args[k])]; };
    const auto wrapped = [](auto f, T a, T b) {
        if constexpr (std::is_integral_v<T>) {
            using U = std::make_unsigned_t<T>;
            return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
        } else {
            return f(a, b);
        }
    };
    const auto plus = [](auto a, auto b) { return a + b; };
    const auto minus = [](auto a, auto b) { return a - b; };
    const auto times = [](auto a, auto b) { return a * b; };
    if (i.op == &info_of<add_op>) return wrapped(plus, at(0), at(1));
    if (i.op == &info_of<sub_op>) return wrapped(minus, at(0), at(1));
    if (i.op == &info_of<mul_op>) return wrapped(times, at(0), at(1));
    if (i.op == &info_of<neg_op>) return wrapped(minus, T(0), at(0));
    if (i.op == &info_of<square_op>) return wrapped(times, at(0), at(0));
    if (i.op == &info_of<abs_op>) return at(0) < T(0) ? wrapped(minus, T(0), at(0)) : at(0);
    if (i.op == &info_of<maximum_op>) return std::max(at(0), at(1));
    if (i.op == &info_of<minimum_op>) return std::min(at(0), at(1));
    if (i.op == &info_of<clip_op>) return std::min(std::max(at(0), at(1)), at(2));
    if (i.op == &info_of<floor_op>) return static_cast<T>(std::floor(static_cast<double>(at(0))));
    if (i.op == &info_of<less_op>) return static_cast<T>(at(0) < at(1));
    if (i.op == &info_of<equal_op>) return static_cast<T>(at(0) == at(1));
    if (i.op == &info_of<logical_and_op>) return static_cast<T>(at(0) != T(0) && at(1) != T(0));
    REQUIRE(i.op == &info_of<select_op>);
    return at(0) != T(0) ? at(1) : at(2);
}

template <class T> void require_program_ops() {
    require_kernels<add_op, T, T>(), require_kernels<sub_op, T, T>(), require_kernels<mul_op, T, T>();
    require_kernels<maximum_op, T, T>(), require_kernels<minimum_op, T, T>(), require_kernels<clip_op, T, T, T>();
    require_kernels<neg_op, T>(), require_kernels<square_op, T>(), require_kernels<abs_op, T>();
    require_kernels<less_op, T, T>(), require_kernels<equal_op, T, T>(), require_kernels<logical_and_op, bool, bool>();
    require_kernels<select_op, bool, T, T>();
    if constexpr (std::is_floating_point_v<T>) require_kernels<floor_op, T>();
}

/// A random program whose results are exact: floats are small whole numbers, and integers wrap.
template <class T> program_ptr random_program(std::mt19937_64& random, int leaves, int count) {
    tracer t(std::vector<dtype>(static_cast<std::size_t>(leaves), dtype_of<T>),
             {scalar_value(T(-9)), scalar_value(T(9)), scalar_value(T(3))});
    t.fix_scalars(3);
    std::vector<int> made{t.scalar(2)};
    for (int k = 0; k < leaves; ++k) made.push_back(t.leaf(k));
    const auto some = [&] { return made[random() % made.size()]; };
    const auto op = [&](const elementwise_info& info, std::initializer_list<int> args) {
        return t.emit(info, dtype_of<T>, args);
    };
    const auto truth = [&](const elementwise_info& info, std::initializer_list<int> args) {
        return t.emit(info, dtype::boolean, args);
    };
    for (int k = 0; k < count; ++k) {
        int v = 0;
        switch (random() % 11) {
        case 0: v = op(info_of<add_op>, {some(), some()}); break;
        case 1: v = op(info_of<sub_op>, {some(), some()}); break;
        case 2: v = op(info_of<mul_op>, {some(), some()}); break;
        case 3: v = op(info_of<maximum_op>, {some(), some()}); break;
        case 4: v = op(info_of<minimum_op>, {some(), some()}); break;
        case 5: v = op(info_of<neg_op>, {op(info_of<abs_op>, {some()})}); break;
        case 6: v = op(info_of<add_op>, {op(info_of<mul_op>, {some(), some()}), some()}); break;
        case 7: v = op(info_of<sub_op>, {some(), op(info_of<square_op>, {some()})}); break;
        case 8: v = op(info_of<clip_op>, {some(), t.scalar(0), t.scalar(2)}); break;
        case 9: v = op(info_of<select_op>, {truth(info_of<less_op>, {some(), some()}), some(), some()}); break;
        default:
            v = op(info_of<select_op>, {truth(info_of<logical_and_op>, {truth(info_of<less_op>, {some(), some()}),
                                                                        truth(info_of<equal_op>, {some(), some()})}),
                                        some(), some()});
        }
        if constexpr (std::is_floating_point_v<T>) {
            v = op(info_of<clip_op>, {v, t.scalar(0), t.scalar(1)});
            v = op(info_of<add_op>, {v, t.scalar(2)}); // no -0, whose sign plain C++ may see otherwise
        }
        made.push_back(v);
    }
    return t.finish({made.back(), some(), made[made.size() / 2]});
}

TEMPLATE_TEST_CASE("element_types: ops of floats compute the bits of their compiled kernels", "", float, double) {
    using T = TestType;
    type_set<neg_op, square_op, reciprocal_op, sqrt_op, rsqrt_op, abs_op, sign_op, floor_op, ceil_op, relu_op,
             relu6_op>::each([]<class Op>(std::type_identity<Op>) { check_op<Op, T, T>(); });
    type_set<add_op, sub_op, mul_op, div_op, squared_difference_op, floordiv_op, maximum_op, minimum_op,
             leaky_relu_op>::each([]<class Op>(std::type_identity<Op>) { check_op<Op, T, T, T>(); });
    check_op<clip_op, T, T, T, T>();
    type_set<greater_op, greater_equal_op, less_op, less_equal_op, equal_op, not_equal_op>::each(
        []<class Op>(std::type_identity<Op>) { check_truth<Op, T, T, T>(); });
    type_set<is_nan_op, is_finite_op, is_inf_op>::each(
        []<class Op>(std::type_identity<Op>) { check_truth<Op, T, T>(); });
}

TEMPLATE_TEST_CASE("element_types: elementary functions compute the bits of their compiled kernels", "", float,
                   double) {
    using T = TestType;
    type_set<exp_op, expm1_op, log_op, log1p_op, tanh_op, sigmoid_op, silu_op, softplus_op, elu_op, selu_op, sin_op,
             cos_op, tan_op>::each([]<class Op>(std::type_identity<Op>) { check_function<Op, T, T>(); });
    check_function<pow_op, T, T, T>();
}

TEMPLATE_TEST_CASE("element_types: ops of integers compute the bits of their compiled kernels", "", std::int32_t,
                   std::int64_t) {
    using T = TestType;
    type_set<neg_op, square_op, abs_op, sign_op, relu_op, relu6_op>::each(
        []<class Op>(std::type_identity<Op>) { check_op<Op, T, T>(); });
    type_set<add_op, sub_op, mul_op, squared_difference_op, maximum_op, minimum_op>::each(
        []<class Op>(std::type_identity<Op>) { check_op<Op, T, T, T>(); });
    check_op<clip_op, T, T, T, T>();
    type_set<greater_op, greater_equal_op, less_op, less_equal_op, equal_op, not_equal_op>::each(
        []<class Op>(std::type_identity<Op>) { check_truth<Op, T, T, T>(); });
    tracer t({dtype_of<T>, dtype_of<T>}, {});
    const auto body = t.finish({t.emit(info_of<floordiv_op>, dtype_of<T>, {t.leaf(0), t.leaf(1)})});
    detail::register_vector_op<floordiv_op, T, T>();
    CHECK_FALSE(detail::emit_program(*body, 3));
}

template <class From, class To> void check_cast(bool in_small_registers) {
    require_kernels<cast_op<To>, From>();
    tracer t({dtype_of<From>}, {});
    const auto body = t.finish({t.emit(info_of<cast_op<To>>, dtype_of<To>, {t.leaf(0)})});
    for_levels([&](int level) {
        const block_function made = detail::emit_program(*body, level);
        REQUIRE((made != nullptr) == (level == 4 || in_small_registers));
        if (!made) return;
        const auto all = all_numbers<From>();
        numbers<To> results(all.size());
        const void* from[] = {all.data()};
        void* to[] = {results.data()};
        made({from, nullptr, to, nullptr, static_cast<std::int64_t>(all.size())});
        for (std::size_t i = 0; i < all.size(); ++i)
            if (!same(results[i], detail::convert<To>(all[i]))) {
                INFO("level " << level << ", of " << all[i]);
                REQUIRE(results[i] == detail::convert<To>(all[i]));
            }
    });
}

TEST_CASE("element_types: conversions between floats and integers of one size") {
    check_cast<float, std::int32_t>(true);
    check_cast<std::int32_t, float>(true);
    check_cast<double, std::int64_t>(false);
    check_cast<std::int64_t, double>(false);
}

TEMPLATE_TEST_CASE("element_types: random programs compute what plain C++ does, for every length", "[random]", float,
                   double, std::int32_t, std::int64_t) {
    using T = TestType;
    require_program_ops<T>();
    seeds::each(280, [](std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const int leaves = 1 + static_cast<int>(random() % 9);
        const auto body = random_program<T>(random, leaves, 1 + static_cast<int>(random() % 40));
        const std::size_t n = seed % 70 + 1;
        operands<T> o{{}, {}, {T(-9), T(9), T(3)}};
        for (int l = 0; l < leaves; ++l) {
            o.leaves.emplace_back();
            for (std::size_t i = 0; i < n; ++i)
                o.leaves.back().push_back(std::is_integral_v<T> ? any_number<T>(random)
                                                                : static_cast<T>(random() % 12));
        }
        o.results.assign(3, numbers<T>(n + 1, T(77))); // one behind the end
        operands<T> interpreted = o;
        interpreted.interpret(body, static_cast<std::int64_t>(n));
        for_levels([&](int level) {
            INFO("level " << level << ", " << n << " elements");
            const block_function made = detail::emit_program(*body, level);
            REQUIRE(made);
            o.run(made, static_cast<std::int64_t>(n));
            for (const auto& r : o.results) REQUIRE(r.back() == T(77));
            for (std::size_t i = 0; i < n; ++i) {
                std::vector<T> v;
                for (const auto& l : o.leaves) v.push_back(l[i]);
                v.insert(v.end(), o.scalars.begin(), o.scalars.end());
                for (const auto& instruction : body->code) v.push_back(computed<T>(instruction, v));
                for (std::size_t r = 0; r < 3; ++r) {
                    REQUIRE(same(o.results[r][i], v[static_cast<std::size_t>(body->results[r])]));
                    REQUIRE(same(o.results[r][i], interpreted.results[r][i]));
                }
            }
        });
    });
}

TEMPLATE_TEST_CASE("element_types: one number serves all elements, and results are summed in the order of reductions",
                   "", float, double, std::int32_t, std::int64_t) {
    using T = TestType;
    require_program_ops<T>();
    tracer t({dtype_of<T>, dtype_of<T>}, {});
    const int product = t.emit(info_of<mul_op>, dtype_of<T>, {t.leaf(0), t.leaf(1)});
    const auto body = t.finish({product, t.emit(info_of<add_op>, dtype_of<T>, {t.leaf(0), t.leaf(0)})});
    for_levels([&](int level) {
        const operand_forms forms{.splat = {0, 1}, .ones = {}, .summed = {1, 0}};
        const block_function made = detail::emit_program(*body, level, {}, forms);
        REQUIRE(made);
        const std::size_t lanes = (level == 4 ? 64 : 32) / sizeof(T), all = detail::partial_sums * lanes;
        for (std::size_t n = 1; n <= 130; ++n) {
            INFO("level " << level << ", " << n << " elements");
            operands<T> o{{numbers<T>(n), {T(3)}}, {numbers<T>(2, T(77)), numbers<T>(n + 1, T(77))}, {}};
            for (std::size_t i = 0; i < n; ++i) o.leaves[0][i] = static_cast<T>(i % 11) / 7 - T(0.6);
            o.run(made, static_cast<std::int64_t>(n));
            numbers<T> partial(all);
            for (std::size_t i = 0; i < n; ++i) {
                REQUIRE(o.results[1][i] == o.leaves[0][i] + o.leaves[0][i]);
                partial[i < n / lanes * lanes ? i % all : all - lanes + i % lanes] += o.leaves[0][i] * 3;
            }
            for (std::size_t i = 0; i < lanes; ++i) {
                partial[i] += partial[i + lanes];
                partial[i] += partial[i + 2 * lanes] + partial[i + 3 * lanes];
            }
            for (std::size_t left = lanes / 2; left > 0; left /= 2)
                for (std::size_t i = 0; i < left; ++i) partial[i] += partial[i + left];
            CHECK(o.results[0][0] == partial[0]);
            CHECK(o.results[0][1] == T(77));
            CHECK(o.results[1][n] == T(77));
        }
    });
}

TEMPLATE_TEST_CASE("element_types: more values than registers, and results in place of leaves", "", float, double,
                   std::int32_t, std::int64_t) {
    using T = TestType;
    require_program_ops<T>();
    constexpr int leaves = 50;
    tracer t(std::vector<dtype>(leaves, dtype_of<T>), {});
    std::vector<int> squares, results;
    for (int k = 0; k < leaves; ++k) squares.push_back(t.emit(info_of<square_op>, dtype_of<T>, {t.leaf(k)}));
    int sum = squares[0];
    for (std::size_t k = 1; k < leaves; ++k) sum = t.emit(info_of<add_op>, dtype_of<T>, {sum, squares[k]});
    for (std::size_t k = leaves; k-- > 0;) results.push_back(t.emit(info_of<sub_op>, dtype_of<T>, {sum, squares[k]}));
    const auto body = t.finish(results);
    for_levels([&](int level) {
        const block_function made = detail::emit_program(*body, level);
        REQUIRE(made);
        for (const std::size_t n : {1u, 7u, 16u, 21u, 40u}) {
            operands<T> o;
            for (std::size_t k = 0; k < leaves; ++k) {
                o.leaves.emplace_back(n + 1, T(77));
                for (std::size_t i = 0; i < n; ++i) o.leaves.back()[i] = static_cast<T>((i * 7 + k) % 13);
            }
            const auto before = o.leaves;
            std::vector<const void*> from;
            std::vector<void*> to;
            for (auto& l : o.leaves) from.push_back(l.data()), to.push_back(l.data());
            made({from.data(), nullptr, to.data(), nullptr, static_cast<std::int64_t>(n)});
            for (std::size_t i = 0; i < n; ++i) {
                T all = 0;
                for (const auto& l : before) all += l[i] * l[i];
                for (std::size_t k = 0; k < leaves; ++k) {
                    const T x = before[leaves - 1 - k][i];
                    REQUIRE(o.leaves[k][i] == all - x * x);
                }
            }
            for (const auto& l : o.leaves) REQUIRE(l.back() == T(77));
        }
    });
}

TEST_CASE("element_types: programs that mix sizes of numbers have no code") {
    detail::register_vector_op<cast_op<double>, float>();
    tracer t({dtype::float32}, {});
    const auto body = t.finish({t.emit(info_of<cast_op<double>>, dtype::float64, {t.leaf(0)})});
    CHECK_FALSE(detail::emit_program(*body, 3));
    CHECK_FALSE(detail::is_emitted(*body, body->code[0]));
}

TEST_CASE("element_types: a session of doubles computes the same with machine code and without") {
    require_program_ops<double>();
    std::vector<std::vector<double>> all[2];
    without_emitter as_it_was;
    for (const bool emitted : {false, true}) {
        detail::register_emitter(emitted ? &detail::the_emitter : nullptr);
        const graph g;
        const graph_scope here(g);
        placeholder<double, dyn> x("x");
        const tensor y(x * x * 0.5 - x * 3.0 + 1.0, "y");
        const auto sum = reduce_sum(y), mean = reduce_mean(y);
        const auto slope = std::get<0>(gradients(sum, x));
        const session s;
        for (const std::size_t n : {1u, 63u, 64u, 1000u, 20'003u}) {
            std::vector<double> xs(n);
            for (std::size_t i = 0; i < n; ++i) xs[i] = std::sin(static_cast<double>(i));
            const auto [a, b, c, d] = s.run(std::tuple(y, sum, mean, slope), feed(x, xs));
            all[emitted].emplace_back(a.begin(), a.end());
            all[emitted].push_back({b, c});
            all[emitted].emplace_back(d.begin(), d.end());
        }
    }
    REQUIRE(all[0].size() == all[1].size());
    for (std::size_t k = 0; k < all[0].size(); ++k) {
        REQUIRE(all[0][k].size() == all[1][k].size());
        for (std::size_t i = 0; i < all[0][k].size(); ++i)
            REQUIRE(all[1][k][i] == Approx(all[0][k][i]).epsilon(1e-12).margin(1e-12));
    }
}

} // namespace test_device_cpu_jit_element_types
