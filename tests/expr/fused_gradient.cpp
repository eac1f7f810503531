// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/fused_gradient.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>

#include "fused_spec.hpp"
#include "ops/harness.hpp"

using namespace rill;

namespace {
constexpr elementwise_info no_such_op{"NoSuchOp"};
}

namespace test_fused_gradient {

bool reads(const any_tensor& gradient, const any_tensor& value) {
    return detail::contains(gradient.node()->inputs, value.end());
}

} // namespace test_fused_gradient

TEST_CASE("fused_gradient: differentiating a program says where nothing flows") {
    require_primitive<add_op, double, double>();
    require_primitive<mul_op, double, double>();
    require_primitive<greater_op, double, double>();
    require_primitive<cast_op<double>, bool>();
    tracer t({dtype::float64, dtype::float64, dtype::float64}, {});
    const int flag = t.emit(info_of<greater_op>, dtype::boolean, {t.leaf(0), t.leaf(1)});
    const int number = t.emit(info_of<cast_op<double>>, dtype::float64, {flag});
    const auto p = t.finish({t.emit(info_of<mul_op>, dtype::float64, {number, t.leaf(2)})});
    const auto d = detail::differentiate(*p, {}, {1}, {{0}, {1}, {2}, {0, 2}}, info_of<add_op>);
    CHECK(d.flows == std::vector<char>{0, 0, 1, 1});
    CHECK(d.body->results.size() == 2);
    CHECK(d.body->leaves.size() == 4); // the seed is a leaf behind the others
    tracer unknown({dtype::float64}, {});
    const auto q = unknown.finish({unknown.emit(no_such_op, dtype::float64, {unknown.leaf(0)})});
    for (const bool by_result : {false, true}) {
        CHECK_THROWS_AS(detail::differentiate(*q, {}, {1}, {{0}}, info_of<add_op>, by_result), unimplemented);
        CHECK_THROWS_WITH(detail::differentiate(*q, {}, {1}, {{0}}, info_of<add_op>, by_result),
                          contains("NoSuchOp($0:float64)"));
    }
}

TEST_CASE("fused_gradient: from the result or the gradient alone, where pullbacks read no more") {
    using namespace test_fused_gradient;
    const graph g;
    const graph_scope here(g);
    placeholder<double, 4, 3> m("m"), up("up");
    placeholder<double, 3> b("b");
    placeholder<double, 4, 1> c("c");

    const tensor h = relu(m + b - c);
    const auto [dm, db, dc] = gradients(reduce_sum(h * up), m, b, c);
    CHECK(dm.node() == db.node());
    CHECK(dm.node()->op->label() == "relu_grad");
    CHECK(spec_of(dm).kind == fused_spec::form::by_result);
    CHECK(reads(dm, h));
    CHECK_FALSE(reads(dm, m));
    CHECK_FALSE(reads(dm, b));
    CHECK(reads(dm, c)); // for its shape, which is no sum over leading axes

    const tensor sum = m - b; // of which the gradient itself is that of m
    const auto passed = gradients({sum}, {m, b}, {.grad_ys = {up}, .stop = {}});
    const any_tensor gm = passed[0], gb = passed[1];
    CHECK(gm.end() == up.end());
    CHECK(gb.node()->inputs.size() == 1);
    const tensor both = m + m;
    CHECK(spec_of(gradients({both}, {m}, {.grad_ys = {up}, .stop = {}})[0]).body->code.size() == 1);

    // what is read in between, or reduced, is computed again from operands
    CHECK(spec_of(gradients({exp(m * b)}, {b})[0]).kind == fused_spec::form::adjoint);
    CHECK(spec_of(gradients({reduce_sum(tanh(m + b))}, {b})[0]).kind == fused_spec::form::adjoint);

    const auto mv = op_test::point_array<double>({}, {4, 3}),
               uv = op_test::make_array<double>({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const session s(g);
    const auto got = s.run(std::vector<any_tensor>{h, dm, db, dc, gb},
                           std::vector<feed_value>{feed(any_tensor(m), mv), feed(any_tensor(up), uv),
                                                   feed(b, {0.5, -0.25, 2}), feed(c, {{0.1}, {0.2}, {-3}, {4}})});
    const auto hv = op_test::reals(got[0]), ups = op_test::reals(uv);
    std::vector<double> wm(12), wb(3), wc(4), sb(3);
    for (std::size_t i = 0; i < 12; ++i) {
        wm[i] = hv[i] > 0 ? ups[i] : 0;
        wb[i % 3] += wm[i];
        wc[i / 3] -= wm[i];
        sb[i % 3] -= ups[i];
    }
    CHECK(op_test::far_apart(op_test::reals(got[1]), wm, 1e-12) == "");
    CHECK(op_test::far_apart(op_test::reals(got[2]), wb, 1e-12) == "");
    CHECK(op_test::far_apart(op_test::reals(got[3]), wc, 1e-12) == "");
    CHECK(op_test::far_apart(op_test::reals(got[4]), sb, 1e-12) == "");
}

TEST_CASE("fused_gradient: extents that only a run knows") {
    using namespace test_fused_gradient;
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn, 3> m("m"), other("other");
    placeholder<double, 3> b("b");
    const tensor h = tanh(m + b), two = tanh(m + other);
    const auto [dm, db] = gradients(h, m, b);
    CHECK_FALSE(reads(dm, m)); // nobody else has its rows: they are the result's
    CHECK_FALSE(reads(db, b));
    const auto [da, dother] = gradients(two, m, other);
    CHECK(reads(da, m)); // one of them may have a single row
    CHECK(reads(da, other));
    const session s(g);
    const auto got = s.run(std::vector<any_tensor>{da, dother, two},
                           std::vector<feed_value>{feed(m, {{1., 2, 3}, {0, 0.5, -1}}), feed(other, {{0.25, -2., 0}})});
    CHECK(got[0].shape() == dims{2, 3});
    CHECK(got[1].shape() == dims{1, 3});
    const auto y = op_test::reals(got[2]), d = op_test::reals(got[1]);
    for (std::size_t k = 0; k < 3; ++k) CHECK(d[k] == Approx(2 - y[k] * y[k] - y[k + 3] * y[k + 3]));
}

TEST_CASE("fused_gradient: a value that is fed is the one that gradients are made from") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, 2> x("x");
    const tensor y = tanh(x);
    const auto [d] = gradients(y, x);
    const session s(g);
    const auto got = s.run(d, feed(x, {0.1, 0.2}), feed(y, {0.5, 0.25}));
    CHECK(got(0) == Approx(0.75));
    CHECK(got(1) == Approx(1 - 0.0625));
}

TEST_CASE("fused_gradient: a gradient given from outside has the shape of its y, also where a run finds it smaller") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn, 3> m("m"), up("up");
    placeholder<double, 3> b("b");
    const tensor y = m - b, t = tanh(m + b);
    const session s(g);
    for (const any_tensor& of : {any_tensor(y), any_tensor(t)}) {
        const auto d = gradients({of}, {m, b}, {.grad_ys = {up}, .stop = {}});
        const auto got = s.run(d, std::vector<feed_value>{feed(m, {{0., 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}),
                                                          feed(up, {{1., 2, 3}}), feed(b, {0., 0, 0})});
        CHECK(got[0].shape() == dims{4, 3});
        const double sign = of.node() == y.node() ? -4 : 4;
        CHECK(op_test::reals(got[1]) == std::vector<double>{sign, 2 * sign, 3 * sign});
    }
}

namespace test_fused_gradient {

/// a - floor(b), of which b gets no gradient; and one that reads its operands.
struct above_floor_op {
    static constexpr auto name = "TestAboveFloor";
    using domain_type = domains::real_floating;
    template <class V> static auto value(const V& a, const V& b) { return a - floor(b); }
    template <class V> static auto pullback(const V& g) { return adjoints<V, no_gradient>(g, {}); }
};
struct scaled_by_floor_op {
    static constexpr auto name = "TestScaledByFloor";
    using domain_type = domains::real_floating;
    template <class V> static auto value(const V& a, const V& b) { return a * floor(b); }
    template <class V> static auto pullback(const V&, const V& b, const V&, const V& g) {
        return adjoints<V, no_gradient>(g * floor(b), {});
    }
};

} // namespace test_fused_gradient

TEST_CASE("fused_gradient: no gradient for an operand that could have one") {
    using namespace test_fused_gradient;
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2> a("a"), b("b");
    const tensor y = tanh(apply<above_floor_op>(a, square(b))), z = apply<scaled_by_floor_op>(a, b);
    const auto [da, db] = gradients(y, a, b);
    const auto [za, zb] = gradients(z, a, b);
    const session s(g);
    const auto got = s.run(std::vector<any_tensor>{y, da, db, za, zb}, feed(a, {0.5f, -1.f}), feed(b, {1.5f, 2.5f}));
    for (std::size_t i = 0; i < 2; ++i) {
        const double v = op_test::reals(got[0])[i];
        CHECK(op_test::reals(got[1])[i] == Approx(1 - v * v));
        CHECK(op_test::reals(got[2])[i] == 0);
        CHECK(op_test::reals(got[3])[i] == (i == 0 ? 1 : 2));
        CHECK(op_test::reals(got[4])[i] == 0);
    }
}
