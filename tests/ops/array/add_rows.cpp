// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/add_rows.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <rill/ops/catalogue.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_add_rows {

any_tensor with_rows(const any_tensor& to, const any_tensor& ids, const any_tensor& slices) {
    require_kernel<add_rows_op, double>();
    return endpoint{detail::add_node(to.graph(), make_op(add_rows_op{}), {to, ids, slices}), 0};
}

/// Names of the ops that a gradient is made of, as a run needs them.
std::vector<std::string> ops_of(const any_tensor& x) {
    std::vector<std::string> names;
    std::vector<const node*> open{x.node()}, seen;
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        if (std::ranges::find(seen, n) != seen.end()) continue;
        seen.push_back(n);
        names.emplace_back(n->op->kernel_name());
        for (const auto& e : n->inputs) open.push_back(e.from);
    }
    return names;
}

TEST_CASE("add_rows: adds slices where ids say, in order, and leaves the tensor as it was if it is needed") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double, dyn, dyn> to("to"), slices("slices");
    const tensor ids = constant({2, 0, 2});
    const any_tensor y = with_rows(to, ids, slices);
    const std::vector<any_tensor> xs{to, slices};
    const std::vector<any_array> at{op_test::make_array<double>({3, 2}, {1, 2, 3, 4, 5, 6}),
                                    op_test::make_array<double>({3, 2}, {10, 20, 30, 40, 50, 60})};
    CHECK(op_test::difference<double>(op_test::run(s, y, xs, at), {3, 2}, {31, 42, 3, 4, 65, 86}) == "");
    const tensor<double, dyn, dyn> twice = to * 2.;
    const auto [changed, whole] =
        s.run(std::tuple(tensor<double, dyn, dyn>(with_rows(twice, ids, slices)), twice),
              feed(to, {{1., 1.}, {1., 1.}, {1., 1.}}), feed(slices, {{1., 1.}, {1., 1.}, {1., 1.}}));
    CHECK(changed(2, 0) == 4.);
    CHECK(whole(2, 0) == 2.);
}

TEST_CASE("add_rows: gradient") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double, dyn, dyn> to("to"), slices("slices");
    const std::vector<any_tensor> xs{to, slices};
    const std::vector<any_array> at{op_test::make_array<double>({3, 1}, {1, 2, 3}),
                                    op_test::make_array<double>({2, 1}, {4, 5})};
    op_test::gradient_check{s, xs, at}.check(with_rows(to, tensor(constant({2, 0})), slices), 2);
}

TEST_CASE("add_rows: refuses what does not fit, and ids outside") {
    const graph_scope here{graph()};
    const session s;
    const tensor to = constant({1., 2., 3.});
    const tensor two = constant({1., 2.});
    CHECK_THROWS_WITH(with_rows(to, tensor(constant({0, 1, 2})), two), contains("must be of shape [3]"));
    CHECK_THROWS_AS(with_rows(to, two, two), invalid_argument);
    CHECK_THROWS_AS(s.run(with_rows(to, tensor(constant({0, 3})), two)), invalid_argument);
}

TEST_CASE("add_rows: gradients of several uses of a table are added where they lie") {
    const graph_scope here{graph()};
    placeholder<double, dyn, 2> table("table");
    const auto loss = reduce_sum(square(gather(table, constant({0, 2})))) +
                      reduce_sum(gather(table, constant({2, 2}))) + reduce_sum(exp(table));
    const auto [d] = gradients(loss, table);
    const auto names = ops_of(d);
    CHECK(std::ranges::count(names, "AddRows") == 2);
    CHECK(std::ranges::count(names, "GatherGrad") == 0);
    const tensor first = constant(0);
    const auto [only_rows] =
        gradients(reduce_sum(gather(table, first)) + reduce_sum(square(gather(table, constant({0, 1})))), table);
    const auto fewer = ops_of(only_rows);
    CHECK(std::ranges::count(fewer, "GatherGrad") == 1);
    CHECK(std::ranges::count(fewer, "AddRows") == 1);
    const auto [all, rows] = session().run(std::tuple(d, only_rows), feed(table, {{0., 0.}, {0., 0.}, {0., 1.}}));
    CHECK(all(0, 0) == 1.);
    CHECK(all(1, 1) == 1.);
    CHECK(all(2, 0) == 3.);
    CHECK(all(2, 1) == Approx(2. + 2. + std::exp(1.)));
    CHECK(rows(0, 0) == 1.);
    CHECK(rows(2, 1) == 0.);
}

TEST_CASE("add_rows: of what a loop reads slice by slice, and of its own state") {
    const graph_scope here{graph()};
    placeholder<double, 5> x("x");
    const tensor first = constant(0);
    const auto [n, sum] = while_loop(
        [](auto i, auto) { return i < 5; },
        [&](auto i, auto s) { return std::tuple(i + 1, s + square(gather(x, i)) * gather(x, first)); }, 0, 0.);
    const auto [d] = gradients(sum, x);
    const auto [dd] = gradients(reduce_sum(d), x);
    const session s;
    const auto [once, twice] = s.run(std::tuple(d, dd), feed(x, {2., 3., 5., 7., 11.}));
    // (x0² + … + x4²) x0
    CHECK(once(0) == 2 * 2. * 2. + 4. + 9. + 25. + 49. + 121.);
    CHECK(once(3) == 2 * 7. * 2.);
    CHECK(twice(3) == 2 * 2. + 2 * 7.);
    CHECK(twice(0) == 2 * (3 * 2. + 3. + 5. + 7. + 11.));
    // cells that are written and read
    const auto cells =
        while_loop([](auto i, auto) { return i < 5; },
                   [&](auto i, auto a) { return std::tuple(i + 1, a.write(i, a.read(i - 1) * gather(x, i))); },
                   std::tuple(constant(1), tensor_array<double>(5).write(0, gather(x, first))));
    const auto [dc] = gradients(reduce_sum(std::get<1>(cells).stack()), x);
    const auto products = s.run(dc, feed(x, {2., 3., 5., 7., 11.}));
    CHECK(products(0) == 1 + 3. + 15. + 105. + 1155.);
    CHECK(products(4) == 210.);
}

} // namespace test_ops_array_add_rows
