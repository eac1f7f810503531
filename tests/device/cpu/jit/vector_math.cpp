// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/vector_math.hpp>

#include <rill/ops/math/erf.hpp>
#include <rill/ops/math/logical_not.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/nn/gelu.hpp>
#include <rill/ops/nn/silu.hpp>

#include "catch.hpp"

using namespace rill;

// jit_program.cpp compares the results of the code with those of compiled kernels.

TEST_CASE("vector_math: value functions append what they compute, once") {
    detail::register_vector_op<silu_op, float>();
    detail::register_vector_op<select_op, bool, float, float>();
    detail::register_vector_op<logical_not_op, bool>();
    detail::jit_ir code(8);
    const int x = code.emit({detail::vector_op::leaf, 0}), y = code.emit({detail::vector_op::leaf, 1});
    const int args[] = {x, y, x};
    const auto silu = detail::find_vector_op("Silu($0:float32)");
    REQUIRE(silu);
    const int made = silu(code, args);
    const auto length = code.code().size();
    CHECK(made == static_cast<int>(length) - 1);
    CHECK(silu(code, args) == made);
    CHECK(code.code().size() == length);
    CHECK(detail::find_vector_op("LogicalNot($0:bool)"));
    const auto select = detail::find_vector_op("Select($0:bool,$1:float32,$2:float32):float32");
    REQUIRE(select);
    CHECK(code.code()[static_cast<std::size_t>(select(code, args))].op == detail::vector_op::choose);
    detail::register_vector_op<select_op, bool, double, double>();
    detail::jit_ir doubles(4, 8);
    const int leaves[] = {doubles.emit({detail::vector_op::leaf, 0}), doubles.emit({detail::vector_op::leaf, 1}), 0};
    const auto of_doubles = detail::find_vector_op("Select($0:bool,$1:float64,$2:float64):float64");
    REQUIRE(of_doubles);
    CHECK(doubles.code()[static_cast<std::size_t>(of_doubles(doubles, leaves))].op == detail::vector_op::choose);
}

TEST_CASE("vector_math: what is made of a function without code has none") {
    detail::register_vector_op<erf_op, float>();
    detail::register_vector_op<gelu_op, float>();
    detail::register_vector_op<select_op, bool, half, half>();
    detail::jit_ir code(8);
    const int x = code.emit({detail::vector_op::leaf, 0});
    CHECK(detail::find_vector_op("Erf($0:float32)")(code, &x) == -1);
    CHECK(detail::find_vector_op("Gelu($0:float32)")(code, &x) == -1);
    CHECK_FALSE(detail::find_vector_op("Select($0:bool,$1:half,$2:half):half"));
    CHECK_FALSE(detail::find_vector_op("NoSuchOp($0:float32)"));
}
