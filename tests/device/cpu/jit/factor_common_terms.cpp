// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/factor_common_terms.hpp>

#include <algorithm>

#include <rill/device/cpu/jit/jit_ir.hpp>

#include "catch.hpp"

using namespace rill;
using detail::vector_op;

namespace test_device_cpu_factor_common_terms {

/// Code of sums and products, and how much of it a result needs.
struct sums {
    detail::jit_ir code{16};

    int leaf(int k) { return code.emit({vector_op::leaf, k}); }
    int mul(int a, int b) { return code.emit({vector_op::mul, 0, {a, b, -1, -1}}); }
    int add(int a, int b) { return code.emit({vector_op::add, 0, {a, b, -1, -1}}); }
    void finish(int result) {
        code.results = {result};
        code.finish();
    }
    auto count(vector_op op) const {
        return std::count_if(code.code().begin(), code.code().end(), [&](const auto& i) { return i.op == op; });
    }
    auto work() const { return count(vector_op::mul) + count(vector_op::add) + count(vector_op::multiply_add); }
};

TEST_CASE("factor_common_terms: the gradient of a power is a multiple of one product, that which is there already") {
    sums s;
    const int x = s.leaf(0), c = s.leaf(1), g = s.leaf(2);
    // of y = x * x * x * c, with y itself
    const int one = s.mul(c, x), two = s.mul(one, x), y = s.mul(two, x);
    const int last = s.mul(g, two), middle = s.mul(s.mul(g, x), one), first = s.mul(s.mul(s.mul(g, x), x), c);
    s.finish(s.add(s.add(s.add(y, last), middle), first));
    CHECK(s.work() == 5); // two for y, whose last goes into the sum; one product, times 3
    CHECK(s.count(vector_op::multiply_add) == 1);
}

TEST_CASE("factor_common_terms: different products, and sums without products, stay as they are") {
    sums s;
    const int x = s.leaf(0), y = s.leaf(1);
    s.finish(s.add(s.add(s.mul(x, y), s.mul(x, x)), s.add(s.mul(y, y), s.add(x, x))));
    CHECK(s.count(vector_op::multiply_add) + s.count(vector_op::mul) == 3);
    CHECK(s.count(vector_op::add) == 2);
}

TEST_CASE("factor_common_terms: all terms are one") {
    sums s;
    const int x = s.leaf(0), y = s.leaf(1);
    s.finish(s.add(s.mul(x, y), s.mul(y, x)));
    CHECK(s.count(vector_op::mul) == 2);
    CHECK(s.count(vector_op::add) == 0);
    CHECK(s.count(vector_op::constant) == 1);
}

TEST_CASE("factor_common_terms: what a node gives is one factor, and a sum that a node gives is no part of another") {
    sums s;
    const int x = s.leaf(0), y = s.leaf(1), product = s.mul(x, y), sum = s.add(s.mul(x, product), y);
    s.code.whole = {product, sum};
    s.code.begin_node();
    s.finish(s.add(s.add(s.mul(product, y), s.mul(s.mul(x, y), y)), sum));
    CHECK(s.count(vector_op::constant) == 0);
    CHECK(s.count(vector_op::multiply_add) + s.count(vector_op::add) == 3);
}

TEST_CASE("factor_common_terms: products of very many factors are left alone") {
    sums s;
    int power = s.leaf(0);
    for (int k = 0; k < 40; ++k) power = s.mul(power, power); // 2 to the 40th factors
    s.finish(s.add(s.mul(power, s.leaf(1)), s.mul(s.leaf(1), power)));
    CHECK(s.count(vector_op::mul) + s.count(vector_op::multiply_add) == 42);
}

} // namespace test_device_cpu_factor_common_terms
