// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/interpreter.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace {
constexpr elementwise_info no_such_op{"NoSuchOp"};
constexpr elementwise_info own_mul{"TestInterpreterMul"}; // what is registered for it is nobody else's
} // namespace

TEST_CASE("interpreter: a program without a compiled kernel, several results") {
    require_primitive<mul_op, float, float>();
    require_primitive<add_op, float, float>();
    tracer t({dtype::float32, dtype::float32}, {scalar_value(10.f)});
    t.fix_scalars(1);
    const int product = t.emit(info_of<mul_op>, dtype::float32, {t.leaf(0), t.leaf(1)});
    const int sum = t.emit(info_of<add_op>, dtype::float32, {product, t.scalar(0)});
    const block_interpreter run(t.finish({sum, product, t.leaf(1)}));
    std::vector<std::byte> scratch(run.scratch_bytes());
    const std::vector<float> a{1, 2, 3}, b{4, 5, 6};
    std::vector<float> r0(3), r1(3), r2(3);
    const float ten = 10;
    const void *leaves[] = {a.data(), b.data()}, *scalars[] = {&ten};
    void* results[] = {r0.data(), r1.data(), r2.data()};
    run.begin(scratch.data(), scalars);
    run.run({leaves, scalars, results, nullptr, 3}, scratch.data());
    CHECK(r0 == std::vector<float>{14, 20, 28});
    CHECK(r1 == std::vector<float>{4, 10, 18});
    CHECK(r2 == b);
}

TEST_CASE("interpreter: an op that is not in the program is named") {
    tracer t({dtype::float32}, {});
    const auto body = t.finish({t.emit(no_such_op, dtype::float32, {t.leaf(0)})});
    try {
        const block_interpreter run(body);
        FAIL("no error");
    } catch (const unimplemented& problem) {
        CHECK(std::string(problem.what()).find("NoSuchOp($0:float32)") != std::string::npos);
    }
}

namespace test_interpreter {

/// A random program of so many instructions, several results and scalars among them, and what it computes of 1000 elements, one
/// element at a time.
struct random_program {
    static constexpr std::int64_t n = 1000;
    program_ptr body;
    std::vector<float> scalars{2.f, 0.5f, -1.5f};
    std::vector<std::vector<float>> leaves, expected;

    random_program(std::mt19937& random, int count) : leaves(3, std::vector<float>(n)) {
        const auto below = [&](std::size_t m) { return static_cast<std::size_t>(random() % m); };
        for (auto& l : leaves)
            for (auto& v : l) v = static_cast<float>(below(2001)) / 1000 - 1;
        tracer t({dtype::float32, dtype::float32, dtype::float32},
                 {scalar_value(scalars[0]), scalar_value(scalars[1]), scalar_value(scalars[2])});
        t.fix_scalars(3);
        std::vector<int> made{t.leaf(0), t.leaf(1), t.leaf(2), t.scalar(0), t.scalar(1), t.scalar(2)};
        std::vector<std::vector<float>> value(leaves);
        for (const float s : scalars) value.emplace_back(n, s);
        for (int k = 0; k < count; ++k) {
            const std::size_t a = below(made.size()), b = below(made.size());
            const bool add = below(2) == 0;
            const int next = t.emit(add ? info_of<add_op> : info_of<mul_op>, dtype::float32, {made[a], made[b]});
            std::vector<float> v(n);
            for (std::size_t i = 0; i < n; ++i) v[i] = add ? value[a][i] + value[b][i] : value[a][i] * value[b][i];
            made.push_back(next);
            value.push_back(std::move(v));
        }
        std::vector<int> results{made.back()};
        expected.push_back(value.back());
        for (int k = 0; k < 2; ++k) { // a leaf or scalar may be one
            const std::size_t r = below(made.size());
            results.push_back(made[r]);
            expected.push_back(value[r]);
        }
        body = t.finish(results);
    }
};

} // namespace test_interpreter

TEST_CASE("interpreter: values share memory as they end, and results may lie in a leaf's", "[random]") {
    require_primitive<mul_op, float, float>();
    require_primitive<add_op, float, float>();
    seeds::each(200, [&](std::uint64_t seed) {
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        const int round = static_cast<int>(seed % 1000);
        const test_interpreter::random_program p(random, 1 + round % 20);
        const block_interpreter run(p.body);
        CHECK(run.scratch_bytes() <= (p.body->code.size() + 3) * block_elements * sizeof(float));
        std::vector<std::byte> scratch(run.scratch_bytes());
        std::vector<const void*> scalars;
        for (const auto& s : p.scalars) scalars.push_back(&s);
        run.begin(scratch.data(), scalars.data());
        auto leaves = p.leaves;
        std::vector<std::vector<float>> out(3, std::vector<float>(p.n));
        std::vector<const void*> from;
        for (const auto& l : leaves) from.push_back(l.data());
        std::vector<void*> to{out[0].data(), out[1].data(), round % 3 ? out[2].data() : nullptr};
        if (round % 2) to[0] = leaves[static_cast<std::size_t>(round) % 3].data(); // in place
        run.run({from.data(), scalars.data(), to.data(), nullptr, p.n}, scratch.data());
        for (std::size_t r = 0; r < 3; ++r) {
            INFO("round " << round << ", result " << r);
            if (to[r]) CHECK(std::memcmp(to[r], p.expected[r].data(), p.n * sizeof(float)) == 0);
        }
    });
}

TEST_CASE("interpreter: a chain of ops needs the memory of one value") {
    require_primitive<mul_op, float, float>();
    for (const int length : {2, 10, 50}) {
        tracer t({dtype::float32, dtype::float32}, {});
        int v = t.leaf(0);
        for (int i = 0; i < length; ++i) v = t.emit(info_of<mul_op>, dtype::float32, {v, t.leaf(1)});
        CHECK(block_interpreter(t.finish({v})).scratch_bytes() <= 2 * block_elements * sizeof(float));
    }
}

TEST_CASE("interpreter: a loop that spreads a scalar is taken only where it is as good as the op's own") {
    require_primitive<mul_op, double, double>();
    static int ran = 0;
    const auto lesser = [](const block_args& a) {
        ++ran;
        for (std::int64_t i = 0; i < a.n; ++i)
            static_cast<double*>(a.result[0])[i] =
                static_cast<const double*>(a.leaf[0])[i] * *static_cast<const double*>(a.scalar[0]);
    };
    const auto own = the_kernels().blocks.find("Mul($0:float64,$1:float64)");
    REQUIRE(own);
    detail::register_blocks("TestInterpreterMul($0:float64,$1:float64)", 1, {own->forward});
    detail::register_blocks("TestInterpreterMul($0:float64,s0:float64)", 0, {lesser});
    tracer t({dtype::float64}, {scalar_value(3.)});
    t.fix_scalars(1);
    const auto body = t.finish({t.emit(own_mul, dtype::float64, {t.leaf(0), t.scalar(0)})});
    const auto value = [&] {
        const block_interpreter run(body);
        std::vector<std::byte> scratch(run.scratch_bytes());
        const double x = 2, three = 3;
        double y = 0;
        const void *leaf = &x, *scalar = &three;
        void* result = &y;
        run.begin(scratch.data(), &scalar);
        run.run({&leaf, &scalar, &result, nullptr, 1}, scratch.data());
        return y;
    };
    CHECK(value() == 6);
    CHECK(ran == 0);
    detail::register_blocks("TestInterpreterMul($0:float64,s0:float64)", 1, {lesser}); // as good now
    CHECK(value() == 6);
    CHECK(ran == 1);
}

TEST_CASE("interpreter: chosen over a program's own loop where it pays") {
    require_primitive<mul_op, float, float>();
    tracer t({dtype::float32, dtype::float32}, {});
    int v = t.leaf(0);
    for (int i = 0; i < 10; ++i) v = t.emit(info_of<mul_op>, dtype::float32, {v, t.leaf(1)});
    const auto body = t.finish({v});
    const int level = the_kernels().blocks.find("Mul($0:float32,$1:float32)")->level;
    CHECK_FALSE(block_interpreter::faster_than(*body, level, 1'000'000)); // as good
    CHECK_FALSE(block_interpreter::faster_than(*body, 4, 1'000'000));
    CHECK(block_interpreter::faster_than(*body, 1, 1'000'000) == (level >= 4));
    CHECK_FALSE(block_interpreter::faster_than(*body, 1, 10)); // too few elements
}
