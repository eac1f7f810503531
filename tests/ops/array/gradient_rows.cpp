// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/gradient_rows.hpp>

#include <rill/ops/catalogue.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_gradient_rows {

int count(const graph& g, std::string_view op) {
    return static_cast<int>(std::ranges::count_if(g.nodes(), [&](const node* n) { return n->op->name() == op; }));
}

TEST_CASE("gradient_rows: rows of several look-ups are joined, whatever the ranks and types of their ids") {
    const graph g;
    const graph_scope here(g);
    const session s;
    placeholder<double, 4, 2> table("table");
    const tensor wide = constant(xt::xtensor<std::int64_t, 2>{{1, 3}, {3, 2}});
    const tensor loss = reduce_sum(square(gather(table, constant({0, 3})))) + reduce_sum(gather(table, wide)) +
                        3. * reduce_sum(gather(table, constant(3)));
    const endpoint d = detail::gradient_endpoints({loss.end()}, {table.end()}, {})[0];
    REQUIRE(detail::is_rows(d));
    const auto rows = detail::rows_of(d);
    CHECK(type_of(rows.ids) == tensor_type{dtype::int64, dims{7}});
    CHECK(type_of(rows.slices) == tensor_type{dtype::float64, dims{7, 2}});
    CHECK(rows.table == table.end());
    const endpoint one = detail::with_joined_rows(d);
    CHECK(one.from->op->name() == "GatherGrad");
    CHECK(detail::with_joined_rows(one) == one);
    const auto [all, same] =
        s.run(std::tuple(tensor<double, 4, 2>(any_tensor(d)), tensor<double, 4, 2>(any_tensor(one))),
              feed(table, {{1., 2.}, {3., 4.}, {5., 6.}, {7., 8.}}));
    CHECK(all == xt::xtensor<double, 2>{{2, 4}, {1, 1}, {1, 1}, {19, 21}});
    CHECK(all == same);
}

TEST_CASE(
    "gradient_rows: dense where a dense gradient joins them, along another axis, or where rows have unknown extents") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, 4, 2> table("table");
    placeholder<double, dyn, dyn> open("open");
    const tensor ids = constant({0, 1});
    const auto rows_by = [](const any_tensor& y, const any_tensor& x) {
        return detail::is_rows(detail::gradient_endpoints({y.end()}, {x.end()}, {})[0]);
    };
    CHECK(rows_by(reduce_sum(gather(table, ids)), table));
    CHECK(rows_by(reduce_sum(gather(identity(table), ids)) + reduce_sum(gather(table, ids)), table));
    CHECK_FALSE(rows_by(reduce_sum(gather(table, ids)) + reduce_sum(square(table)), table));
    CHECK_FALSE(rows_by(reduce_sum(gather<1>(table, ids)) + reduce_sum(gather(table, ids)), table));
    CHECK_FALSE(rows_by(reduce_sum(gather(open, ids)) + reduce_sum(gather(open, ids)), open));
    CHECK_FALSE(bool(detail::rows_of(table)));
}

TEST_CASE("gradient_rows: of n slices one makes the gradient, the others are added where it lies") {
    constexpr int n = 40;
    const graph g;
    const graph_scope here(g);
    const any_tensor x = any_placeholder("x", dtype::float64, {n});
    std::vector<any_tensor> parts;
    for (int i = 0; i < n; ++i) {
        parts.push_back(reduce_sum(square(slice(x, dims{i}, dims{1})), {0}));
        if (i % 2) parts.push_back(reduce_sum(slice(x, tensor(constant({i})), tensor(constant({1}))), {0}));
    }
    const any_tensor d = gradients({add_n(parts)}, {x})[0];
    CHECK(count(g, "StridedSliceGrad") + count(g, "SliceGrad") == n + n / 2); // what is added is not made
    CHECK(count(g, "AddSlice") == n + n / 2 - 1);
    const session s(g, {.inter_op_threads = 0, .intra_op_threads = 0});
    std::vector<double> at(n);
    std::iota(at.begin(), at.end(), 0.);
    const auto [got, trace] = s.run_traced(d, feed(x, at));
    for (int i = 0; i < n; ++i) CHECK(got.elements<double>()[i] == 2 * i + i % 2);
    std::int64_t made = 0;
    for (const auto& e : trace.entries) made += e.op == "StridedSliceGrad" || e.op == "SliceGrad";
    CHECK(made == 1);
    // the memory of a step is that of the slices, twice or so, and of a few whole ones: not of n
    const std::string report = s.memory_report();
    const auto bytes = std::stoll(report.substr(report.find("steps, ") + 7));
    CHECK(bytes < 10 * 64 * n);
}

TEST_CASE("gradient_rows: parts are added to a dense gradient, along any axis") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double, 2, 3> x("x");
    const auto loss = reduce_sum(square(gather<1>(x, constant({0, 2, 2})))) + reduce_sum(gather<-1>(x, constant({1}))) +
                      reduce_sum(slice<1, 2>(x, {1, 1})) + reduce_sum(exp(x));
    op_test::gradient_check{s, {x}, {op_test::make_array<double>({2, 3}, {.1, .2, .3, .4, .5, .6})}}.check(loss, 2);
}

} // namespace test_ops_array_gradient_rows
