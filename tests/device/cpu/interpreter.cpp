// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/interpreter.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"

using namespace rill;

namespace {
constexpr elementwise_info no_such_op{"NoSuchOp"};
}

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
