// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/fused_op.hpp>

#include <cmath>

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/tanh.hpp>

#include "fused_spec.hpp"
#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("fused_op: names") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), y("y");
    const tensor one = tanh(x), two = tanh(x) * y;
    const tensor converted = cast<int>(x);
    const auto mean = reduce_mean(square(x));
    CHECK(one.node()->op->name() == "Tanh");
    CHECK(one.node()->name == "tanh");
    CHECK(two.node()->op->name() == "Mul(Tanh($0:float32),$1:float32)");
    CHECK(two.node()->name == "mul");
    CHECK(mean.node()->name == "reduce_mean");
    CHECK(converted.node()->name == "cast");
    const auto [d] = gradients(two, x);
    CHECK(d.node()->name.rfind("gradients/", 0) == 0);
    CHECK(d.node()->op->kernel_name() == "Fused");
}

TEST_CASE("fused_op: of inputs that its program does not read only the shape matters") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x"), y("y"), z("z");
    const tracer t({dtype::float32, dtype::float32, dtype::float32}, {});
    const any_tensor spread(detail::add_program(g, t.finish({t.leaf(1)}), {}, {y, x, z}));
    const auto unread = [](const any_tensor& made) {
        return made.node()->op->shape_only_inputs(made.node()->inputs.size());
    };
    CHECK(unread(spread) == input_list{0, 2});
    CHECK(unread(tanh(x) * y).empty());
    const any_tensor total(detail::summed_like(tensor(tanh(x)), y)); // to the shape of y
    CHECK(unread(total) == input_list{1});
    const auto [slope] = gradients(tanh(x) * y, x);
    CHECK(unread(slope).empty()); // compiled gradients read all operands
    const auto ones = [](std::size_t rows, std::size_t columns) {
        return xt::xtensor<float, 2>(std::array<std::size_t, 2>{rows, columns}, 1.f);
    };
    for (const std::size_t n : {std::size_t(3), std::size_t(2000)}) {
        auto column = ones(n, 1);
        column(n - 1, 0) = 7.f;
        // what is not read is broadcast or whole, of one block or of several
        const auto got = s.run(spread, feed(x, column), feed(y, ones(1, 5)), feed(z, ones(n, 5)));
        REQUIRE(got.shape() == dims{static_cast<index_t>(n), 5});
        CHECK(got.elements<float>().back() == 7.f);
        CHECK(got.elements<float>()[0] == 1.f);
    }
    CHECK(s.run(total, feed(x, ones(3, 4)), feed(y, ones(3, 1))).elements<float>()[2] == Approx(4 * std::tanh(1.f)));
    // an operation is counted for each element
    const std::vector<tensor_type> in{{dtype::float32, {10, 4}}, {dtype::float32, {10, 1}}},
        out{{dtype::float32, {10, 4}}};
    const op_cost cost = tensor(x * y).node()->op->cost(in, out);
    CHECK(cost.flops == 40);
    CHECK(cost.bytes == 4 * (40 + 10 + 40));
}

TEST_CASE("fused_op: compiled kernels and the interpreter say the same, forward and backward") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn> x("x"), y("y");
    const any_tensor fetch = sealed(select(x > y, tanh(x * y) + 0.5 * x, exp(sin(y)) * x * x));
    const auto slow = [](const any_tensor& t) {
        auto spec = spec_of(t);
        spec.kind = fused_spec::form::program;
        return any_tensor(
            endpoint{detail::add_node(t.graph(), make_op(fused_op{spec}), t.node()->inputs), t.end().port});
    };
    const auto d = gradients({fetch}, {x, y});
    for (const any_tensor& t : {fetch, d[0], d[1]}) {
        INFO(t.name());
        CHECK_FALSE(spec_of(t).kernel().empty());
        const any_tensor other = slow(t);
        for (const auto& [a, b] : {std::pair(dims{1, 1}, dims{1, 1}),
                                   {dims{3, 5}, dims{1, 5}},
                                   {dims{3, 5}, dims{3, 1}},
                                   {dims{1, 700}, dims{9, 1}},
                                   {dims{2000, 3}, dims{1, 3}},
                                   {dims{0, 3}, dims{1, 3}}}) {
            const std::vector<any_array> at{op_test::point_array<double>({-1, 1}, a),
                                            op_test::point_array<double>({-1, 1}, b, 1)};
            const auto fast = op_test::reals(op_test::run(s, t, {x, y}, at)),
                       plain = op_test::reals(op_test::run(s, other, {x, y}, at));
            CHECK(op_test::far_apart(fast, plain, 1e-13) == "");
        }
    }
}

TEST_CASE("fused_op: equal leaves are one input, and have one gradient") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), y("y");
    const tensor t = x * y + x * x;
    CHECK(t.node()->inputs == std::vector<endpoint>{x.end(), y.end()});
    const auto& spec = spec_of(t);
    REQUIRE(spec.leaves.size() == 4);
    CHECK(spec.leaves[2].input == 0);
    const auto [dx] = gradients(t, x);
    const auto& back = spec_of(dx);
    REQUIRE(back.results.size() == 1);
    CHECK(back.results[0].like == 0);
    CHECK(back.results[0].mask == 0b1101);
    CHECK(back.kind == fused_spec::form::adjoint);
    const auto [dxx] = gradients(dx, x);
    CHECK(spec_of(dxx).kind == fused_spec::form::program);
}

TEST_CASE("fused_op: outputs") {
    tracer t({dtype::float32, dtype::float32}, {});
    fused_spec spec;
    spec.body = t.finish({t.emit(info_of<add_op>, dtype::float32, {t.leaf(0), t.leaf(1)})});
    spec.leaves = {{0, {}}, {1, {}}};
    spec.results.resize(1);
    const auto out = [&](const dims& a, const dims& b) {
        const tensor_type in[] = {{dtype::float32, a}, {dtype::float32, b}};
        return fused_op{spec}.outputs(in)[0].shape;
    };
    CHECK(out({dyn, 3}, {3}) == dims{dyn, 3});
    CHECK(out({2, 1}, {1, 4}) == dims{2, 4});
    CHECK(out(dims::unknown(), {1, 4}) == dims::unknown());
    CHECK_THROWS_WITH(out({2}, {3}), contains("do not broadcast"));
    spec.results[0].reduce = {combine::sum, {0}, false};
    CHECK(out({dyn, 3}, {3}) == dims{3});
    CHECK_THROWS_WITH(out({}, {}), contains("axis is out of range"));
    spec.results[0].reduce = {};
    spec.results[0].like = 1;
    CHECK(out({dyn, 3}, {3}) == dims{3});
    const tensor_type wrong[] = {{dtype::float32, {}}, {dtype::float64, {}}};
    CHECK_THROWS_WITH(fused_op{spec}.outputs(wrong), contains("operand 1 must be float32"));
}

TEST_CASE("fused_op: specs are equal where their nodes would compute the same") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), y("y");
    const auto spec = [](const auto& e) { return spec_of(sealed(e)); };
    CHECK(spec(x * 2.f) == spec(y * 2.f));
    CHECK_FALSE(spec(x * 2.f) == spec(x * 3.f));
    CHECK_FALSE(spec(x * x) == spec(x * y));
    CHECK_FALSE(spec(x * y) == spec(x + y));
    CHECK_FALSE(spec_of(reduce_mean<0>(x)) == spec_of(reduce_mean<0>(x, keep_dims)));
}

TEST_CASE("fused_op: fills and sums made for gradients") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    detail::require_gradient_kernels<float>();
    placeholder<float, 2, 3> small("small");
    placeholder<float, dyn, 3> open("open");
    placeholder<float, 100> large("large");
    const any_tensor a = detail::filled_like(small, 1), b = detail::filled_like(open, 0),
                     c = detail::filled_like(large, 1);
    CHECK(a.node()->op->role() == op_role::constant);
    CHECK(s.run(a).shape() == dims{2, 3});
    CHECK(s.run(a).elements<float>()[5] == 1);
    const auto zeros = op_test::run(s, b, {open}, {op_test::point_array<float>({}, {4, 3})});
    CHECK(op_test::far_apart(op_test::reals(zeros), std::vector<double>(12), 0) == "");
    const auto ones = op_test::run(s, c, {large}, {op_test::point_array<float>({}, {100})});
    CHECK(op_test::far_apart(op_test::reals(ones), std::vector<double>(100, 1.0), 0) == "");
    CHECK(detail::add_n({small}) == small.end());
    const any_tensor many = detail::add_n(std::vector<endpoint>(100, open));
    const auto hundred = op_test::run(s, many, {open}, {op_test::make_array<float>({1, 3}, {1, 2, 3})});
    CHECK(op_test::reals(hundred) == std::vector<double>{100, 200, 300});
    CHECK(detail::scalar_of(dtype::complex64, 2) == scalar_value(std::complex<float>(2)));
    CHECK(detail::scalar_of(dtype::half, 0.5) == scalar_value(half(0.5f)));
    CHECK_THROWS_AS(detail::scalar_of(dtype::string, 1), invalid_argument);
}
