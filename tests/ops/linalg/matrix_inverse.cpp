// SPDX-License-Identifier: BSD-3-Clause
// Functions of square matrices: inverses, determinants, systems of equations, the factors of Cholesky.
#include <rill/ops/linalg/matrix_inverse.hpp>

#include <complex>

#include <rill/ops/array/eye.hpp>
#include <rill/ops/linalg/cholesky.hpp>
#include <rill/ops/linalg/matrix_determinant.hpp>
#include <rill/ops/linalg/matrix_solve.hpp>
#include <rill/ops/linalg/matrix_solve_ls.hpp>

#include "ops/linalg/matrices.hpp"

using namespace rill;

namespace test_ops_linalg_matrix_inverse {

using matrices::drawn;
using matrices::matrix_of;
using matrices::positive;
using matrices::wide;

using batch = tensor<float, 5, 3, 3>;
static_assert(std::is_same_v<decltype(matrix_inverse(tensor<double, dyn, dyn>())), tensor<double, dyn, dyn>>);
static_assert(std::is_same_v<decltype(matrix_inverse(tensor<double, dyn, 4>())), tensor<double, 4, 4>>);
static_assert(std::is_same_v<decltype(matrix_determinant(batch())), tensor<float, 5>>);
static_assert(
    std::is_same_v<decltype(log_matrix_determinant(batch())), std::tuple<tensor<float, 5>, tensor<float, 5>>>);
static_assert(std::is_same_v<decltype(matrix_solve(batch(), tensor<float, dyn, 3, 2>())), tensor<float, 5, 3, 2>>);
static_assert(std::is_same_v<decltype(cholesky(batch())), batch>);
static_assert(
    std::is_same_v<decltype(matrix_solve_ls(tensor<float, 9, 3>(), tensor<float, 9, 1>())), tensor<float, 3, 1>>);

/// A function of matrices, and how far its result y is from what it must be.
struct value_row {
    const char* name;
    any_tensor (*f)(const any_tensor& a, const any_tensor& b);
    bool positive; // the matrices must be
    wide (*got)(const wide& a, const wide& b, const wide& y);
    wide (*wanted)(const wide& a, const wide& b);
};
using X = const any_tensor&;
using M = const wide&;
wide triangle(M a, bool lower) {
    wide y = a;
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < a.columns; ++j)
            if (lower ? j > i : j < i) y(i, j) = 0;
    return y;
}
const value_row value_rows[] = {
    {"inverse", [](X a, X) { return any_tensor(matrix_inverse(a)); }, false,
     [](M a, M, M y) { return matrices::product(a, y); }, [](M a, M) { return matrices::identity(a.rows); }},
    {"adjoint inverse", [](X a, X) { return any_tensor(matrix_inverse(a, true)); }, false,
     [](M a, M, M y) { return matrices::product(transposed(a), y); },
     [](M a, M) { return matrices::identity(a.rows); }},
    {"solve", [](X a, X b) { return any_tensor(matrix_solve(a, b)); }, false,
     [](M a, M, M y) { return matrices::product(a, y); }, [](M, M b) { return b; }},
    {"adjoint solve", [](X a, X b) { return any_tensor(matrix_solve(a, b, true)); }, false,
     [](M a, M, M y) { return matrices::product(transposed(a), y); }, [](M, M b) { return b; }},
    {"lower solve", [](X a, X b) { return any_tensor(matrix_triangular_solve(a, b)); }, true,
     [](M a, M, M y) { return matrices::product(triangle(a, true), y); }, [](M, M b) { return b; }},
    {"upper solve", [](X a, X b) { return any_tensor(matrix_triangular_solve(a, b, false)); }, true,
     [](M a, M, M y) { return matrices::product(triangle(a, false), y); }, [](M, M b) { return b; }},
    {"adjoint lower solve", [](X a, X b) { return any_tensor(matrix_triangular_solve(a, b, true, true)); }, true,
     [](M a, M, M y) { return matrices::product(transposed(triangle(a, true)), y); }, [](M, M b) { return b; }},
    {"adjoint upper solve", [](X a, X b) { return any_tensor(matrix_triangular_solve(a, b, false, true)); }, true,
     [](M a, M, M y) { return matrices::product(transposed(triangle(a, false)), y); }, [](M, M b) { return b; }},
    {"cholesky", [](X a, X) { return any_tensor(cholesky(a)); }, true,
     [](M, M, M y) { return matrices::product(triangle(y, true), transposed(y)); }, [](M a, M) { return a; }},
    {"cholesky_solve", [](X a, X b) { return any_tensor(cholesky_solve(cholesky(a), b)); }, true,
     [](M a, M, M y) { return matrices::product(a, y); }, [](M, M b) { return b; }},
};

template <class T> void check_values(const value_row& r, const dims& shape, index_t right) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto a = any_placeholder("a", dtype_of<T>), b = any_placeholder("b", dtype_of<T>);
    dims sides = shape;
    sides[shape.rank - 1] = right;
    const index_t n = shape[shape.rank - 1];
    const auto at = r.positive ? positive<T>(shape, static_cast<double>(n)) : drawn<T>(shape, 2),
               by = drawn<T>(sides, 0, 1);
    const any_array y = op_test::run(s, r.f(a, b), {a, b}, {at, by});
    const index_t count = n == 0 ? 0 : at.size() / (n * n);
    for (index_t k = 0; k < count; ++k) {
        INFO(r.name << " of " << to_string(at.type()) << ", matrix " << k);
        const wide one = matrix_of<T>(at, k), other = matrix_of<T>(by, k), got = matrix_of<T>(y, k);
        const long double scale = std::max(one.largest() * got.largest(), other.largest());
        CHECK(distance(r.got(one, other, got), r.wanted(one, other)) <= matrices::tolerance<T>(n, scale));
    }
}

TEMPLATE_TEST_CASE("matrix_inverse and its kin: residuals", "", float, double) {
    for (const value_row& r : value_rows)
        for (const dims& shape :
             {dims{1, 1}, dims{3, 2, 2}, dims{5, 5}, dims{2, 0, 0}, dims{0, 3, 3}, dims{33, 33}, dims{70, 70}})
            check_values<TestType>(r, shape, 3);
}

TEMPLATE_TEST_CASE("matrix_inverse and its kin: residuals of matrices that are computed by blocks", "", float, double) {
    for (const value_row& r : value_rows) {
        check_values<TestType>(r, {64, 64}, 1);
        check_values<TestType>(r, {2, 97, 97}, 70);
        check_values<TestType>(r, {160, 160}, 33);
    }
}

TEST_CASE("matrix_inverse and its kin: determinants and faults of matrices that are computed by blocks") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto a = any_placeholder("a", dtype::float64), b = any_placeholder("b", dtype::float64);
    constexpr index_t n = 100;
    const auto with = [](const any_array& x, index_t row, index_t column, double v) {
        const auto from = x.elements<double>();
        any_array y(dtype::float64, x.shape());
        std::copy(from.begin(), from.end(), static_cast<double*>(y.mutable_data()));
        static_cast<double*>(y.mutable_data())[row * n + column] = v;
        return y;
    };
    // ones that cycle through the rows: an odd permutation, since the number of rows is even
    any_array turned(dtype::float64, {n, n});
    for (index_t i = 0; i < n * n; ++i) static_cast<double*>(turned.mutable_data())[i] = (i / n + 1) % n == i % n;
    const any_tensor determinant = matrix_determinant(a), inverse = matrix_inverse(a), factor = cholesky(a);
    CHECK(op_test::reals(op_test::run(s, determinant, {a}, {turned})) == std::vector<double>{-1});
    CHECK(op_test::reals(op_test::run(s, any_tensor(matmul(a, inverse)), {a}, {turned})) ==
          op_test::reals(op_test::run(s, any_tensor(eye<double>(n)), {}, {})));
    const auto singular = with(turned, n - 2, n - 1, 0);
    CHECK(op_test::reals(op_test::run(s, determinant, {a}, {singular})) == std::vector<double>{0});
    CHECK_THROWS_WITH(op_test::run(s, inverse, {a}, {singular}), contains("is singular"));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto definite = positive<double>({n, n}, n);
    CHECK_THROWS_WITH(op_test::run(s, inverse, {a}, {with(definite, 70, 80, nan)}), contains("holds a NaN"));
    CHECK_THROWS_WITH(op_test::run(s, factor, {a}, {with(definite, 80, 70, nan)}), contains("holds a NaN"));
    CHECK_THROWS_WITH(op_test::run(s, factor, {a}, {with(definite, 80, 80, -1)}), contains("not positive definite"));
    CHECK(op_test::reals(op_test::run(s, factor, {a}, {with(definite, 70, 80, nan)})) == // this half is not read
          op_test::reals(op_test::run(s, factor, {a}, {definite})));
    CHECK_THROWS_WITH(op_test::run(s, matrix_triangular_solve(a, b), {a, b}, {with(definite, 70, 70, 0), definite}),
                      contains("singular"));
}

TEST_CASE("matrix_inverse: batches shared by threads are those of one thread") {
    const graph g;
    const graph_scope here(g);
    const auto a = any_placeholder("a", dtype::float64);
    const any_tensor y = matrix_inverse(a);
    const session alone(g, {.intra_op_threads = 1}), shared(g, {.intra_op_threads = 3});
    for (const dims& shape : {dims{64, 20, 20}, dims{5, 90, 90}}) {
        const auto at = drawn<double>(shape);
        CHECK(op_test::reals(op_test::run(alone, y, {a}, {at})) == op_test::reals(op_test::run(shared, y, {a}, {at})));
    }
}

TEST_CASE("matrix_determinant: values, and of logarithms") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float64);
    const auto determinants = [&](const dims& shape, const std::vector<double>& v) {
        return op_test::reals(op_test::run(s, matrix_determinant(x), {x}, {op_test::make_array<double>(shape, v)}));
    };
    CHECK(determinants({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0}) == std::vector<double>{-2, -1});
    CHECK(determinants({2, 2}, {1, 2, 2, 4}) == std::vector<double>{0});
    CHECK(determinants({3, 0, 0}, {}) == std::vector<double>{1, 1, 1});
    const auto [sign, size] = log_matrix_determinant(x);
    const auto at = drawn<double>({40, 40}, 1e20);
    CHECK(op_test::reals(op_test::run(s, sign, {x}, {at})) == std::vector<double>{1});
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, size, {x}, {at})), {40 * std::log(1e20)}, 1e-14) == "");
    const auto singular = op_test::make_array<double>({2, 2}, {1, 2, 2, 4});
    CHECK(op_test::reals(op_test::run(s, sign, {x}, {singular})) == std::vector<double>{0});
    CHECK(std::isinf(op_test::reals(op_test::run(s, size, {x}, {singular}))[0]));
    const auto definite = positive<double>({2, 3, 3}, 1);
    const auto wanted = op_test::reals(op_test::run(s, log(matrix_determinant(x)), {x}, {definite}));
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, logdet(x), {x}, {definite})), wanted, 1e-13) == "");
    for (const any_tensor& y : {any_tensor(matrix_determinant(x)), size}) { // the gradients need the inverse
        const any_tensor d = gradients(y, x)[0];
        CHECK_THROWS_WITH(op_test::run(s, d, {x}, {singular}),
                          contains("matrix_inverse: the matrix of float64 [2, 2] is singular") &&
                              contains("node 'gradients"));
    }
}

TEST_CASE("matrix_inverse and its kin: gradients, to second order") {
    struct row {
        const char* name;
        any_tensor (*f)(X a, X b);
        bool positive;
        bool symmetric; // the op reads one triangle: of x + x^T, which both give
    };
    const auto through = [](X a) { return any_tensor((a + matrix_transpose(a)) * 0.5); };
    const row rows[] = {
        {"inverse", [](X a, X) { return any_tensor(matrix_inverse(a)); }, false, false},
        {"adjoint inverse", [](X a, X) { return any_tensor(matrix_inverse(a, true)); }, false, false},
        {"determinant", [](X a, X) { return any_tensor(matrix_determinant(a)); }, false, false},
        {"log determinant", [](X a, X) { return std::get<1>(log_matrix_determinant(a)); }, false, false},
        {"solve", [](X a, X b) { return any_tensor(matrix_solve(a, b)); }, false, false},
        {"adjoint solve", [](X a, X b) { return any_tensor(matrix_solve(a, b, true)); }, false, false},
        {"lower solve", [](X a, X b) { return any_tensor(matrix_triangular_solve(a, b)); }, true, false},
        {"adjoint upper solve", [](X a, X b) { return any_tensor(matrix_triangular_solve(a, b, false, true)); }, true,
         false},
        {"cholesky", [](X a, X) { return any_tensor(cholesky(a)); }, true, true},
        {"cholesky_solve", [](X a, X b) { return any_tensor(cholesky_solve(cholesky(a), b)); }, true, true},
        {"logdet", [](X a, X) { return any_tensor(logdet(a)); }, true, true},
    };
    for (const row& r : rows) {
        INFO(r.name);
        const graph g;
        const graph_scope here(g);
        const session s(g);
        const auto a = any_placeholder("a", dtype::float64), b = any_placeholder("b", dtype::float64);
        const std::vector<any_array> at{r.positive ? positive<double>({2, 3, 3}, 2) : drawn<double>({2, 3, 3}, 2),
                                        drawn<double>({2, 3, 2}, 0, 1)};
        op_test::gradient_check{s, {a, b}, at}.check(r.f(r.symmetric ? through(a) : a, b), 2);
    }
}

TEST_CASE("matrix_inverse: complex numbers, and gradients of them") {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<C, 2, 2> a("a");
    const placeholder<C, 2, 1> b("b");
    detail::require_gradient_kernels<C>();
    const auto at = op_test::make_array<C>({2, 2}, {C(2, 1), C(0, -1), C(1, 0), C(1, 3)});
    const auto by = op_test::make_array<C>({2, 1}, {C(1, 1), C(0, 2)});
    for (const any_tensor& y :
         {any_tensor(matrix_solve(a, b)), any_tensor(matrix_solve(a, b, true)), any_tensor(matrix_determinant(a)),
          any_tensor(matrix_triangular_solve(a, b)), any_tensor(matrix_triangular_solve(a, b, false)),
          any_tensor(matrix_triangular_solve(a, b, true, true)),
          any_tensor(matrix_triangular_solve(a, b, false, true))})
        op_test::gradient_check{s, {a, b}, {at, by}}.check(y, 1);
    for (const bool adjoint : {false, true}) op_test::gradient_check{s, {a}, {at}}.check(matrix_inverse(a, adjoint), 2);
    const any_tensor flipped = conj(matrix_transpose(a));
    for (const any_tensor& y :
         {any_tensor(matmul(a, matrix_inverse(a))), any_tensor(matmul(flipped, any_tensor(matrix_inverse(a, true))))})
        CHECK(op_test::far_apart(op_test::reals(op_test::run(s, y, {a}, {at})), {1, 0, 0, 0, 0, 0, 1, 0}, 1e-15) == "");
}

TEST_CASE("matrix_triangular_solve: complex numbers against substitution by hand") {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<C, 2, 2> a("a");
    const placeholder<C, 2, 1> b("b");
    const C m[2][2] = {{C(2, 1), C(3, -1)}, {C(1, 4), C(1, 3)}}, right[2] = {C(1, 1), C(0, 2)};
    const auto at = op_test::make_array<C>({2, 2}, {m[0][0], m[0][1], m[1][0], m[1][1]});
    const auto by = op_test::make_array<C>({2, 1}, {right[0], right[1]});
    for (const bool lower : {true, false})
        for (const bool adjoint : {false, true}) {
            INFO("lower " << lower << ", adjoint " << adjoint);
            const auto of = [&](const C& z) { return adjoint ? std::conj(z) : z; };
            const std::size_t first = lower != adjoint ? 0 : 1, second = 1 - first; // in the order of substitution
            const C other = of(lower ? m[1][0] : m[0][1]);
            C x[2];
            x[first] = right[first] / of(m[first][first]);
            x[second] = (right[second] - other * x[first]) / of(m[second][second]);
            const any_array got = op_test::run(s, matrix_triangular_solve(a, b, lower, adjoint), {a, b}, {at, by});
            CHECK(op_test::far_apart(op_test::reals(got), {x[0].real(), x[0].imag(), x[1].real(), x[1].imag()},
                                     1e-15) == "");
        }
}

TEST_CASE("matrix_solve_ls: least squares of tall and wide systems, and with a regularizer") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 3, 2> a("a");
    const placeholder<double, 3, 1> b("b");
    const auto line = op_test::make_array<double>({3, 2}, {0, 1, 1, 1, 2, 1}); // y = 2 x + 1, but for (1, -1, 1) / 4
    const auto y = op_test::make_array<double>({3, 1}, {1.25, 2.5, 5.25});
    const auto solved = [&](const any_tensor& x) { return op_test::reals(op_test::run(s, x, {a, b}, {line, y})); };
    CHECK(op_test::far_apart(solved(matrix_solve_ls(a, b)), {2, 1}, 1e-13) == "");
    CHECK(op_test::far_apart(solved(lstsq(a, b, {.fast = false})), {2, 1}, 1e-13) == "");
    // (a^T a + I) x = a^T b: [6 3; 3 4] x = [13 9]
    CHECK(op_test::far_apart(solved(matrix_solve_ls(a, b, {.l2_regularizer = 1})), {25. / 15, 15. / 15}, 1e-13) == "");
    op_test::gradient_check{s, {a, b}, {line, y}}.check(matrix_solve_ls(a, b), 2);
    const placeholder<double, 1, 2> wide_a("wide_a");
    const placeholder<double, 1, 1> wide_b("wide_b");
    const any_array least =
        op_test::run(s, matrix_solve_ls(wide_a, wide_b), {wide_a, wide_b},
                     {op_test::make_array<double>({1, 2}, {3, 4}), op_test::make_array<double>({1, 1}, {50})});
    CHECK(op_test::far_apart(op_test::reals(least), {6, 8}, 1e-13) == "");
}

TEST_CASE("matrix_inverse and its kin: matrices that are refused") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto a = any_placeholder("a", dtype::float64), b = any_placeholder("b", dtype::float64);
    const auto two = op_test::make_array<double>({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4});
    const auto sides = drawn<double>({2, 2, 1});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto missing = op_test::make_array<double>({2, 2}, {1, nan, nan, 1});
    const auto negative = op_test::make_array<double>({2, 2}, {1, 2, 2, 1});
    const any_tensor inverse = matrix_inverse(a);
    CHECK_THROWS_WITH(op_test::run(s, inverse, {a}, {two}),
                      contains("matrix [1] of float64 [2, 2, 2] is singular") && contains("node 'matrix_inverse'"));
    CHECK_THROWS_WITH(op_test::run(s, inverse, {a}, {missing}), contains("the matrix of float64 [2, 2] holds a NaN"));
    CHECK_THROWS_WITH(op_test::run(s, matrix_solve(a, b), {a, b}, {two, sides}), contains("matrix [1]"));
    CHECK_THROWS_WITH(op_test::run(s, matrix_triangular_solve(a, b), {a, b},
                                   {op_test::make_array<double>({2, 2, 2}, {1, 0, 0, 1, 0, 0, 1, 1}), sides}),
                      contains("matrix [1]") && contains("singular"));
    CHECK_THROWS_WITH(op_test::run(s, cholesky(a), {a}, {negative}), contains("is not positive definite"));
    CHECK_THROWS_WITH(op_test::run(s, cholesky(a), {a}, {missing}), contains("NaN"));
    CHECK_THROWS_WITH(op_test::run(s, inverse, {a}, {drawn<double>({2, 3})}), contains("the matrices are not square"));
    const auto one_side = drawn<double>({2, 1});
    CHECK_THROWS_WITH(op_test::run(s, cholesky(a), {a}, {negative}),
                      contains("cholesky: the matrix of float64 [2, 2]") && contains("node 'cholesky") &&
                          contains("matrix_inverse.cpp"));
    CHECK_THROWS_WITH(op_test::run(s, matrix_solve(a, b), {a, b}, {missing, one_side}),
                      contains("matrix_solve: the matrix of float64 [2, 2] holds a NaN") &&
                          contains("node 'matrix_solve") && contains("matrix_inverse.cpp"));
    CHECK_THROWS_WITH(op_test::run(s, matrix_solve(a, b), {a, b}, {drawn<double>({2, 3}), one_side}),
                      contains("matrix_solve: the matrices are not square") && contains("[2, 3]") &&
                          contains("node 'matrix_solve"));
    CHECK_THROWS_WITH(op_test::run(s, cholesky(a), {a}, {drawn<double>({3, 2})}),
                      contains("cholesky: the matrices are not square") && contains("[3, 2]") &&
                          contains("node 'cholesky"));
    // a determinant of NaN is NaN; a triangle with one solves to NaN: both as in TensorFlow
    CHECK(std::isnan(op_test::reals(op_test::run(s, matrix_determinant(a), {a}, {missing}))[0]));
    CHECK(std::isnan(op_test::reals(op_test::run(s, std::get<1>(log_matrix_determinant(a)), {a}, {missing}))[0]));
    const auto lower = op_test::make_array<double>({2, 2}, {1, 0, nan, 1});
    const auto solved = op_test::reals(
        op_test::run(s, matrix_triangular_solve(a, b), {a, b}, {lower, op_test::make_array<double>({2, 1}, {1, 1})}));
    CHECK(solved[0] == 1);
    CHECK(std::isnan(solved[1]));
    const auto flat = any_placeholder("flat", dtype::float64, {2, 3}), ints = any_placeholder("ints", dtype::int32);
    CHECK_THROWS_WITH(matrix_determinant(flat), contains("the matrices are not square") && contains("[2, 3]"));
    CHECK_THROWS_WITH(matrix_inverse(ints), contains("int32"));
    const auto square = any_placeholder("square", dtype::float64, {3, 3});
    CHECK_THROWS_WITH(matrix_solve(square, flat), contains("different numbers of rows"));
    for (const op_ptr& made : {make_op(matrix_inverse_op{true}), make_op(matrix_triangular_solve_op{false, true})})
        CHECK(make_op(made->name(), 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_linalg_matrix_inverse
