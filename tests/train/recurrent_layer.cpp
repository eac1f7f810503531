// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/recurrent_layer.hpp>

#include <rill/ops/array/ones.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>
#include <rill/train/sequential.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_recurrent_layer {

TEST_CASE("recurrent: all outputs, or those at the ends") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 4, 3> x("x");
    const placeholder<int, dyn> n("n");
    const xt::xtensor<float, 3> at = [] {
        xt::xtensor<float, 3> values({3, 4, 3});
        const auto drawn = op_test::points<float>({-1, 1}, 36);
        std::copy(drawn.begin(), drawn.end(), values.begin());
        return values;
    }();
    const session s(g);
    for (const bool with_lengths : {false, true}) {
        const rnn_options options = with_lengths ? rnn_options{.lengths = n} : rnn_options{};
        const variable_scope scope(with_lengths ? "with" : "without", {.reuse = reuse::automatic});
        const auto y = recurrent<gru_cell<3, 2>>(options)("gru", x);
        static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<float, dyn, 4, 2>>);
        const auto last = recurrent<gru_cell<3, 2>, recurrent_output::last>(options)("gru", x);
        static_assert(std::is_same_v<std::remove_const_t<decltype(last)>, tensor<float, dyn, 2>>);
        rnn_options turned = options;
        turned.time_major = true;
        const auto same = recurrent<gru_cell<3, 2>, recurrent_output::last>(turned)("gru", transpose<1, 0, 2>(x));
        s.run(global_variables_initializer());
        const std::vector<int> lengths = with_lengths ? std::vector<int>{4, 0, 2} : std::vector<int>{4, 4, 4};
        const auto [all, ends, again] = s.run(std::tuple(y, last, same), feed(x, at), feed(n, lengths));
        for (std::size_t b = 0; b < 3; ++b)
            for (std::size_t i = 0; i < 2; ++i) {
                const auto length = static_cast<std::size_t>(lengths[b]);
                const float wanted = length == 0 ? 0.f : all(b, length - 1, i);
                CHECK(ends(b, i) == wanted);
                CHECK(again(b, i) == Approx(wanted));
            }
    }
}

TEST_CASE("recurrent: a layer of a sequence of layers, with options of its cell") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 5, 3> x("x");
    const auto net = sequential(recurrent<lstm_cell<3, 4>>({}, {.forget_bias = 0, .kernel_initializer = ones()}),
                                recurrent<rnn_cell<4, 2>, recurrent_output::last>(), dense<2>());
    const auto y = net("net", x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<float, dyn, 2>>);
    std::vector<std::string> names;
    for (const auto& v : trainable_variables()) names.push_back(v.node()->name);
    CHECK(names == std::vector<std::string>{"net/recurrent/kernel", "net/recurrent/bias", "net/recurrent_1/kernel",
                                            "net/recurrent_1/bias", "net/dense/kernel", "net/dense/bias"});
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(op_test::reals(s.run(fetch("net/recurrent/kernel:0"))) == std::vector<double>(7 * 16, 1));
    CHECK(s.run(y, feed(x, xt::xtensor<float, 3>({2, 5, 3}, 0.5f))).shape(0) == 2);
}

} // namespace test_train_recurrent_layer
