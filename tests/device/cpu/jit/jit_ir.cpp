// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/jit_ir.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "catch.hpp"

using namespace rill;
using detail::vector_op;

namespace {

auto count(const detail::jit_ir& code, vector_op op) {
    return std::count_if(code.code().begin(), code.code().end(), [&](const auto& i) { return i.op == op; });
}

} // namespace

TEST_CASE("jit_ir: what is computed twice is one value, and what nothing needs goes") {
    detail::jit_ir code(8);
    const int x = code.emit({vector_op::leaf, 0}), y = code.emit({vector_op::leaf, 1});
    CHECK(code.emit({vector_op::leaf, 0}) == x);
    const int a = code.emit({vector_op::div, 0, {x, y, -1, -1}});
    CHECK(code.emit({vector_op::div, 0, {x, y, -1, -1}}) == a);
    CHECK(code.emit({vector_op::div, 0, {y, x, -1, -1}}) != a);
    CHECK(code.constant(2.f) == code.constant(2.f));
    CHECK(code.constant(0.f) != code.constant(-0.f));
    code.results = {a, a};
    code.finish();
    CHECK(code.code().size() == 3);
    CHECK(code.results == std::vector<int>{2, 2});
}

TEST_CASE("jit_ir: a product with 1 is the other factor") {
    detail::jit_ir code(16);
    const int x = code.emit({vector_op::leaf, 0}), one = code.constant(1.f), half = code.constant(0.5f);
    CHECK(code.emit({vector_op::mul, 0, {x, one, -1, -1}}) == x);
    CHECK(code.emit({vector_op::mul, 0, {one, x, -1, -1}}) == x);
    CHECK(code.emit({vector_op::mul, 0, {half, x, -1, -1}}) != x);
    CHECK(code.emit({vector_op::add, 0, {one, x, -1, -1}}) != x);
}

TEST_CASE("jit_ir: constants fill the elements of a register") {
    detail::jit_ir doubles(4, 8), floats(8);
    CHECK_FALSE(doubles.wide());
    CHECK(detail::jit_ir(8, 8).wide());
    const auto row_of = [](const detail::jit_ir& code, int v) {
        return code.rows()[static_cast<std::size_t>(code.code()[static_cast<std::size_t>(v)].number)];
    };
    const auto third = std::bit_cast<std::uint64_t>(1. / 3);
    const auto row = row_of(doubles, doubles.constant(1. / 3));
    for (std::size_t k = 0; k < row.size(); k += 2) {
        CHECK(row[k] == static_cast<std::uint32_t>(third));
        CHECK(row[k + 1] == static_cast<std::uint32_t>(third >> 32));
    }
    CHECK(row_of(floats, floats.constant(1. / 3))[5] == std::bit_cast<std::uint32_t>(1.f / 3));
    CHECK(row_of(floats, floats.constant_bits(7))[5] == 7);
    const int x = doubles.emit({vector_op::leaf, 0});
    CHECK(doubles.emit({vector_op::mul, 0, {x, doubles.constant(1), -1, -1}}) == x);
}

TEST_CASE("jit_ir: a product with one use goes into its sum") {
    for (const bool twice : {false, true}) {
        detail::jit_ir code(8);
        const int x = code.emit({vector_op::leaf, 0}), y = code.emit({vector_op::leaf, 1});
        const int product = code.emit({vector_op::mul, 0, {x, y, -1, -1}});
        code.results = {code.emit({vector_op::add, 0, {x, product, -1, -1}})};
        if (twice) code.results.push_back(product);
        code.finish();
        CHECK(count(code, vector_op::multiply_add) == (twice ? 0 : 1));
        CHECK(count(code, vector_op::mul) == (twice ? 1 : 0));
    }
}

TEST_CASE("jit_ir: a node is rounded as it would be alone, and shares afterwards what it has in common") {
    detail::jit_ir code(8);
    const int x = code.emit({vector_op::leaf, 0}), y = code.emit({vector_op::leaf, 1});
    const auto sum = [&] {
        return code.emit({vector_op::add, 0, {y, code.emit({vector_op::mul, 0, {x, x, -1, -1}}), -1, -1}});
    };
    const int one = sum();
    CHECK(sum() == one);
    code.begin_node();
    CHECK(code.emit({vector_op::leaf, 0}) == x);
    const int square = code.emit({vector_op::mul, 0, {x, x, -1, -1}}); // not that of the first, which goes into a sum
    code.begin_node();
    const int other = sum();
    CHECK(other != one);
    code.whole = {one, square, other};
    code.results = {one, square, other};
    code.finish();
    CHECK(code.results[0] == code.results[2]);
    CHECK(count(code, vector_op::multiply_add) == 1);
    CHECK(count(code, vector_op::mul) == 1);
}

TEST_CASE("jit_ir: a product that a node gives does not go into a sum") {
    detail::jit_ir code(8);
    const int x = code.emit({vector_op::leaf, 0}), y = code.emit({vector_op::leaf, 1});
    code.whole = {code.emit({vector_op::mul, 0, {x, y, -1, -1}})};
    const int other = code.emit({vector_op::mul, 0, {x, x, -1, -1}});
    code.results = {code.emit({vector_op::add, 0, {x, code.whole[0], -1, -1}}),
                    code.emit({vector_op::add, 0, {x, other, -1, -1}})};
    code.finish();
    CHECK(count(code, vector_op::mul) == 1);
    CHECK(count(code, vector_op::multiply_add) == 1);
}

TEST_CASE("jit_ir: registers of 16 compare and choose at once") {
    for (const int lanes : {8, 16}) {
        detail::jit_ir code(lanes);
        const int x = code.emit({vector_op::leaf, 0}), y = code.emit({vector_op::leaf, 1});
        const int less = code.emit({vector_op::compare, 17, {x, y, -1, -1}});
        code.results = {code.emit({vector_op::choose, 0, {less, x, y, -1}})};
        code.finish();
        CHECK(count(code, vector_op::compare) == (lanes == 8 ? 1 : 0));
        CHECK(count(code, vector_op::compare_choose) == (lanes == 8 ? 0 : 1));
        detail::jit_ir integers(lanes / 2, 8);
        const int i = integers.emit({vector_op::leaf, 0}), j = integers.emit({vector_op::leaf, 1});
        const int more = integers.emit({vector_op::int_compare, detail::int_greater, {i, j, -1, -1}});
        integers.results = {integers.emit({vector_op::choose, 0, {more, i, j, -1}})};
        integers.finish();
        CHECK(count(integers, vector_op::compare_choose) == (lanes == 8 ? 0 : 1));
    }
}
