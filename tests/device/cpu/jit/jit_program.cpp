// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/jit_program.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <rill/device/cpu/fusion/interpreter.hpp>
#include <rill/device/cpu/fusion/joined_program.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"
#include "seeds.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_device_cpu_jit_program {

using floats = std::vector<float>;

/// An op for the interpreter and as machine code, also where the headers are all there is.
template <class Op, class... T> void require_kernels() {
    require_primitive<Op, T...>();
    detail::register_vector_op<Op, T...>();
}

/// What a block function needs: memory of its own for each operand, at odd places, and guards behind results.
struct operands {
    std::vector<floats> leaves, results;
    floats scalars;

    void run(block_function f, std::int64_t n) {
        std::vector<const void*> from, numbers;
        std::vector<void*> to;
        for (const auto& l : leaves) from.push_back(l.data());
        for (const auto& s : scalars) numbers.push_back(&s);
        for (auto& r : results) to.push_back(r.data());
        f({from.data(), numbers.data(), to.data(), nullptr, n});
    }
    void interpret(const program_ptr& p, std::int64_t n) {
        const block_interpreter own(p);
        std::vector<std::byte> scratch(own.scratch_bytes());
        std::vector<const void*> from, numbers;
        std::vector<void*> to;
        for (const auto& l : leaves) from.push_back(l.data());
        for (const auto& s : scalars) numbers.push_back(&s);
        for (auto& r : results) to.push_back(r.data());
        own.begin(scratch.data(), numbers.data());
        own.run({from.data(), numbers.data(), to.data(), nullptr, n}, scratch.data());
    }
};

floats special_numbers() {
    using limits = std::numeric_limits<float>;
    floats all{0.f,   -0.f,  1.f,    -1.f,       0.5f,       -0.5f,       2.5f,      3.5f,  -2.5f,
               88.f,  89.5f, -87.5f, -100.f,     -104.5f,    9.02f,       9.04f,     1e-3f, -1e-5f,
               1e-8f, 1e10f, -1e10f, 8388607.5f, 16777216.f, 0.70710677f, 1.4142135f};
    for (const float x : {limits::infinity(), limits::quiet_NaN(), limits::max(), limits::min(), limits::denorm_min()})
        all.push_back(x), all.push_back(-x);
    all.push_back(limits::min() / 3);
    for (int i = 0; i < 400; ++i) all.push_back(static_cast<float>(i - 200) * 0.0731f);
    return all;
}

/// Equal, or as near as two roundings of some steps are.
bool near(float a, float b, float tolerance) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b) return a != 0 || std::signbit(a) == std::signbit(b);
    if (std::isinf(a) || std::isinf(b)) return false;
    return std::abs(a - b) <=
           tolerance * std::max(std::abs(a), std::abs(b)) + 2 * std::numeric_limits<float>::denorm_min();
}

template <class Op> void check_op(int operands_of_op, int level) {
    INFO("op " << Op::name << ", level " << level);
    const auto numbers = special_numbers();
    program p;
    for (int k = 0; k < operands_of_op; ++k) p.leaves.push_back(dtype::float32);
    program::instruction i{&info_of<Op>, dtype::float32, {}};
    for (int k = 0; k < operands_of_op; ++k) i.args.push_back(k);
    p.code.push_back(i);
    p.results = {operands_of_op};
    const block_function emitted = detail::emit_program(p, level);
    REQUIRE(emitted);
    const auto tolerance = [](std::size_t j, const operands& of) {
        if constexpr (!std::is_same_v<Op, sigmoid_cross_entropy_op>) return 6e-7f;
        // a product and a logarithm may cancel
        const float lost = std::abs(of.leaves[0][j]) * (1 + std::abs(of.leaves.back()[j])),
                    left = std::abs(of.results[0][j]);
        return 6e-7f * std::max(1.f, left > 0 && lost < 1e30f ? lost / left : 1.f);
    };
    operands o;
    const std::size_t pairs = operands_of_op == 1 ? 1 : 37;
    floats a, b, c;
    for (std::size_t k = 0; k < pairs; ++k)
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            a.push_back(numbers[j]);
            b.push_back(numbers[(j * 7 + k * 11) % (k < 35 ? 35 : numbers.size())]);
            c.push_back(numbers[(j + k) % 35]);
        }
    const floats all[] = {a, b, c};
    for (int k = 0; k < operands_of_op; ++k) o.leaves.push_back(all[k]);
    o.results = {floats(a.size(), 7.f)};
    operands expected = o;
    const auto body = std::make_shared<const program>(p);
    for (std::size_t at = 0; at < a.size(); at += block_elements) {
        const auto n = static_cast<std::int64_t>(std::min<std::size_t>(block_elements, a.size() - at));
        operands part, same;
        for (const auto& l : o.leaves)
            part.leaves.emplace_back(l.begin() + static_cast<std::ptrdiff_t>(at),
                                     l.begin() + static_cast<std::ptrdiff_t>(at) + n);
        part.results = {floats(static_cast<std::size_t>(n))};
        same = part;
        part.run(emitted, n);
        same.interpret(body, n);
        for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
            if (!near(part.results[0][j], same.results[0][j], tolerance(j, part))) {
                INFO("of " << part.leaves[0][j] << ", " << part.leaves.back()[j]);
                CHECK(part.results[0][j] == same.results[0][j]);
            }
    }
}

/// A comparison decides between two numbers.
template <class Op> void check_truth(int operands_of_op, int level) {
    INFO("op " << Op::name << ", level " << level);
    require_kernels<select_op, bool, float, float>();
    tracer t({dtype::float32, dtype::float32}, {scalar_value(1.f), scalar_value(2.f)});
    t.fix_scalars(2);
    const int truth = operands_of_op == 1 ? t.emit(info_of<Op>, dtype::boolean, {t.leaf(0)})
                                          : t.emit(info_of<Op>, dtype::boolean, {t.leaf(0), t.leaf(1)});
    const auto body = t.finish({t.emit(info_of<select_op>, dtype::float32, {truth, t.scalar(0), t.scalar(1)})});
    const block_function emitted = detail::emit_program(*body, level);
    REQUIRE(emitted);
    floats a, b;
    for (const float x : special_numbers())
        for (const float y : {0.f, -0.f, 1.f, x, std::numeric_limits<float>::quiet_NaN(), 1e30f})
            a.push_back(x), b.push_back(y);
    a.resize(1000), b.resize(1000);
    operands o{{a, b}, {floats(1000)}, {1.f, 2.f}}, same = o;
    o.run(emitted, 1000);
    same.interpret(body, 1000);
    CHECK(o.results == same.results);
}

template <class F> void for_levels(F f) {
    for (const int level : {3, 4})
        if (detail::emits_programs && supports_level(level)) f(level);
}

/// A random program over floats: exact ones compute with small whole numbers and halves, so that every result is exact.
program_ptr random_program(std::mt19937& random, int count, bool exact, int leaves) {
    const auto below = [&](std::size_t m) { return static_cast<std::size_t>(random() % m); };
    tracer t(std::vector<dtype>(static_cast<std::size_t>(leaves), dtype::float32),
             {scalar_value(-4.f), scalar_value(4.f), scalar_value(1.5f)});
    t.fix_scalars(3);
    std::vector<int> made;
    for (int k = 0; k < leaves; ++k) made.push_back(t.leaf(k));
    made.push_back(t.scalar(2));
    const auto some = [&] { return made[below(made.size())]; };
    const auto op = [&](const elementwise_info& info, std::initializer_list<int> args) {
        return t.emit(info, dtype::float32, args);
    };
    const auto bounded = [&](int v) {
        return op(exact ? info_of<floor_op> : info_of<tanh_op>, {op(info_of<clip_op>, {v, t.scalar(0), t.scalar(1)})});
    };
    for (int k = 0; k < count; ++k) {
        int v = 0;
        switch (below(10)) {
        case 0: v = op(info_of<add_op>, {some(), some()}); break;
        case 1: v = op(info_of<sub_op>, {some(), some()}); break;
        case 2: v = op(info_of<mul_op>, {some(), some()}); break;
        case 3: v = op(info_of<maximum_op>, {some(), some()}); break;
        case 4: v = op(info_of<minimum_op>, {some(), op(info_of<neg_op>, {some()})}); break;
        case 5: v = op(info_of<abs_op>, {op(info_of<relu_op>, {some()})}); break;
        case 6: v = op(info_of<add_op>, {op(info_of<mul_op>, {some(), some()}), some()}); break;
        case 7:
            v = op(info_of<sub_op>, {op(info_of<mul_op>, {some(), some()}), op(info_of<square_op>, {some()})});
            break;
        case 8:
            v = op(info_of<select_op>, {t.emit(info_of<logical_and_op>, dtype::boolean,
                                               {t.emit(info_of<greater_op>, dtype::boolean,
                                                       {made[below(static_cast<std::size_t>(leaves))], t.scalar(0)}),
                                                t.emit(info_of<less_equal_op>, dtype::boolean,
                                                       {made[below(static_cast<std::size_t>(leaves))], t.scalar(1)})}),
                                        some(), some()});
            break;
        default: v = exact ? op(info_of<sub_op>, {some(), some()}) : op(info_of<sigmoid_op>, {some()}); break;
        }
        made.push_back(bounded(v));
    }
    return t.finish({made.back(), made[below(made.size())], made[made.size() / 2]});
}

void compile_used_ops() {
    require_kernels<add_op, float, float>();
    require_kernels<sub_op, float, float>();
    require_kernels<mul_op, float, float>();
    require_kernels<maximum_op, float, float>();
    require_kernels<minimum_op, float, float>();
    require_kernels<neg_op, float>();
    require_kernels<abs_op, float>();
    require_kernels<relu_op, float>();
    require_kernels<square_op, float>();
    require_kernels<floor_op, float>();
    require_kernels<tanh_op, float>();
    require_kernels<sigmoid_op, float>();
    require_kernels<clip_op, float, float, float>();
    require_kernels<select_op, bool, float, float>();
    require_kernels<logical_and_op, bool, bool>();
    require_kernels<greater_op, float, float>();
    require_kernels<less_equal_op, float, float>();
}

} // namespace test_device_cpu_jit_program

using namespace test_device_cpu_jit_program;

TEST_CASE("jit_program: every op, as its compiled kernel, of all kinds of numbers") {
    for_levels([]<class L>(L level) {
        type_set<neg_op, square_op, reciprocal_op, sqrt_op, rsqrt_op, abs_op, sign_op, floor_op, ceil_op, exp_op,
                 expm1_op, log_op, log1p_op, tanh_op, sigmoid_op, silu_op, softplus_op, relu_op, relu6_op, elu_op,
                 selu_op, sin_op, cos_op, tan_op>::each([&]<class Op>(std::type_identity<Op>) {
            require_kernels<Op, float>();
            check_op<Op>(1, level);
        });
        type_set<add_op, sub_op, mul_op, div_op, squared_difference_op, floordiv_op, maximum_op, minimum_op,
                 leaky_relu_op, sigmoid_cross_entropy_op>::each([&]<class Op>(std::type_identity<Op>) {
            require_kernels<Op, float, float>();
            check_op<Op>(2, level);
        });
        require_kernels<clip_op, float, float, float>();
        check_op<clip_op>(3, level);
        type_set<greater_op, greater_equal_op, less_op, less_equal_op, equal_op, not_equal_op>::each(
            [&]<class Op>(std::type_identity<Op>) {
                require_kernels<Op, float, float>();
                check_truth<Op>(2, level);
            });
        type_set<is_nan_op, is_finite_op, is_inf_op>::each([&]<class Op>(std::type_identity<Op>) {
            require_kernels<Op, float>();
            check_truth<Op>(1, level);
        });
    });
}

TEST_CASE("jit_program: random programs, as the block interpreter computes them", "[random]") {
    compile_used_ops();
    seeds::each(600, [&](std::uint64_t seed) {
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        const int round = static_cast<int>(seed % 1000);
        const bool exact = round % 3 != 0;
        const int leaves = 1 + round % 9, count = exact ? 1 + round % 60 : 1 + round % 12;
        const auto body = random_program(random, count, exact, leaves);
        const std::int64_t n = std::vector<std::int64_t>{1, 7, 8, 9, 15, 16, 17, 33, 100, 1000}[random() % 10];
        operands o;
        for (int k = 0; k < leaves; ++k) {
            o.leaves.emplace_back();
            for (std::int64_t i = 0; i < n; ++i)
                o.leaves.back().push_back(exact ? static_cast<float>(random() % 17) / 2 - 4
                                                : static_cast<float>(random() % 2001) / 1000 - 1);
        }
        o.scalars = {-4.f, 4.f, 1.5f};
        o.results.assign(3, floats(static_cast<std::size_t>(n)));
        operands same = o;
        same.interpret(body, n);
        for_levels([&](int level) {
            INFO("round " << round << ", level " << level << ", " << n << " elements");
            const block_function f = detail::emit_program(*body, level);
            REQUIRE(f);
            o.run(f, n);
            for (std::size_t r = 0; r < 3; ++r)
                for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
                    const float a = o.results[r][i], b = same.results[r][i];
                    if (exact ? a != b : !(std::abs(a - b) <= 1e-4f)) REQUIRE(a == b);
                }
        });
    });
}

TEST_CASE("jit_program: more values than registers, more operands than pointers, and results in place of leaves") {
    compile_used_ops();
    constexpr int leaves = 50;
    tracer t(std::vector<dtype>(leaves, dtype::float32), {});
    std::vector<int> product, results;
    for (int k = 0; k < leaves; ++k) product.push_back(t.emit(info_of<square_op>, dtype::float32, {t.leaf(k)}));
    int sum = product[0];
    for (int k = 1; k < leaves; ++k)
        sum = t.emit(info_of<add_op>, dtype::float32, {sum, product[static_cast<std::size_t>(k)]});
    for (int k = leaves; k-- > 0;) // all squares are needed again, the last first
        results.push_back(t.emit(info_of<sub_op>, dtype::float32, {sum, product[static_cast<std::size_t>(k)]}));
    const auto body = t.finish(results);
    for_levels([&](int level) {
        const block_function f = detail::emit_program(*body, level);
        REQUIRE(f);
        for (const std::int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 31, 100}) {
            INFO("level " << level << ", " << n << " elements");
            operands o;
            for (int k = 0; k < leaves; ++k) {
                o.leaves.emplace_back(static_cast<std::size_t>(n) + 1);
                for (std::int64_t i = 0; i < n; ++i)
                    o.leaves.back()[static_cast<std::size_t>(i)] = static_cast<float>((i * 7 + k) % 13);
                o.leaves.back().back() = 77.f; // behind the end
            }
            const auto before = o.leaves;
            std::vector<const void*> from;
            std::vector<void*> to;
            for (auto& l : o.leaves) from.push_back(l.data()), to.push_back(l.data());
            f({from.data(), nullptr, to.data(), nullptr, n});
            for (std::int64_t i = 0; i < n; ++i) {
                float all = 0;
                const auto at = static_cast<std::size_t>(i);
                for (const auto& l : before) all += l[at] * l[at];
                for (std::size_t k = 0; k < leaves; ++k) {
                    const float x = before[leaves - 1 - k][at];
                    REQUIRE(o.leaves[k][at] == all - x * x);
                }
            }
            for (const auto& l : o.leaves) REQUIRE(l.back() == 77.f);
        }
    });
}

TEST_CASE("jit_program: results that are leaves or scalars, and places that are no multiple of a register") {
    compile_used_ops();
    tracer t({dtype::float32, dtype::float32}, {scalar_value(3.f)});
    t.fix_scalars(1);
    const auto body = t.finish(
        {t.leaf(1), t.scalar(0), t.leaf(0), t.emit(info_of<mul_op>, dtype::float32, {t.leaf(0), t.scalar(0)})});
    for_levels([&](int level) {
        const block_function f = detail::emit_program(*body, level);
        REQUIRE(f);
        for (std::size_t shift = 0; shift < 4; ++shift) {
            floats x(60), y(60), out[4] = {floats(60), floats(60), floats(60), floats(60)};
            for (std::size_t i = 0; i < 60; ++i) x[i] = static_cast<float>(i), y[i] = -static_cast<float>(i);
            const void* from[] = {x.data() + shift, y.data() + 1};
            const float three = 3;
            const void* scalars[] = {&three};
            void* to[] = {out[0].data(), out[1].data() + shift, out[2].data() + 2, out[3].data() + 1};
            f({from, scalars, to, nullptr, 50});
            for (std::size_t i = 0; i < 50; ++i) {
                REQUIRE(out[0][i] == y[i + 1]);
                REQUIRE(out[1][i + shift] == 3.f);
                REQUIRE(out[2][i + 2] == x[i + shift]);
                REQUIRE(out[3][i + 1] == 3.f * x[i + shift]);
            }
            CHECK(out[3][51] == 0.f);
        }
    });
}

TEST_CASE("jit_program: leaves of one number, and results that are summed") {
    compile_used_ops();
    constexpr std::size_t many = 7; // more than there are registers for pointers
    std::vector<dtype> types(2 * many, dtype::float32);
    tracer t(types, {scalar_value(3.f)});
    t.fix_scalars(1);
    std::vector<int> results;
    for (int k = 0; k < static_cast<int>(many); ++k)
        results.push_back(t.emit(info_of<mul_op>, dtype::float32, {t.leaf(2 * k), t.leaf(2 * k + 1)}));
    results.push_back(t.emit(info_of<add_op>, dtype::float32, {results[0], t.scalar(0)}));
    const auto body = t.finish(results);
    operand_forms forms{std::vector<char>(2 * many), std::vector<char>(2 * many), std::vector<char>(many + 1)};
    for (std::size_t k = 0; k < many; ++k) forms.splat[2 * k + 1] = k % 2 == 0, forms.summed[k] = k % 3 != 1;
    for_levels([&](int level) {
        const block_function f = detail::emit_program(*body, level, {}, forms);
        REQUIRE(f);
        CHECK(f != detail::emit_program(*body, level));
        const std::size_t lanes = level == 4 ? 16 : 8, sums = detail::partial_sums * lanes;
        for (const std::size_t n : {0, 1, 7, 8, 9, 16, 17, 31, 32, 33, 64, 100, 127, 128, 1000}) {
            INFO("level " << level << ", " << n << " elements");
            operands o{{}, {}, {3.f}};
            for (std::size_t k = 0; k < 2 * many; ++k) {
                o.leaves.emplace_back(forms.splat[k] ? 1 : n);
                for (std::size_t i = 0; i < o.leaves.back().size(); ++i)
                    o.leaves.back()[i] = static_cast<float>((i * 5 + k * 3) % 11) / 7 - 0.6f;
            }
            for (std::size_t r = 0; r <= many; ++r)
                o.results.emplace_back((forms.summed[r] ? 1 : n) + 1, 77.f); // one behind the end
            o.run(f, static_cast<std::int64_t>(n));
            for (std::size_t r = 0; r <= many; ++r) {
                const auto &x = o.leaves[2 * (r % many)], &y = o.leaves[2 * (r % many) + 1];
                REQUIRE(o.results[r].back() == 77.f);
                std::vector<float> partial(sums);
                for (std::size_t i = 0; i < n; ++i) {
                    const float value = x[i] * y[y.size() == 1 ? 0 : i] + (r == many ? 3.f : 0.f);
                    if (!forms.summed[r]) REQUIRE(o.results[r][i] == value);
                    partial[i < n / lanes * lanes ? i % sums : sums - lanes + i % lanes] += value;
                }
                for (std::size_t i = 0; i < lanes; ++i) {
                    partial[i] += partial[i + lanes];
                    partial[i] += partial[i + 2 * lanes] + partial[i + 3 * lanes];
                }
                for (std::size_t left = lanes / 2; left > 0; left /= 2) // halves, as combine_fold does it
                    for (std::size_t i = 0; i < left; ++i) partial[i] += partial[i + left];
                if (forms.summed[r]) REQUIRE(o.results[r][0] == partial[0]);
            }
        }
    });
}

TEST_CASE("jit_program: a number that is known to be 1 is not read, and costs no product") {
    compile_used_ops();
    tracer t({dtype::float32, dtype::float32}, {scalar_value(3.f)});
    t.fix_scalars(1);
    const auto op = [&](const elementwise_info& info, int a, int b) { return t.emit(info, dtype::float32, {a, b}); };
    const auto times = [&](int v) { return op(info_of<mul_op>, t.leaf(0), v); };
    const auto body = t.finish(
        {times(t.leaf(1)), times(t.scalar(0)), times(t.leaf(0)), op(info_of<add_op>, times(t.leaf(1)), t.leaf(0))});
    for (const bool summed : {false, true})
        for_levels([&](int level) {
            const operand_forms forms{.splat = {1, 0}, .ones = {1, 0}, .summed = std::vector<char>(4, char{summed})};
            const block_function f = detail::emit_program(*body, level, {}, forms);
            REQUIRE(f);
            CHECK(f != detail::emit_program(*body, level, {}, {forms.splat, {}, forms.summed}));
            for (const std::size_t n : {1, 8, 19, 64}) {
                INFO("level " << level << ", " << n << " elements, summed " << summed);
                operands o{{{77.f}, floats(n)}, std::vector<floats>(4, floats(n)), {3.f}};
                for (std::size_t i = 0; i < n; ++i) o.leaves[1][i] = static_cast<float>(i) / 4;
                o.run(f, static_cast<std::int64_t>(n));
                std::array<float, 4> sums{};
                for (std::size_t i = 0; i < n; ++i) {
                    const float x = o.leaves[1][i];
                    const std::array expected{x, 3.f, 1.f, x + 1};
                    for (std::size_t r = 0; r < 4; ++r) {
                        if (!summed) REQUIRE(o.results[r][i] == expected[r]);
                        sums[r] += expected[r];
                    }
                }
                for (std::size_t r = 0; summed && r < 4; ++r) REQUIRE(o.results[r][0] == sums[r]);
            }
        });
}

TEST_CASE("jit_program: sums over many blocks, of stretched numbers, are those of the loops that were compiled") {
    compile_used_ops();
    without_emitter as_it_was;
    std::vector<float> all[2];
    for (const bool emitted : {false, true}) {
        detail::register_emitter(emitted ? &detail::the_emitter : nullptr);
        const graph g;
        const graph_scope here(g);
        placeholder<float, dyn> x("x");
        placeholder<float> by("by");
        const tensor a(x * by, "a"), b(a - 0.125f, "b");
        const auto sum = reduce_sum(b), mean = reduce_mean(a), slope = std::get<0>(gradients(reduce_sum(b), by));
        const session s;
        for (const std::size_t n : {64u, 65u, 100u, 1000u, 1024u, 5003u, 40'000u}) {
            std::vector<float> xs(n);
            for (std::size_t i = 0; i < n; ++i) xs[i] = std::sin(static_cast<float>(i));
            const auto [p, q, r] = s.run(std::tuple(sum, mean, slope), feed(x, xs), feed(by, 0.7f));
            all[emitted].insert(all[emitted].end(), {p, q, r});
        }
    }
    REQUIRE(all[0].size() == all[1].size()); // with as many lanes they are equal to the last bit
    for (std::size_t i = 0; i < all[0].size(); ++i) CHECK(all[1][i] == Approx(all[0][i]).epsilon(1e-4).margin(1e-4));
}

TEST_CASE("jit_program: what there is no code for has none, and equal programs have one") {
    compile_used_ops();
    const auto one = [](const elementwise_info& op, dtype type) {
        tracer t({type}, {});
        return t.finish({t.emit(op, type, {t.leaf(0)})});
    };
    CHECK_FALSE(detail::emit_program(*one(info_of<atan_op>, dtype::float32), 4));
    CHECK_FALSE(detail::emit_program(*one(info_of<neg_op>, dtype::half), 4));
    CHECK_FALSE(detail::emit_program(*one(info_of<neg_op>, dtype::float32), 2));
    if (!detail::emits_programs || !supports_level(3)) return;
    const auto body = one(info_of<tanh_op>, dtype::float32);
    std::vector<block_function> made(8);
    std::vector<std::thread> threads;
    for (auto& f : made) threads.emplace_back([&f, &body] { f = detail::emit_program(*body, 3); });
    for (auto& thread : threads) thread.join();
    CHECK(std::count(made.begin(), made.end(), made[0]) == 8);
}

TEST_CASE("jit_program: members of a fusion group become one program") {
    require_kernels<exp_op, float>();
    compile_used_ops();
    graph g;
    graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor a(exp(x) * 2.f, "a"), b(a * x + x * 3.f, "b");
    const auto spec = [](const any_tensor& t) { return t.node()->op->fused(); };
    const fusion_group c{{{spec(a), {{-1, 0}}, {1}}, {spec(b), {{0, 0}, {-1, 0}}, {0}}}};
    const program joined = detail::join_members(c, 2);
    CHECK(joined.leaves.size() == 1);
    CHECK(joined.scalars.size() == 2);
    CHECK(joined.code.size() == 5);
    for_levels([&](int level) {
        const block_function f = detail::emit_program(joined, level);
        REQUIRE(f);
        operands o{{{0.f, 1.f, -2.f}}, {floats(3), floats(3)}, {2.f, 3.f}};
        o.run(f, 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const float v = o.leaves[0][i], first = 2 * std::exp(v);
            CHECK(o.results[1][i] == Approx(first));
            CHECK(o.results[0][i] == Approx(first * v + 3 * v));
        }
    });
}

TEST_CASE("jit_program: a session computes the same with and without, gradients and reductions too") {
    std::vector<std::vector<float>> all[2];
    compile_used_ops();
    without_emitter as_it_was;
    for (const bool emitted : {false, true}) {
        detail::register_emitter(emitted ? &detail::the_emitter : nullptr);
        graph g;
        graph_scope here(g);
        placeholder<float, dyn> x("x");
        placeholder<float, dyn, 1> column("column");
        const tensor inner(x + 0.044715f * x * x * x, "inner"), t(tanh(0.7978845608f * inner), "t");
        const tensor y(0.5f * x * (1.f + t) * x, "y");
        const auto [slope] = gradients(reduce_sum(y), x);
        const tensor outer = reduce_sum<0>(y * column);
        const auto [other] = gradients(reduce_sum(square(outer)), column);
        session s;
        for (const std::size_t n : {1u, 63u, 64u, 1000u, 20'003u}) {
            std::vector<float> xs(n);
            for (std::size_t i = 0; i < n; ++i) xs[i] = static_cast<float>(i % 101) / 50 - 1;
            xt::xtensor<float, 2> of({7, 1});
            for (std::size_t i = 0; i < 7; ++i) of(i, 0) = static_cast<float>(i) / 7;
            const auto [a, b, c, d] = s.run(std::tuple(y, slope, outer, other), feed(x, xs), feed(column, of));
            all[emitted].emplace_back(a.begin(), a.end());
            all[emitted].emplace_back(b.begin(), b.end());
            all[emitted].emplace_back(c.begin(), c.end());
            all[emitted].emplace_back(d.begin(), d.end());
        }
    }
    REQUIRE(all[0].size() == all[1].size());
    for (std::size_t k = 0; k < all[0].size(); ++k) {
        REQUIRE(all[0][k].size() == all[1][k].size());
        for (std::size_t i = 0; i < all[0][k].size(); ++i)
            REQUIRE(all[1][k][i] == Approx(all[0][k][i]).epsilon(1e-4).margin(1e-4));
    }
}
