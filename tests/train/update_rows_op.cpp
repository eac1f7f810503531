// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/update_rows_op.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/function.hpp>
#include <rill/ops/control/scan.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adagrad.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/momentum.hpp>
#include <rill/train/rmsprop.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_update_rows_op {

using rows_update = update_rows_op<gradient_descent_rule>;

/// Trains a table of 6 rows of 3 by what is looked up in it; `dense` hides from the optimizer that the gradient is rows.
template <class Id> struct embedding {
    graph g;
    graph_scope here{g};
    variable<double, 6, 3> table{
        "table", {{0., 1., 2.}, {3., 4., 5.}, {6., 7., 8.}, {9., 10., 11.}, {12., 13., 14.}, {15., 16., 17.}}};
    placeholder<Id, dyn> ids{"ids"};
    operation train;
    session s{g};

    explicit embedding(bool dense) {
        const auto rows = dense ? any_tensor(tensor(gather(tensor(table * 1.), ids))) : any_tensor(gather(table, ids));
        train = gradient_descent(0.1).minimize(reduce_sum(square(tensor<double, dyn, 3>(rows))));
        s.run(global_variables_initializer());
    }
    std::vector<double> after(const std::vector<std::vector<Id>>& steps) {
        for (const auto& step : steps) s.run(train, feed(ids, step));
        const auto now = s.run(table);
        return {now.begin(), now.end()};
    }
};

inline bool ran(const step_trace& trace, const std::string& op) {
    return std::any_of(trace.entries.begin(), trace.entries.end(), [&](const auto& e) { return e.op == op; });
}

} // namespace test_update_rows_op

TEST_CASE("update_rows_op: an embedding trained by the rows that were looked up, as by all of them") {
    using test_update_rows_op::embedding;
    embedding<std::int32_t> rows(false), dense(true);
    embedding<std::int64_t> long_rows(false);
    const auto wanted = dense.after({{0, 2, 5}, {1}, {4, 3}});
    const auto got = rows.after({{0, 2, 5}, {1}, {4, 3}});
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(1e-12));
    CHECK(long_rows.after({{0, 2, 5}, {1}, {4, 3}}) == got);
}

TEST_CASE("update_rows_op: the gradient is never made as a table") {
    using test_update_rows_op::embedding, test_update_rows_op::ran;
    embedding<std::int32_t> rows(false), dense(true);
    const std::vector<std::int32_t> ids{1, 2};
    const auto trace = rows.s.run_traced(rows.train, feed(rows.ids, ids));
    CHECK(ran(trace, "ApplyGradientDescentRows"));
    CHECK_FALSE(ran(trace, "GatherGrad"));
    CHECK_FALSE(ran(trace, "ApplyGradientDescent"));
    const auto other = dense.s.run_traced(dense.train, feed(dense.ids, ids));
    CHECK(ran(other, "ApplyGradientDescent"));
    CHECK(ran(other, "GatherGrad"));
}

TEST_CASE("update_rows_op: an id that comes twice is updated by both gradients, of the step's beginning") {
    using test_update_rows_op::embedding;
    embedding<std::int32_t> rows(false), dense(true);
    const auto got = rows.after({{4, 1, 4, 4}}), wanted = dense.after({{4, 1, 4, 4}});
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(1e-12));
    CHECK(got[12] == Approx(12 - 3 * 0.1 * 2 * 12)); // three times the same gradient
    CHECK(got[0] == 0);
    CHECK(rows.after({{}}) == got); // of no ids, nothing
}

TEST_CASE("update_rows_op: ids that the table lacks are invalid_argument, and change nothing") {
    using test_update_rows_op::embedding;
    embedding<std::int32_t> rows(false);
    const auto before = rows.after({});
    for (const std::int32_t id : {6, -1, 1000000}) {
        CHECK_THROWS_AS(rows.after({{1, id}}), invalid_argument);
        CHECK(rows.after({}) == before);
    }
}

TEST_CASE("update_rows_op: gradients of one row are one step by their sum, unless steps add up") {
    const tensor_type table{dtype::float64, dims{3, 2}}, number{dtype::float64, dims{}},
        slices{dtype::float64, dims{5, 2}}, ids{dtype::int64, dims{5}};
    const auto scratch = [&]<class Op>(const Op& op, const std::vector<tensor_type>& in) {
        const auto out = op.outputs(in);
        kernel_request request{in, out};
        (void)op.template bind<cpu, double>(request);
        return request.scratch_bytes;
    };
    using test_update_rows_op::rows_update;
    CHECK(scratch(rows_update{}, {table, number, slices, ids}) == rows_update::dense::scratch_of_constants<double>);
    const update_rows_op<adagrad_rule> op;
    const std::vector<tensor_type> in{table, table, number, slices, ids};
    std::vector<std::byte> room(scratch(op, in));
    REQUIRE(room.size() > update_op<adagrad_rule>::scratch_of_constants<double>);
    const auto out = op.outputs(in);
    kernel_request request{in, out};
    const kernel k = op.bind<cpu, double>(request);
    std::vector<double> x{1, 2, 3, 4, 5, 6}, slot(6, 7.), g{1, 2, 10, 20, 2, 3, 4, 5, 20, 30};
    std::vector<std::int64_t> at{2, 0, 2, 2, 0};
    double rate = 0.5;
    void* slots[] = {x.data(), x.data(), slot.data(), slot.data(), &rate, g.data(), at.data()}; // before and after
    const std::int32_t inputs[] = {0, 2, 4, 5, 6}, outputs[] = {1};
    const step_context step;
    k({slots, inputs, outputs, {.scratch = room.data()}, &step});
    const std::vector<double> sums{30, 50, 0, 0, 7, 10};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(slot[i] == 7 + sums[i] * sums[i]);
        CHECK(x[i] == Approx(static_cast<double>(i) + 1 - 0.5 * sums[i] / std::sqrt(slot[i])));
    }
}

TEST_CASE("update_rows_op: only rules that say so, and only along axis 0") {
    const graph g;
    const graph_scope here(g);
    variable<double, 4, 3> table("table", constant_initializer(1.));
    const tensor ids = constant({1, 2});
    session s;
    const operation by_adam = adam(0.1).minimize(reduce_sum(gather(table, ids)));
    const operation by_columns = gradient_descent(0.1).minimize(reduce_sum(gather<1>(table, ids)));
    s.run(global_variables_initializer());
    CHECK(test_update_rows_op::ran(s.run_traced(by_adam), "ApplyAdam"));
    CHECK(test_update_rows_op::ran(s.run_traced(by_adam), "GatherGrad"));
    CHECK(test_update_rows_op::ran(s.run_traced(by_columns), "ApplyGradientDescent"));
}

TEST_CASE("update_rows_op: looked up anywhere and any number of times, only those rows are updated, once each") {
    using table_type = variable<double, 6, 2>;
    using loss_of = std::function<tensor<double>(const table_type&)>;
    const auto ids = [] { return constant({3, 5}); };
    const auto wide = [] { return constant(xt::xtensor<std::int64_t, 2>{{1, 3}, {3, 2}}); };
    const auto squares = [](const auto& t, const auto& i) { return reduce_sum(square(gather(t, i))); };
    const auto in_turn = [&](const auto& w) {
        return fold([&](auto h, auto i) { return h * 0.5 + squares(w, i) + squares(w, constant({0, 1})); }, 0.,
                    constant({1, 2, 3}));
    };
    const std::vector<std::pair<const char*, loss_of>> losses{
        {"three look-ups", [&](auto& w) { return squares(w, ids()) + squares(w, wide()) + squares(w, constant(5)); }},
        {"identity", [&](auto& w) { return squares(identity(w), ids()) + squares(identity(identity(w)), wide()); }},
        {"function",
         [&](auto& w) {
             const auto f = function([&](auto t, auto i) { return squares(t, i) + squares(t, constant({2})); });
             return f(w, ids()) + f(w, constant({1}));
         }},
        {"cond",
         [&](auto& w) {
             return cond(
                 squares(w, ids()) > 0., [&] { return squares(w, ids()); },
                 [&] { return reduce_sum(square(gather(w, wide()))); });
         }},
        {"cond without",
         [&](auto& w) {
             return cond(reduce_sum(w) > 0., [&] { return squares(w, ids()); }, [] { return tensor(constant(1.)); });
         }},
        {"map", [&](auto& w) { return reduce_sum(map([&](auto i) { return squares(w, i); }, wide())); }},
        {"scan",
         [&](auto& w) {
             return reduce_sum(scan([&](auto h, auto i) { return h * 0.5 + square(gather(w, i)); },
                                    tensor(constant({0., 0.})), constant({1, 2, 1})));
         }},
        {"fold, and beside it", [&](auto& w) { return in_turn(w) + squares(w, ids()); }},
        {"while",
         [&](auto& w) {
             return std::get<1>(while_loop([](auto i, auto) { return i < 3; },
                                           [&](auto i, auto h) { return std::tuple(i + 1, h * 0.5 + squares(w, i)); },
                                           0, 0.));
         }},
    };
    struct result {
        std::vector<double> table, slope;
    };
    const auto trained = [](const loss_of& loss, const auto& by, const std::string& op, bool dense) {
        const graph g;
        const graph_scope here(g);
        table_type w("w", constant_initializer(2.));
        auto pairs = by.compute_gradients(loss(w));
        const auto [slope] = gradients(loss(w), w);
        if (dense) pairs[0].gradient = pairs[0].gradient * 1.;
        const operation train = by.apply_gradients(pairs);
        session s;
        s.run(global_variables_initializer());
        const auto slopes = s.run(slope);
        for (int step = 0; step < 2; ++step) {
            const auto trace = s.run_traced(train);
            CHECK(test_update_rows_op::ran(trace, op));
            if (!dense) CHECK_FALSE(test_update_rows_op::ran(trace, "GatherGrad"));
        }
        const auto now = s.run(w);
        return result{{now.begin(), now.end()}, {slopes.begin(), slopes.end()}};
    };
    for (const auto& [what, loss] : losses) {
        // rows that were looked up move as a dense update moves them, and others stay
        const auto check = [&](const std::string& rows_op, const auto& rows_by, const std::string& op, const auto& by) {
            INFO(what << ", " << rows_op);
            const auto rows = trained(loss, rows_by, rows_op, false), all = trained(loss, by, op, true);
            bool some = false;
            for (std::size_t i = 0; i < all.table.size(); ++i) {
                const bool looked_up = all.slope[i] != 0; // the loss grows with each element that it reads
                some |= looked_up;
                CHECK(rows.table[i] == Approx(looked_up ? all.table[i] : 2.).epsilon(1e-12));
            }
            CHECK(some);
        };
        const momentum by_momentum({.learning_rate = 0.1, .momentum = 0.9});
        check("ApplyMomentumRows", by_momentum, "ApplyMomentum", by_momentum);
        const adagrad by_adagrad({.learning_rate = 0.1});
        check("ApplyAdagradRows", by_adagrad, "ApplyAdagrad", by_adagrad);
        const rmsprop by_rmsprop({.learning_rate = 0.1});
        check("ApplyRMSPropRows", by_rmsprop, "ApplyRMSProp", by_rmsprop);
        check("ApplyLazyAdamRows", adam({.learning_rate = 0.1, .lazy = true}), "ApplyAdam", adam({.learning_rate = 0.1}));
    }
}

TEST_CASE("update_rows_op: rows that nobody looked up stay, whatever moved them before") {
    const graph g;
    const graph_scope here(g);
    variable<double, 4, 1> w("w", constant_initializer(1.));
    placeholder<int, dyn> a("a"), b("b");
    const operation train = momentum({.learning_rate = 0.1, .momentum = 0.9})
                                .minimize(reduce_sum(gather(w, a)) + reduce_sum(gather(identity(w), b)));
    session s;
    s.run(global_variables_initializer());
    s.run(train, feed(a, std::vector<int>{0}), feed(b, std::vector<int>{1, 0}));
    const auto before = s.run(w);
    CHECK(before(0, 0) == Approx(1 - 0.1 * 2)); // one step by the sum
    s.run(train, feed(a, std::vector<int>{2}), feed(b, std::vector<int>{}));
    const auto after = s.run(w);
    CHECK(after(0, 0) == before(0, 0));
    CHECK(after(1, 0) == before(1, 0));
    CHECK(after(2, 0) == Approx(0.9));
}

TEST_CASE("update_rows_op: dense where a dense gradient joins the rows") {
    const graph g;
    const graph_scope here(g);
    variable<double, 4, 3> table("table", constant_initializer(1.));
    const operation train =
        momentum(0.1).minimize(reduce_sum(gather(table, constant({1, 2}))) + reduce_sum(square(table)));
    session s;
    s.run(global_variables_initializer());
    CHECK(test_update_rows_op::ran(s.run_traced(train), "ApplyMomentum"));
    CHECK(s.run(table)(0, 0) == Approx(1 - 0.1 * 2));
    CHECK(s.run(table)(1, 0) == Approx(1 - 0.1 * 3));
}

TEST_CASE("update_rows_op: used as it is by others too, the gradient is a table for them") {
    const graph g;
    const graph_scope here(g);
    variable<double, 3, 2> table("table", {{1., 2.}, {3., 4.}, {5., 6.}});
    const tensor ids = constant({1, 1});
    const auto loss = reduce_sum(square(gather(table, ids)));
    const auto [d] = gradients(loss, table);
    const operation train = gradient_descent(0.5).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    const auto [slope] = s.run(std::tuple(d, train));
    CHECK(slope(1, 0) == Approx(2 * 2 * 3.));
    CHECK(s.run(table)(1, 0) == Approx(3 - 0.5 * 12));
}

TEST_CASE("update_rows_op: by hand, with a slot, and what it refuses") {
    using test_update_rows_op::rows_update;
    CHECK(std::string(rows_update::name) == "ApplyGradientDescentRows");
    CHECK(std::string(update_rows_op<adam_rule>::name) == "ApplyAdamRows");
    const tensor_type table{dtype::float32, dims{4, 2}}, number{dtype::float32, dims{}},
        slices{dtype::float32, dims{3, 2}}, ids{dtype::int32, dims{3}};
    const std::vector<tensor_type> good{table, number, slices, ids};
    const rows_update op;
    const auto out = op.outputs(good);
    CHECK(out == std::vector{table});
    CHECK(op.writes() == input_list{0});
    CHECK(make_op(op)->host_inputs().empty());
    kernel_request request{good, out};
    const kernel k = op.bind<cpu, float>(request);
    std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7}, g{1, 2, 10, 20, 100, 200};
    std::vector<std::int32_t> at{3, 0, 3};
    float rate = 0.5f;
    void* slots[] = {x.data(), x.data(), &rate, g.data(), at.data()}; // the table before and after
    const std::int32_t inputs[] = {0, 2, 3, 4}, outputs[] = {1};
    const step_context step;
    std::vector<std::byte> room(request.scratch_bytes);
    k({slots, inputs, outputs, {.scratch = room.data()}, &step});
    CHECK(x == std::vector<float>{-5, -9, 2, 3, 4, 5, 6 - 50.5f, 7 - 101.f});

    const auto refused = [&](std::size_t i, const tensor_type& type) {
        auto wrong = good;
        wrong[i] = type;
        INFO(i);
        CHECK_THROWS_AS(op.outputs(wrong), invalid_argument);
    };
    refused(3, {dtype::float32, dims{3}});
    refused(3, {dtype::int32, dims{2}});
    refused(2, {dtype::float32, dims{3, 3}});
    refused(2, {dtype::float64, dims{3, 2}});
    refused(1, {dtype::float64, dims{}});
    refused(0, {dtype::float32, dims{}});
    CHECK_THROWS_AS(make_op(op)->outputs({}), invalid_argument);
}
