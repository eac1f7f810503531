// SPDX-License-Identifier: BSD-3-Clause
// Orthogonal decompositions: QR, eigenvalues, singular values; what is made of these; norms.
#include <rill/ops/linalg/svd.hpp>

#include <complex>

#include <rill/device/cpu/linalg/lapack.hpp>
#include <rill/ops/linalg/cholesky.hpp>
#include <rill/ops/linalg/matrix_determinant.hpp>
#include <rill/ops/linalg/matrix_solve_ls.hpp>
#include <rill/ops/linalg/norm.hpp>
#include <rill/ops/linalg/qr.hpp>
#include <rill/ops/linalg/self_adjoint_eig.hpp>
#include <rill/ops/math/exp.hpp>

#include "ops/linalg/matrices.hpp"

using namespace rill;

namespace test_ops_linalg_svd {

using matrices::drawn;
using matrices::matrix_of;
using matrices::positive;
using matrices::product;
using matrices::transposed;
using matrices::vector_of;
using matrices::wide;

template <class... X> using results = std::tuple<X...>;
static_assert(std::is_same_v<decltype(svd(tensor<float, 7, 4, 3>())),
                             results<tensor<float, 7, 3>, tensor<float, 7, 4, 3>, tensor<float, 7, 3, 3>>>);
static_assert(std::is_same_v<decltype(svd(tensor<float, 4, 3>(), full_matrices)),
                             results<tensor<float, 3>, tensor<float, 4, 4>, tensor<float, 3, 3>>>);
static_assert(std::is_same_v<decltype(qr(tensor<float, 4, 3>())), results<tensor<float, 4, 3>, tensor<float, 3, 3>>>);
static_assert(std::is_same_v<decltype(qr(tensor<float, 4, 3>(), full_matrices)),
                             results<tensor<float, 4, 4>, tensor<float, 4, 3>>>);
static_assert(std::is_same_v<decltype(self_adjoint_eig(tensor<double, 3, 3>())),
                             results<tensor<double, 3>, tensor<double, 3, 3>>>);
static_assert(std::is_same_v<decltype(pinv(tensor<double, 2, 3>())), tensor<double, 3, 2>>);
static_assert(std::is_same_v<decltype(matrix_rank(tensor<double, 5, 2, 3>())), tensor<int, 5>>);
static_assert(std::is_same_v<decltype(norm<-1>(tensor<float, 5, 3>(), 1)), tensor<float, 5>>);
static_assert(std::is_same_v<decltype(norm<0, 1>(tensor<float, 5, 3>(), 2)), tensor<float>>);

/// The columns are orthonormal.
template <class T> void check_orthonormal(const wide& q) {
    CHECK(distance(product(transposed(q), q), matrices::identity(q.columns)) <= matrices::tolerance<T>(q.rows, 1));
}
/// The first columns.
wide columns_of(const wide& a, index_t count) {
    wide y = matrices::zeros(a.rows, count);
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < count; ++j) y(i, j) = a(i, j);
    return y;
}

template <class T> void check_decompositions(const any_array& at) {
    const dims& shape = at.shape();
    const index_t m = shape[shape.rank - 2], n = shape[shape.rank - 1], k = std::min(m, n), count = at.size() / (m * n);
    INFO(to_string(at.type()));
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype_of<T>);
    const auto run = [&](const any_tensor& y) { return op_test::run(s, y, {x}, {at}); };
    for (const bool full : {false, true}) {
        const auto [q, r] = full ? qr(x, full_matrices) : qr(x);
        const auto [values, u, v] = full ? svd(x, full_matrices) : svd(x);
        const any_array qs = run(q), rs = run(r), ss = run(values), us = run(u), vs = run(v),
                        alone = run(singular_values(x));
        for (index_t i = 0; i < count; ++i) {
            const wide a = matrix_of<T>(at, i), one_q = matrix_of<T>(qs, i), one_r = matrix_of<T>(rs, i),
                       one_s = vector_of<T>(ss, i), one_u = matrix_of<T>(us, i), one_v = matrix_of<T>(vs, i);
            const long double close = matrices::tolerance<T>(std::max(m, n), std::max(a.largest(), one_s.largest()));
            check_orthonormal<T>(one_q);
            CHECK(distance(product(one_q, one_r), a) <= close);
            for (index_t row = 0; row < one_r.rows; ++row)
                for (index_t column = 0; column < std::min(row, n); ++column) CHECK(one_r(row, column) == 0);
            check_orthonormal<T>(one_u);
            check_orthonormal<T>(one_v);
            CHECK(distance(
                      product(matrices::times_columns(columns_of(one_u, k), one_s), transposed(columns_of(one_v, k))),
                      a) <= close);
            CHECK(distance(one_s, vector_of<T>(alone, i)) <= close);
            for (index_t j = 1; j < k; ++j) CHECK(one_s(0, j - 1) >= one_s(0, j));
        }
    }
}

TEMPLATE_TEST_CASE("qr, svd: orthonormal factors whose product is the matrix", "", float, double) {
    for (const dims& shape : {dims{1, 1}, dims{2, 3, 2}, dims{2, 4}, dims{5, 5}, dims{2, 26, 30}, dims{40, 25}})
        check_decompositions<TestType>(drawn<TestType>(shape));
    check_decompositions<TestType>(op_test::make_array<TestType>({3, 2}, std::vector<TestType>(6)));
    const std::vector<TestType> twice{1, 2, 3, 2, 4, 6, 1, 2, 3, 0, 0, 1e-3f};
    check_decompositions<TestType>(op_test::make_array<TestType>({4, 3}, twice)); // of rank 2
}

TEMPLATE_TEST_CASE("self_adjoint_eig: eigenvectors, values in ascending order", "", float, double) {
    using T = TestType;
    for (const dims& shape : {dims{1, 1}, dims{3, 2, 2}, dims{7, 7}, dims{2, 30, 30}}) {
        const graph g;
        const graph_scope here(g);
        const session s(g);
        const auto x = any_placeholder("x", dtype_of<T>);
        const any_array at = positive<T>(shape, -1);
        const auto [e, v] = self_adjoint_eig(x);
        const any_array es = op_test::run(s, e, {x}, {at}), vs = op_test::run(s, v, {x}, {at}),
                        alone = op_test::run(s, self_adjoint_eigvals(x), {x}, {at});
        const index_t n = shape[shape.rank - 1];
        for (index_t i = 0; i < at.size() / (n * n); ++i) {
            const wide a = matrix_of<T>(at, i), values = vector_of<T>(es, i), vectors = matrix_of<T>(vs, i);
            const long double close = matrices::tolerance<T>(n, a.largest() * static_cast<long double>(n));
            check_orthonormal<T>(vectors);
            CHECK(distance(product(a, vectors), matrices::times_columns(vectors, values)) <= close);
            CHECK(distance(values, vector_of<T>(alone, i)) <= close);
            for (index_t j = 1; j < n; ++j) CHECK(values(0, j - 1) <= values(0, j));
        }
    }
}

template <class T> void check_complex_decompositions(const any_array& at) {
    using R = real_type<T>;
    const index_t m = at.shape()[1], n = at.shape()[2], k = std::min(m, n);
    INFO(to_string(at.type()));
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<T, dyn, dyn, dyn> x("x");
    const auto run = [&](const any_tensor& y) { return op_test::run(s, y, {x}, {at}); };
    for (const bool full : {false, true}) {
        const auto [q, r] = full ? qr(x, full_matrices) : qr(x);
        const auto [values, u, v] = full ? svd(x, full_matrices) : svd(x);
        static_assert(std::is_same_v<value_type_of<decltype(values)>, R>);
        const any_array qs = run(q), rs = run(r), ss = run(values), us = run(u), vs = run(v),
                        alone = run(singular_values(x));
        for (index_t i = 0; i < at.shape()[0]; ++i) {
            const wide a = matrix_of<T>(at, i), one_q = matrix_of<T>(qs, i), one_r = matrix_of<T>(rs, i),
                       one_s = vector_of<R>(ss, i), one_u = matrix_of<T>(us, i), one_v = matrix_of<T>(vs, i);
            const long double close =
                matrices::tolerance<R>(2 * std::max(m, n), std::max(a.largest(), one_s.largest()));
            check_orthonormal<R>(one_q);
            CHECK(distance(product(one_q, one_r), a) <= close);
            const index_t rows = one_r.rows / 2;
            for (index_t row = 0; row < rows; ++row)
                for (index_t column = 0; column <= std::min(row, n - 1); ++column) {
                    if (column < row) CHECK(one_r(row, column) == 0);
                    CHECK(one_r(rows + row, column) == 0); // on the diagonal, too
                }
            check_orthonormal<R>(one_u);
            check_orthonormal<R>(one_v);
            wide diagonal = matrices::zeros(one_u.columns, one_v.columns);
            for (index_t j = 0; j < k; ++j)
                diagonal(j, j) = diagonal(one_u.columns / 2 + j, one_v.columns / 2 + j) = one_s(0, j);
            CHECK(distance(product(product(one_u, diagonal), transposed(one_v)), a) <= close);
            CHECK(distance(one_s, vector_of<R>(alone, i)) <= close);
            for (index_t j = 1; j < k; ++j) CHECK(one_s(0, j - 1) >= one_s(0, j));
        }
    }
}

TEMPLATE_TEST_CASE("qr, svd: complex matrices", "", std::complex<float>, std::complex<double>) {
    using T = TestType;
    for (const dims& shape :
         {dims{1, 1, 1}, dims{2, 3, 2}, dims{1, 2, 4}, dims{1, 5, 5}, dims{2, 26, 30}, dims{1, 40, 25}})
        check_complex_decompositions<T>(drawn<T>(shape));
    check_complex_decompositions<T>(op_test::make_array<T>({1, 3, 2}, std::vector<T>(6)));
    const std::vector<T> twice{T(1), T(0, 2), T(2), T(0, 4), T(1, 1), T(-2, 2)}; // of rank 1
    check_complex_decompositions<T>(op_test::make_array<T>({1, 3, 2}, twice));
    for (auto* const size : {"1e25", "1e-25"}) { // squares overflow or vanish
        const auto by = static_cast<real_type<T>>(std::stod(size));
        check_complex_decompositions<T>(
            op_test::make_array<T>({1, 2, 2}, {T(by, by), T(0, by), T(by), T(2 * by, -by)}));
    }
}

TEMPLATE_TEST_CASE("self_adjoint_eig, cholesky: complex matrices", "", std::complex<float>, std::complex<double>) {
    using T = TestType;
    using R = real_type<T>;
    for (const dims& shape : {dims{1, 1, 1}, dims{3, 2, 2}, dims{1, 7, 7}, dims{2, 30, 30}}) {
        const index_t n = shape[2];
        const graph g;
        const graph_scope here(g);
        const session s(g);
        const placeholder<T, dyn, dyn, dyn> x("x");
        const auto run = [&](const any_tensor& y, const any_array& at) { return op_test::run(s, y, {x}, {at}); };
        const any_array spread = matrices::lower_of_self_adjoint<T>(shape, -1),
                        definite = matrices::lower_of_self_adjoint<T>(shape, 1);
        const auto [e, v] = self_adjoint_eig(x);
        const any_array es = run(e, spread), vs = run(v, spread), alone = run(self_adjoint_eigvals(x), spread),
                        factors = run(cholesky(x), definite), whole = matrices::self_adjoint<T>(spread),
                        whole_definite = matrices::self_adjoint<T>(definite);
        for (index_t i = 0; i < shape[0]; ++i) {
            INFO(to_string(spread.type()) << ", matrix " << i);
            const wide a = matrix_of<T>(whole, i), vectors = matrix_of<T>(vs, i), values = vector_of<T>(es, i),
                       factor = matrix_of<T>(factors, i), b = matrix_of<T>(whole_definite, i);
            const long double close = matrices::tolerance<R>(2 * n, a.largest() * static_cast<long double>(n));
            check_orthonormal<R>(vectors);
            wide twice = matrices::zeros(1, 2 * n); // for both halves of the columns
            for (index_t j = 0; j < n; ++j) {
                twice(0, j) = twice(0, n + j) = values(0, j);
                CHECK(values(1, j) == 0); // the imaginary part
                if (j > 0) CHECK(values(0, j - 1) <= values(0, j));
            }
            CHECK(distance(product(a, vectors), matrices::times_columns(vectors, twice)) <= close);
            CHECK(distance(values, vector_of<T>(alone, i)) <= close);
            CHECK(distance(product(factor, transposed(factor)), b) <=
                  matrices::tolerance<R>(2 * n, b.largest() * static_cast<long double>(n)));
            for (index_t row = 0; row < n; ++row)
                for (index_t column = row; column < n; ++column) {
                    if (column > row) CHECK(factor(row, column) == 0);
                    CHECK(factor(n + row, column) == 0);
                }
        }
    }
}

TEST_CASE("qr, svd, self_adjoint_eig, cholesky: complex values computed by hand") {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<C, 2, 2> x("x");
    const auto run = [&](const any_tensor& y, const std::vector<C>& at) {
        return op_test::reals(op_test::run(s, y, {x}, {op_test::make_array<C>({2, 2}, at)}));
    };
    const C i(0, 1);
    const std::vector<C> turning{2., i, -i, 2.};
    CHECK(op_test::far_apart(run(self_adjoint_eigvals(x), turning), {1, 0, 3, 0}, 1e-15) == "");
    const double root = std::sqrt(2.), half = 1 / root;
    CHECK(op_test::far_apart(run(cholesky(x), {2., 1. - i, 1. + i, 3.}), {root, 0, 0, 0, half, half, root, 0}, 1e-15) ==
          "");
    CHECK(op_test::far_apart(run(singular_values(x), {0., 2. * i, 1., 0.}), {2, 1}, 1e-15) == "");
    const auto [sign, size] = log_matrix_determinant(x);
    CHECK(op_test::far_apart(run(sign, {2. * i, 0., 5., 1.}), {0, 1}, 1e-15) == "");
    CHECK(op_test::far_apart(run(size, {2. * i, 0., 5., 1.}), {std::log(2.), 0}, 1e-15) == "");
    CHECK(run(sign, {i, 1., -1., i}) == std::vector<double>{0, 0}); // singular
    CHECK(op_test::far_apart(run(logdet(x), {2., 1. - i, 1. + i, 3.}), {std::log(4.)}, 1e-15) == "");
    CHECK(op_test::far_apart(run(pinv(x), {2. * i, 0., 0., 0.}), {0, -0.5, 0, 0, 0, 0, 0, 0}, 1e-15) == "");
    const any_array rank = op_test::run(s, matrix_rank(x), {x}, {op_test::make_array<C>({2, 2}, {1., i, -i, 1.})});
    CHECK(rank.value<int>() == 1);
    const placeholder<C, 2, 1> b("b"); // the least squares of two equations: i z = 1, z = i
    const placeholder<C, 2, 1> a("a");
    const any_array as = op_test::make_array<C>({2, 1}, {i, 1.}), bs = op_test::make_array<C>({2, 1}, {1., i});
    for (const bool fast : {true, false})
        CHECK(
            op_test::far_apart(op_test::reals(op_test::run(s, matrix_solve_ls(a, b, {.fast = fast}), {a, b}, {as, bs})),
                               {0, 0}, 1e-15) == "");
    CHECK_THROWS_WITH(run(cholesky(x), {1., 0., 2. * i, 1.}), contains("is not positive definite"));
    for (const any_tensor& y : {any_tensor(std::get<0>(qr(x))), any_tensor(singular_values(x)),
                                any_tensor(self_adjoint_eigvals(x)), any_tensor(cholesky(x))})
        CHECK_THROWS_WITH(run(y, {1., 0., C(0, std::numeric_limits<double>::quiet_NaN()), 1.}), contains("NaN"));
}

TEST_CASE("svd, self_adjoint_eig: with and without LAPACK the same values") {
    constexpr index_t n = detail::lapack_from + 6; // by the library where there is one
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float64);
    const any_array at = positive<double>({n, n}, 1);
    const auto eigenvalues = op_test::reals(op_test::run(s, self_adjoint_eigvals(x), {x}, {at}));
    matrix_task t;
    t.rows = t.columns = n;
    t.vectors = false;
    std::vector<double> own(static_cast<std::size_t>(n));
    std::vector<std::byte> memory(1 << 20);
    detail::scratch_cutter cut(memory.data());
    using algorithm = detail::matrix_algorithm<matrix_function::self_adjoint_eig, double>;
    CHECK(algorithm::by_rotations(t, {{at.elements<double>().data()}, {own.data()}}, cut) == matrix_fault::none);
    CHECK(op_test::far_apart(own, eigenvalues, 1e-12) == "");
    detail::scratch_cutter again(memory.data());
    using singular = detail::matrix_algorithm<matrix_function::svd, double>;
    CHECK(singular::by_rotations(t, {{at.elements<double>().data()}, {own.data()}}, again) == matrix_fault::none);
    CHECK(op_test::far_apart(own, op_test::reals(op_test::run(s, singular_values(x), {x}, {at})), 1e-12) == "");
}

TEST_CASE("self_adjoint_eig, svd: elements whose squares overflow or vanish") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32);
    for (const float size : {1e25f, 1e-25f}) {
        const auto at = op_test::make_array<float>({2, 2}, {2 * size, size, size, 2 * size});
        const auto relative = [&](const any_tensor& y) {
            const any_array got = op_test::run(s, y, {x}, {at});
            std::vector<double> all;
            for (const float v : got.elements<float>()) all.push_back(static_cast<double>(v / size));
            return all;
        };
        CHECK(op_test::far_apart(relative(self_adjoint_eigvals(x)), {1, 3}, 1e-6) == "");
        CHECK(op_test::far_apart(relative(singular_values(x)), {3, 1}, 1e-6) == "");
    }
}

using X = const any_tensor&;

TEST_CASE("qr, svd, self_adjoint_eig: gradients, to second order") {
    struct row {
        const char* name;
        any_tensor (*f)(X a); // of what the signs of vectors do not change, or at points where these do not
        dims shape;
    };
    const row rows[] = {
        {"q", [](X a) { return std::get<0>(qr(a)); }, {2, 3, 2}},
        {"r", [](X a) { return std::get<1>(qr(a)); }, {3, 3}},
        {"q and r",
         [](X a) {
             const auto [q, r] = qr(a);
             return any_tensor(q * 2 + matmul(q, r));
         },
         {3, 2}},
        {"eigenvalues", [](X a) { return any_tensor(self_adjoint_eigvals(a)); }, {2, 3, 3}},
        {"eigenvectors",
         [](X a) {
             const auto [e, v] = self_adjoint_eig(a);
             return any_tensor(square(v) * expand_dims<-2>(e));
         },
         {3, 3}},
        {"singular values", [](X a) { return any_tensor(singular_values(a)); }, {2, 3, 2}},
        {"u", [](X a) { return any_tensor(square(std::get<1>(svd(a)))); }, {4, 2}},
        {"v", [](X a) { return any_tensor(square(std::get<2>(svd(a)))); }, {2, 4}},
        {"u, s and v",
         [](X a) {
             const auto [s, u, v] = svd(a);
             return any_tensor(matmul(u * exp(s), matrix_transpose(v)));
         },
         {3, 3}},
        {"pinv", [](X a) { return any_tensor(pinv(a)); }, {3, 2}},
        {"norm of order 1", [](X a) { return any_tensor(norm<-2, -1>(a, 1)); }, {2, 3, 2}},
        {"norm of order 2", [](X a) { return any_tensor(norm<-2, -1>(a, 2)); }, {2, 3, 2}},
        {"norm of order 3", [](X a) { return any_tensor(norm<-1>(a, 3)); }, {3, 2}},
    };
    for (const row& r : rows) {
        INFO(r.name);
        const graph g;
        const graph_scope here(g);
        const session s(g);
        const auto a = any_placeholder("a", dtype::float64);
        op_test::gradient_check{s, {a}, {drawn<double>(r.shape, 1)}, 1e-6}.check(r.f(a), 2);
    }
}

TEST_CASE("qr, svd, self_adjoint_eig, cholesky: complex gradients") {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    detail::require_gradient_kernels<C>();
    const auto check = [&](const char* name, const auto& x, const dims& shape, const any_tensor& y, int order = 1) {
        INFO(name);
        op_test::gradient_check{s, {x}, {drawn<C>(shape, 1)}, 1e-6}.check(y, order);
    };
    const placeholder<C, 3, 3> square("square");
    const placeholder<C, 3, 2> tall("tall");
    const placeholder<C, 2, 3> flat("flat");
    const placeholder<C, dyn, dyn> any("any");
    const auto magnitudes = [](const auto& z) { return sealed(real(sealed(z * conj(z)))); };
    {
        const auto [q, r] = qr(tall);
        check("q", tall, {3, 2}, q);
        check("r", tall, {3, 2}, r);
        check("q and r", tall, {3, 2}, any_tensor(q * 2. + matmul(q, r)));
        const auto [p, t] = qr(square);
        check("square q and r", square, {3, 3}, any_tensor(p + t), 2);
    }
    {
        const auto definite = sealed(matmul(square, adjoint(square)));
        check("cholesky", square, {3, 3}, cholesky(definite), 2);
        check("logdet", square, {3, 3}, any_tensor(logdet(definite)));
        check("log determinant", square, {3, 3}, any_tensor(real(std::get<1>(log_matrix_determinant(square)))), 2);
        check("eigenvalues", square, {3, 3}, self_adjoint_eigvals(square));
        const auto [e, v] = self_adjoint_eig(square);
        check("eigenvectors", square, {3, 3}, any_tensor(magnitudes(v) * real(e)), 2);
        check("projections", square, {3, 3}, any_tensor(matmul(sealed(v * exp(e)), adjoint(v))));
    }
    const auto rebuilt = [](const auto& values, const auto& u, const auto& v) {
        return any_tensor(matmul(sealed(u * cast<C>(exp(values))), adjoint(v)));
    };
    check("singular values", tall, {3, 2}, singular_values(tall), 2);
    {
        const auto [values, u, v] = svd(tall);
        check("tall u, s and v", tall, {3, 2}, rebuilt(values, u, v));
        check("u", tall, {3, 2}, any_tensor(magnitudes(u)));
    }
    {
        const auto [values, u, v] = svd(flat);
        check("flat u, s and v", flat, {2, 3}, rebuilt(values, u, v));
        check("v", flat, {2, 3}, any_tensor(magnitudes(v)));
    }
    {
        const auto [values, u, v] = svd(square, full_matrices);
        check("square u, s and v", square, {3, 3}, rebuilt(values, u, v), 2);
    }
    {
        const auto [values, u, v] = svd(any);
        check("u, s and v of unknown extents", any, {3, 2}, rebuilt(values, u, v));
        check("pinv", any, {2, 3}, any_tensor(pinv(any)));
    }
}

TEST_CASE("pinv, matrix_rank, norm: values") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float64);
    const auto run = [&](const any_tensor& y, const dims& shape, const std::vector<double>& v) {
        return op_test::reals(op_test::run(s, y, {x}, {op_test::make_array<double>(shape, v)}));
    };
    CHECK(op_test::far_apart(run(pinv(x), {2, 2}, {1, 1, 1, 1}), {0.25, 0.25, 0.25, 0.25}, 1e-15) == "");
    CHECK(op_test::far_apart(run(pinv(x), {1, 2}, {3, 4}), {0.12, 0.16}, 1e-15) == "");
    CHECK(op_test::far_apart(run(pinv(x, 0.5), {2, 2}, {4, 0, 0, 1}), {0.25, 0, 0, 0}, 1e-15) == "");
    const auto rank = [&](const any_tensor& y, const dims& shape, const std::vector<double>& v) {
        const any_array got = op_test::run(s, y, {x}, {op_test::make_array<double>(shape, v)});
        return std::vector<int>(got.elements<int>().begin(), got.elements<int>().end());
    };
    CHECK(rank(matrix_rank(x), {3, 2, 2}, {1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0}) == std::vector<int>{1, 2, 0});
    CHECK(rank(matrix_rank(x, 2), {2, 2}, {4, 0, 0, 1}) == std::vector<int>{1});
    for (const double epsilons : {20., 60.}) { // rounding leaves 40 of them, by the extents of the run
        std::vector<double> tall(80);
        tall[0] = 1;
        tall[3] = epsilons * std::numeric_limits<double>::epsilon();
        const placeholder<double, 40, 2> known("known" + std::to_string(epsilons));
        const int wanted = epsilons > 40 ? 2 : 1;
        CHECK(rank(matrix_rank(x), {40, 2}, tall)[0] == wanted);
        CHECK(s.run(matrix_rank(known), feed(known, op_test::make_array<double>({40, 2}, tall))) == wanted);
    }
    const std::vector<double> v{3, -4, 0, 0, 1, 1};
    CHECK(op_test::far_apart(run(norm(x), {3, 2}, v), {std::sqrt(27.)}, 1e-15) == "");
    CHECK(run(norm(x, {1}), {3, 2}, v) == run(norm<1>(x), {3, 2}, v)); // axes at run time; a lone number is an order
    CHECK(run(norm(x, {0, -1}), {3, 2}, v) == run(norm(x), {3, 2}, v));
    CHECK(run(norm(x, {0}, keep_dims), {3, 2}, v) == run(norm<0>(x), {3, 2}, v));
    CHECK(op_test::far_apart(run(norm<-1>(x), {3, 2}, v), {5, 0, std::sqrt(2.)}, 1e-15) == "");
    CHECK(run(norm<-1>(x, 1), {3, 2}, v) == std::vector<double>{7, 0, 2});
    CHECK(run(norm<-1>(x, infinite_order), {3, 2}, v) == std::vector<double>{4, 0, 1});
    for (const norm_order order : {norm_order(1), norm_order(2), norm_order(3), infinite_order}) {
        CHECK(run(norm<1>(x, order), {3, 2}, v) == run(norm<-1>(x, order), {3, 2}, v));
        CHECK(run(norm<0>(x, order), {3, 2}, v) == run(norm<-2>(x, order), {3, 2}, v));
    }
    CHECK(op_test::far_apart(run(norm<-1>(x, 3), {1, 2}, {3, -4}), {std::cbrt(91.)}, 1e-15) == "");
    CHECK(run(norm<-2, -1>(x, 1), {3, 2}, v) == std::vector<double>{5});
    CHECK(run(norm<-2, -1>(x, infinite_order), {3, 2}, v) == std::vector<double>{7});
    CHECK(op_test::far_apart(run(norm<-2, -1>(x, 2), {2, 2}, {0, 3, 1, 0}), {3}, 1e-15) == "");
    CHECK_THROWS_WITH(norm<-1>(x, 0), contains("the order is 0"));
    CHECK_THROWS_WITH((norm<-2, -1>(x, 3)), contains("accepted for matrices are 1, 2"));
}

TEST_CASE("norm: of other orders, along axes known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 3, 2> x("x");
    const any_tensor untyped = x;
    const auto run = [&](const any_tensor& y) {
        return op_test::reals(s.run(y, feed(x, xt::xtensor<double, 2>{{3, -4}, {0, 0}, {1, 1}})));
    };
    for (const norm_order order : {norm_order(1), norm_order(2), norm_order(3), infinite_order}) {
        INFO("order " << order.p);
        const auto wanted = run(norm<-1>(x, order));
        CHECK(run(norm(x, order, 1)) == wanted);
        CHECK(run(norm(untyped, order, {-1})) == wanted);
        CHECK(run(norm(x, order, std::vector<int>{1}, keep_dims)) == wanted);
    }
    static_assert(std::is_same_v<decltype(norm(x, 3, 1)), tensor<double, dyn>>);
    static_assert(std::is_same_v<decltype(norm(x, 3, {1}, keep_dims)), tensor<double, dyn, dyn>>);
    for (const norm_order order : {norm_order(1), norm_order(2), infinite_order}) {
        INFO("order " << order.p);
        const auto wanted = run(norm<0, 1>(x, order));
        CHECK(run(norm(x, order, {0, 1})) == wanted);
        CHECK(run(norm(untyped, order, std::vector<int>{-2, -1}, keep_dims)) == wanted);
    }
    CHECK(run(norm(x, 1, {0, 1})) == std::vector<double>{5});
    CHECK(run(norm(reshape<6>(x), 1, 0)) == std::vector<double>{9}); // a vector has no matrix norm
    CHECK(run(norm(x, 1, {1, 0})) == std::vector<double>{7}); // the second axis is that of the columns
    CHECK_THROWS_WITH(norm(x, 3, {0, 1}), contains("accepted for matrices are 1, 2"));
    CHECK_THROWS_WITH(norm(x, -1, 1), contains("the order is -1"));
    CHECK_THROWS_WITH(norm(any_placeholder("cube", dtype::float32, {2, 3, 4}), 2, {0, 1}), contains("last two axes"));
}

TEST_CASE("norm: of order 3 where powers leave the range, and at zeros") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn> x("x");
    const auto y = norm(x, 3);
    const auto [d] = gradients(y, x);
    const auto [second] = gradients(d, x);
    const auto value = [&](const std::vector<float>& at) { return s.run(y, feed(x, at)); };
    const auto slopes = [&](const std::vector<float>& at) { return op_test::list(s.run(d, feed(x, at))); };
    CHECK(value({1e20f, 1e20f}) == Approx(1e20 * std::cbrt(2.)));
    CHECK(value({3e-30f, -4e-30f}) == Approx(1e-30 * std::cbrt(91.)));
    CHECK(value({0, 0}) == 0);
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(value({1, -inf}) == inf);
    CHECK(std::isnan(value({1, std::nanf("")})));
    CHECK(slopes({1e20f, 0})[0] == Approx(1));
    CHECK(slopes({3e-30f, -4e-30f})[1] == Approx(-16 / std::pow(91., 2. / 3)));
    CHECK(slopes({0, 0}) == std::vector<float>{0, 0});
    CHECK(slopes({2, 0})[0] == Approx(1));
    CHECK(op_test::list(s.run(second, feed(x, std::vector<float>{0, 0}))) == std::vector<float>{0, 0});
    const auto [of_roots] = gradients(norm(x, 0.5), x); // powers below 1 have an infinite slope at 0
    CHECK(op_test::list(s.run(of_roots, feed(x, std::vector<float>{4, 0}))) == std::vector<float>{1, 0});

    const placeholder<half, 3> narrow("narrow");
    const auto far = feed(narrow, std::vector<half>{half(200), half(200), half(200)});
    for (const any_tensor& of : {any_tensor(norm(narrow, 3)), any_tensor(norm(any_tensor(narrow), 3, 0))})
        CHECK(static_cast<float>(s.run(of, far).value<half>()) == 288.5f); // the nearest half to 288.45
    CHECK(static_cast<float>(s.run(any_tensor(norm(narrow, 1)), far).value<half>()) == 600);
}

TEST_CASE("qr, svd, self_adjoint_eig: matrices and gradients that are refused") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float64);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto missing = op_test::make_array<double>({2, 2}, {1, nan, nan, 1});
    const auto [values, u, v] = svd(x);
    CHECK_THROWS_WITH(op_test::run(s, values, {x}, {missing}), contains("holds a NaN") && contains("node 'svd'"));
    CHECK_THROWS_WITH(op_test::run(s, self_adjoint_eigvals(x), {x}, {missing}), contains("holds a NaN"));
    const auto below = op_test::make_array<double>({2, 2}, {1, 0, nan, 1});
    CHECK_THROWS_WITH(op_test::run(s, std::get<1>(qr(x)), {x}, {below}), contains("holds a NaN"));
    CHECK_THROWS_WITH(op_test::run(s, std::get<0>(qr(x)), {x}, {below}),
                      contains("qr: the matrix of float64 [2, 2] holds a NaN") && contains("node 'qr") &&
                          contains("svd.cpp"));
    CHECK_THROWS_WITH(op_test::run(s, self_adjoint_eigvals(x), {x}, {missing}),
                      contains("self_adjoint_eig: the matrix of float64 [2, 2] holds a NaN") &&
                          contains("node 'self_adjoint_eig") && contains("svd.cpp"));
    CHECK_THROWS_WITH(op_test::run(s, pinv(x), {x}, {missing}),
                      contains("svd: the matrix of float64 [2, 2] holds a NaN") && contains("svd.cpp"));
    CHECK_THROWS_WITH(op_test::run(s, std::get<0>(qr(x)), {x}, {op_test::make_array<double>({3}, {1, 2, 3})}),
                      contains("matrices are expected, of rank 2 or more") && contains("[3]") && contains("node 'qr"));
    CHECK_THROWS_WITH(op_test::run(s, self_adjoint_eigvals(x), {x}, {drawn<double>({2, 3})}),
                      contains("the matrices are not square"));
    const auto broad = any_placeholder("broad", dtype::float64, {2, 3});
    CHECK_THROWS_WITH(gradients(std::get<0>(qr(broad)), broad), contains("as many rows as columns"));
    CHECK_THROWS_WITH(gradients(std::get<1>(svd(broad, full_matrices)), broad), contains("must be square"));
    for (const op_ptr& made : {make_op(qr_op{true}), make_op(svd_op{false, true}), make_op(self_adjoint_eig_op{false})})
        CHECK(make_op(made->name(), 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_linalg_svd
