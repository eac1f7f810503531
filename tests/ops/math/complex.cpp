// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/complex.hpp>

#include <rill/ops/math/square.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_complex {

TEST_CASE("complex: values, typed and untyped, of shapes that broadcast") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 2> re("re");
    placeholder<float, 2> im("im");
    static_assert(std::is_same_v<decltype(complex(re, im)), tensor<std::complex<float>, dyn, 2>>);
    const any_tensor a = any_placeholder("a", dtype::float32), b = any_placeholder("b", dtype::float32);
    const auto table = op_test::make_array<float>({2, 2}, {1, 2, 3, 4}), row = op_test::make_array<float>({2}, {5, 6});
    const std::vector<std::complex<float>> wanted{{1, 5}, {2, 6}, {3, 5}, {4, 6}};
    CHECK(op_test::difference<std::complex<float>>(op_test::run(s, complex(re, im), {re, im}, {table, row}), {2, 2},
                                                   wanted) == "");
    CHECK(op_test::difference<std::complex<float>>(op_test::run(s, complex(a, b), {a, b}, {table, row}), {2, 2},
                                                   wanted) == "");
    CHECK(s.run(complex(constant(1.), constant(2.))) == std::complex<double>(1, 2));
    CHECK_THROWS_WITH(complex(a, any_placeholder("d", dtype::float64)), contains("complex: the dtypes differ"));
    CHECK_THROWS_WITH(complex(any_placeholder("p", dtype::int32), any_placeholder("q", dtype::int32)),
                      contains("complex: the parts must be float32 or float64, not int32"));
    CHECK_THROWS_WITH(op_test::run(s, complex(a, b), {a, b}, {table, op_test::make_array<float>({3}, {1, 2, 3})}),
                      contains("complex: the shapes do not broadcast"));
    CHECK(make_op("Complex")->equals(*make_op(complex_op{})));
}

TEST_CASE("complex: gradient, to second order, summed over what stretched") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 2> re("re");
    placeholder<double, 2> im("im");
    detail::require_gradient_kernels<std::complex<double>>();
    const any_tensor y = sealed(square(complex(re, im)));
    op_test::gradient_check{
        s, {re, im}, {op_test::point_array<double>({0.5, 2}, {3, 2}), op_test::point_array<double>({1, 2}, {2}, 1)}}
        .check(y, 2);
}

} // namespace test_ops_math_complex
