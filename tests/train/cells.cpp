// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/cells.hpp>

#include <rill/core/array_text.hpp>
#include <rill/ops/array/ones.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>
#include <rill/train/recurrent.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_cells {

std::vector<std::string> names_and_shapes() {
    std::vector<std::string> all;
    for (const auto& v : trainable_variables()) all.push_back(v.node()->name + to_string(v.static_shape()));
    return all;
}

TEST_CASE("cells: variables have TensorFlow's names and layout") {
    const graph g;
    const graph_scope here(g);
    {
        const variable_scope scope("rnn");
        const rnn_cell<3, 2> a("basic_rnn_cell");
        const lstm_cell<3, 2> b("basic_lstm_cell");
        const gru_cell<3, 2> c("gru_cell");
        const lstm_cell<3, 4, float, 2> d("lstm_cell", {.peepholes = true});
    }
    CHECK(names_and_shapes() ==
          std::vector<std::string>{
              "rnn/basic_rnn_cell/kernel[5, 2]", "rnn/basic_rnn_cell/bias[2]", "rnn/basic_lstm_cell/kernel[5, 8]",
              "rnn/basic_lstm_cell/bias[8]", "rnn/gru_cell/gates/kernel[5, 4]", "rnn/gru_cell/gates/bias[4]",
              "rnn/gru_cell/candidate/kernel[5, 2]", "rnn/gru_cell/candidate/bias[2]", "rnn/lstm_cell/kernel[5, 16]",
              "rnn/lstm_cell/bias[16]", "rnn/lstm_cell/w_f_diag[4]", "rnn/lstm_cell/w_i_diag[4]",
              "rnn/lstm_cell/w_o_diag[4]", "rnn/lstm_cell/projection/kernel[4, 2]"});
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(op_test::reals(s.run(fetch("rnn/gru_cell/gates/bias:0"))) == std::vector<double>(4, 1));
    CHECK(op_test::reals(s.run(fetch("rnn/basic_lstm_cell/bias:0"))) == std::vector<double>(8, 0));
    CHECK_THROWS_WITH((rnn_cell<3, 2>("rnn/basic_rnn_cell")), contains("exists"));
    const variable_scope again("rnn", {.reuse = reuse::always});
    CHECK(rnn_cell<3, 2>("basic_rnn_cell").kernel.node() == g.state().find("rnn/basic_rnn_cell/kernel"));
}

TEST_CASE("cells: zero_state of every form") {
    const graph g;
    const graph_scope here(g);
    const lstm_cell<3, 4, float, 2> cell("lstm");
    const auto fixed = cell.zero_state<5>();
    static_assert(
        std::is_same_v<std::remove_const_t<decltype(fixed)>, std::tuple<tensor<float, 5, 4>, tensor<float, 5, 2>>>);
    const placeholder<int> batch("batch");
    const auto open = cell.zero_state(batch);
    static_assert(
        std::is_same_v<std::remove_const_t<decltype(open)>, std::tuple<tensor<float, dyn, 4>, tensor<float, dyn, 2>>>);
    const session s(g);
    const auto [c, h] = s.run(open, feed(batch, 2));
    CHECK(to_string(c) == "{{0, 0, 0, 0}, {0, 0, 0, 0}}");
    CHECK(to_string(h) == "{{0, 0}, {0, 0}}");
    CHECK(s.run(std::get<1>(cell.zero_state(3))).shape(0) == 3);
    CHECK(s.run(std::get<0>(fixed)).shape(0) == 5);
    CHECK_THROWS_AS(cell.zero_state(-2), rill::error);
}

TEST_CASE("cells: another activation, and float32 inputs of unknown type") {
    const graph g;
    const graph_scope here(g);
    const rnn_cell<1, 1, float, decltype(activation::relu)> cell("cell", {.kernel_initializer = ones()});
    const auto [y, next] = cell(constant({{-3.f}, {2.f}}), cell.zero_state<2>());
    const auto [again, after] = cell(any_tensor(constant({{1.f}, {1.f}})), next);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(to_string(s.run(y)) == "{{0}, {2}}");
    CHECK(to_string(s.run(again)) == "{{1}, {3}}");
}

TEST_CASE("stacked_cells: the output of each is the input of the next") {
    const graph g;
    const graph_scope here(g);
    const rnn_cell<2, 3> a("a");
    const lstm_cell<3, 2> b("b");
    const stacked_cells both(a, b);
    static_assert(decltype(both)::inputs == 2 && decltype(both)::outputs == 2);
    const tensor x = constant({{1.f, -1.f}, {0.5f, 2.f}});
    const auto [y, states] = both(x, both.zero_state<2>());
    const auto [h, a_state] = a(x, a.zero_state<2>());
    const auto [z, b_state] = b(h, b.zero_state<2>());
    const session s(g);
    s.run(global_variables_initializer());
    const auto [got, wanted, c, d] = s.run(std::tuple(y, z, std::get<0>(std::get<1>(states)), std::get<0>(b_state)));
    CHECK(op_test::list(got) == op_test::list(wanted));
    CHECK(op_test::list(c) == op_test::list(d));
    const auto [outputs, last] = dynamic_rnn(both, tensor(zeros<float, 2, 3, 2>()), {.lengths = {3, 1}});
    CHECK(s.run(outputs).shape(2) == 2);
}

TEST_CASE("dropout_cell: of stacked cells with wrappers among them, of each h by a draw of its own") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(5);
    const stacked_cells both(dropout_cell(gru_cell<2, 64>("a"), {.output_rate = 0.1}), lstm_cell<64, 64>("b"));
    const dropout_cell cell(both, {.state_rate = 0.5, .variational = true});
    const auto [y, states] = cell(constant({{1.f, -1.f}}), cell.zero_state<1>());
    const session s(g);
    s.run(global_variables_initializer());
    const auto [first, second] = s.run(std::tuple(std::get<0>(states), std::get<1>(std::get<1>(states))));
    int zeros_in_first = 0, alike = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        zeros_in_first += first(0, i) == 0.f;
        alike += (first(0, i) == 0.f) == (second(0, i) == 0.f);
    }
    CHECK(zeros_in_first > 0);
    CHECK(zeros_in_first < 64);
    CHECK(alike < 64);
}

TEST_CASE("residual_cell: adds its input") {
    const graph g;
    const graph_scope here(g);
    const gru_cell<2, 2> inner("gru");
    const residual_cell cell(inner);
    const tensor x = constant({{1.f, -1.f}});
    const auto [y, next] = cell(x, cell.zero_state<1>());
    const auto [z, same] = inner(x, inner.zero_state<1>());
    const session s(g);
    s.run(global_variables_initializer());
    const auto [got, wanted] = s.run(std::tuple(y, x + z));
    CHECK(op_test::list(got) == op_test::list(wanted));
}

TEST_CASE("residual_cell: refuses a cell whose outputs are not as wide as its inputs") {
    const graph_scope here{graph()};
    CHECK_THROWS_WITH(residual_cell(gru_cell<dyn, dyn>("gru", 3, 2)), contains("3 inputs and 2 outputs"));
}

TEST_CASE("dropout_cell: one draw for all steps keeps an infinity") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(4);
    const rnn_cell<1, 1, float, decltype(activation::relu)> inner("inner", {.kernel_initializer = ones()});
    const dropout_cell cell(inner, {.output_rate = 0.5, .variational = true});
    const auto [y, next] = cell(constant({{std::numeric_limits<float>::infinity()}}), cell.zero_state<1>());
    const session s(g);
    s.run(global_variables_initializer());
    int kept = 0;
    for (int i = 0; i < 32; ++i) kept += std::isinf(s.run(y)(0, 0));
    CHECK(kept > 0);
    CHECK(kept < 32);
}

TEST_CASE("dropout_cell: what is dropped, per step or once a run") {
    for (const bool variational : {false, true}) {
        const graph g;
        const graph_scope here(g);
        g.set_seed(9);
        const placeholder<bool> training("training");
        // h' = relu(x): outputs show the dropped input, scaled by 2
        const rnn_cell<8, 8, float, decltype(activation::relu)> inner("inner");
        const dropout_cell cell(inner, {.input_rate = 0.5, .variational = variational, .training = training});
        const auto [outputs, state] = dynamic_rnn(cell, tensor(ones<float, 4, 3, 8>()));
        const session s(g);
        xt::xtensor<float, 2> kernel({16, 8}, 0.f);
        for (std::size_t i = 0; i < 8; ++i) kernel(i, i) = 1;
        s.run(global_variables_initializer());
        s.run(inner.kernel.assign(kernel));
        const auto quiet = s.run(outputs, feed(training, false));
        CHECK(op_test::list(quiet) == std::vector<float>(4 * 3 * 8, 1.f));
        const auto y = s.run(outputs, feed(training, true));
        int dropped = 0, alike = 0;
        for (std::size_t b = 0; b < 4; ++b)
            for (std::size_t t = 0; t < 3; ++t)
                for (std::size_t i = 0; i < 8; ++i) {
                    CHECK((y(b, t, i) == 0.f || y(b, t, i) == 2.f));
                    dropped += y(b, t, i) == 0.f;
                    alike += y(b, t, i) == y(0, 0, i);
                }
        CHECK(dropped > 0);
        CHECK(dropped < 96);
        CHECK((alike == 96) == variational);
        CHECK(op_test::list(s.run(outputs, feed(training, true))) != op_test::list(y)); // each run draws anew
    }
}

TEST_CASE("dropout_cell: drops h of a state and keeps c, refuses rates, has gradients") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(2);
    const lstm_cell<2, 16> inner("lstm");
    const dropout_cell cell(inner, {.state_rate = 0.75, .variational = true});
    const tensor x = constant({{1.f, -1.f}});
    const auto [y, next] = cell(x, cell.zero_state<1>());
    const session s(g);
    s.run(global_variables_initializer());
    const auto [output, c, h] = s.run(std::tuple(y, std::get<0>(next), std::get<1>(next)));
    int zeros_in_h = 0;
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK(c(0, i) != 0.f);
        zeros_in_h += h(0, i) == 0.f;
        CHECK((h(0, i) == 0.f || h(0, i) == Approx(4 * output(0, i))));
    }
    CHECK(zeros_in_h > 0);
    CHECK(zeros_in_h < 16);
    const dropout_cell noisy(inner, {.input_rate = 0.5, .output_rate = 0.5, .state_rate = 0.5});
    const auto [outputs, state] = dynamic_rnn(noisy, tensor(ones<float, 2, 3, 2>()), {.lengths = {3, 2}});
    const auto [d] = gradients(reduce_sum(outputs), inner.bias);
    CHECK(s.run(d).size() == 64);
    CHECK_THROWS_WITH(dropout_cell(inner, {.output_rate = 1}), contains("the rate is 1"));
}

TEST_CASE("projection_cell: outputs through a layer, the state as it is") {
    const graph g;
    const graph_scope here(g);
    const gru_cell<2, 3> inner("gru");
    const auto cell = projection_cell<4>("out", inner, activation::tanh, {.bias_initializer = 0.5});
    static_assert(decltype(cell)::inputs == 2 && decltype(cell)::outputs == 4);
    CHECK(names_and_shapes().back() == "out/bias[4]");
    const tensor x = constant({{1.f, -1.f}, {0.5f, 2.f}});
    const auto [y, next] = cell(x, cell.zero_state<2>());
    const auto [h, same] = inner(x, inner.zero_state<2>());
    const session s(g);
    s.run(global_variables_initializer());
    const auto [got, wanted, a, b] = s.run(std::tuple(y, tanh(matmul(h, cell.kernel) + cell.bias), next, same));
    CHECK(op_test::list(got) == op_test::list(wanted));
    CHECK(op_test::list(a) == op_test::list(b));
    const auto [outputs, last] = dynamic_rnn(cell, tensor(ones<float, 2, 3, 2>()), {.lengths = {3, 1}});
    CHECK(s.run(outputs).shape(2) == 4);
}

TEST_CASE("device_cell: its nodes are on the device, with the values of the cell") {
    const graph g;
    const graph_scope here(g);
    const lstm_cell<2, 3> inner("lstm");
    const stacked_cells cell(device_cell(inner, "/cpu:1"), rnn_cell<3, 2>("rnn"));
    const tensor x = constant({{1.f, -1.f}});
    const auto start = cell.zero_state<1>();
    const auto [y, next] = cell(x, start);
    CHECK(requested_device(*std::get<0>(std::get<0>(next)).node()).find("cpu:1") != std::string::npos);
    CHECK(requested_device(*std::get<1>(std::get<0>(start)).node()).find("cpu:1") != std::string::npos);
    CHECK(requested_device(*y.node()).empty());
    CHECK(requested_device(*inner.kernel.node()).empty());
    const auto [wanted, same] = inner(x, inner.zero_state<1>());
    const session s(g, {.device_count = {{"cpu", 2}}});
    s.run(global_variables_initializer());
    const auto [a, b] = s.run(std::tuple(std::get<1>(std::get<0>(next)), wanted));
    CHECK(op_test::list(a) == op_test::list(b));
}

} // namespace test_train_cells
