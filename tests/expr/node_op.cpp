// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/node_op.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_node_op {

/// A node op as a user writes it: every row shifted by one, the first becomes zero.
struct delay_op {
    static constexpr auto name = "Delay";
    using domain_type = domains::numeric;
    using compiled_types = types::common; // as the catalogue's say; rill::kernels has it not for that
    bool forward = true;

    static void fields(auto& op, auto& visit) { visit("forward", op.forward); }
    constexpr shape_result shape(const dims& x) const {
        if (x.known_rank() && x.rank != 1) return {x, "one dimension is expected"};
        return {x};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const {
        return {r.add<delay_op>(delay_op{!forward}, {r.gradient()})};
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.outputs[0].shape.size();
        return kernel([n, up = forward](const kernel_args& s) {
            const T* from = s.in<T>(0);
            T* to = s.out<T>(0);
            for (index_t i = 0; i < n; ++i)
                to[i] = up ? (i > 0 ? from[i - 1] : T(0)) : (i + 1 < n ? from[i + 1] : T(0));
        });
    }
};

template <graph_operand X> auto delay(const X& x, const std::source_location& where = std::source_location::current()) {
    return apply_node(delay_op{}, [](const dims& shape) { return delay_op().shape(shape); }, where, x);
}

} // namespace test_node_op

TEST_CASE("node_op: an op of the user's own, by the harness") {
    using test_node_op::delay;
    const auto reference = [](const auto& x) {
        auto y = x;
        for (std::size_t i = 0; i < x.size(); ++i) y.storage()[i] = i > 0 ? x.storage()[i - 1] : 0;
        return y;
    };
    const auto f = [](const auto& x) { return delay(x); };
    op_test::node<float, 1>(f, reference, {{5}});
    op_test::node<double, 1>(f, reference, {{5}});
    op_test::node<double, 1>(f, reference, {{0}});
    op_test::node<double, 1>([](const auto& x) { return delay(x * x) * x; },
                             [](const xt::xarray<double>& x) {
                                 auto y = x;
                                 for (std::size_t i = 0; i < x.size(); ++i)
                                     y.storage()[i] *= i > 0 ? x.storage()[i - 1] * x.storage()[i - 1] : 0;
                                 return y;
                             },
                             {{4}}, {.order = 3});
    static_assert(std::is_same_v<decltype(delay(std::declval<tensor<float, 7>>())), tensor<float, 7>>);
}

TEST_CASE("node_op: operands of all kinds are sealed where the first of them lives") {
    using test_node_op::delay;
    const graph g;
    placeholder<float, dyn> x = [&] {
        const graph_scope there(g);
        return placeholder<float, dyn>("x");
    }();
    const auto y = delay(x + 1.f);
    CHECK(y.graph() == g);
    CHECK(y.node()->name == "delay");
    CHECK(std::string(y.node()->where.file_name()).find("node_op.cpp") != std::string::npos);
    CHECK(y.node()->inputs[0].from->op->name() == "Add");
    const session s(g);
    CHECK(op_test::list(s.run(y, feed(x, std::vector<float>{1, 2, 3}))) == std::vector<float>{0, 2, 3});
    const auto of_constant = delay(constant({1, 2, 3}));
    CHECK(op_test::list(session().run(of_constant)) == std::vector<int>{0, 1, 2});
}

TEST_CASE("node_op: tensors of unknown type bring the usual dtypes' kernels, others are named when missing") {
    using test_node_op::delay;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto f = any_placeholder("f", dtype::float64), c = any_placeholder("c", dtype::complex128);
    const any_tensor y = delay(f), z = delay(c);
    CHECK(op_test::reals(op_test::run(s, y, {f}, {op_test::make_array<double>({2}, {4, 5})})) ==
          std::vector<double>{0, 4});
    const std::vector<any_array> at{op_test::point_array<std::complex<double>>({}, {2})};
    CHECK_THROWS_AS(op_test::run(s, z, {c}, at), unimplemented);
    CHECK_THROWS_WITH(op_test::run(s, z, {c}, at),
                      contains("Delay") && contains("complex128") && contains("'delay_1'"));
    CHECK_THROWS_WITH(delay(any_placeholder("m", dtype::float32, {2, 2})),
                      contains("delay: one dimension is expected") && contains("[2, 2]"));
}

TEST_CASE("node_op: tensors of a type known at run time only are refused like typed ones") {
    using test_node_op::delay;
    const graph g;
    const graph_scope here(g);
    const any_tensor flags = any_placeholder("flags", dtype::boolean);
    CHECK_THROWS_AS(delay(flags), invalid_argument);
    CHECK_THROWS_WITH(delay(flags), contains("delay: it does not take bool") && contains("flags"));
    CHECK_NOTHROW(delay(any_placeholder("numbers", dtype::int16)));
}
