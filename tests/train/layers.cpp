// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/layers.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/sequential.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_layers {

TEST_CASE("layers: a convolutional net, its shapes by types, its variables by name") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 28, 28, 1> x("x");
    const placeholder<bool> training("training");
    const auto net = sequential(conv<6, window{.size = {5, 5}, .padding = padding::same}>(activation::relu),
                                max_pooling<window{.size = {2, 2}}>(), conv<8, window{.size = {3}}>(activation::tanh),
                                average_pooling<window{.size = {2}, .strides = {2}}>(), flatten(),
                                dense<12>(activation::relu), dropout(0.5f, training), dense<10>());
    const auto logits = net("tower", x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(logits)>, tensor<float, dyn, 10>>);
    std::vector<std::string> names;
    for (const auto& v : trainable_variables()) names.push_back(v.node()->name);
    CHECK(names == std::vector<std::string>{"tower/conv/kernel", "tower/conv/bias", "tower/conv_1/kernel",
                                            "tower/conv_1/bias", "tower/dense/kernel", "tower/dense/bias",
                                            "tower/dense_1/kernel", "tower/dense_1/bias"});
    CHECK(trainable_variables("tower/conv_1")[0].static_shape() == dims{3, 3, 6, 8});
    CHECK(trainable_variables("tower/dense")[0].static_shape() == dims{6 * 6 * 8, 12});
    const session s(g);
    s.run(global_variables_initializer());
    const xt::xtensor<float, 4> image = xt::ones<float>({2, 28, 28, 1});
    const auto a = s.run(logits, feed(x, image), feed(training, false));
    CHECK(a.shape(1) == 10);
    CHECK(op_test::list(a) ==
          op_test::list(s.run(logits, feed(x, image), feed(training, false)))); // nothing is dropped
    {
        const variable_scope again("again", {.reuse = reuse::automatic});
        const auto one = net("shared", x), two = net("shared", x);
        CHECK(trainable_variables("again").size() == 8);
        (void)one, (void)two;
    }
    CHECK_THROWS_WITH(net("tower", x), contains("'tower/conv/kernel' exists"));
}

TEST_CASE("layers: without a name they are counted, anew in each scope that is opened") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 4> x("x");
    const auto names = [](const std::string& scope) {
        std::vector<std::string> kernels;
        for (const auto& v : trainable_variables(scope))
            if (v.node()->name.ends_with("/kernel")) kernels.push_back(v.node()->name);
        return kernels;
    };
    const tensor y = dense<4>(activation::relu)(dense<4>()(x));
    const tensor z = sequential(dense<3>(), dense<2>())(y);
    const tensor given = dense<2>("dense_2", x);
    const tensor after = dense<2>()(x);
    CHECK(names("") == std::vector<std::string>{"dense/kernel", "dense_1/kernel", "sequential/dense/kernel",
                                                "sequential/dense_1/kernel", "dense_2/kernel", "dense_3/kernel"});
    const auto judge = [&](const auto& image) {
        const variable_scope scope("judge", {.reuse = reuse::automatic});
        return dense<2>()(flatten()(dense<4>()(image)));
    };
    const tensor first = judge(x), second = judge(y);
    CHECK(names("judge") == std::vector<std::string>{"judge/dense/kernel", "judge/dense_1/kernel"});
    const session s(g);
    s.run(global_variables_initializer());
    const xt::xtensor<float, 2> at{{1.f, -2.f, 0.f, 3.f}};
    const auto [a, same] = s.run(std::tuple(first, judge(x)), feed(x, at));
    CHECK(op_test::list(a) == op_test::list(same)); // the calls share their variables
    const variable_scope outer("judge");
    {
        const variable_scope inner("inner");
        const tensor deep = dense<1>()(x);
    }
    CHECK_THROWS_WITH(dense<2>()(x), contains("'judge/dense/kernel' exists"));
    CHECK(names("judge/inner") == std::vector<std::string>{"judge/inner/dense/kernel"});
}

TEST_CASE("layers: dense of any rank, without bias, with initializers and regularizers") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 3, 2> x("x");
    const auto y = dense<4>(
        activation::linear,
        {.use_bias = false, .kernel_initializer = ones(), .kernel_regularizer = l1_l2_regularizer(0.5, 2)})("wide", x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<float, dyn, 3, 4>>);
    CHECK(trainable_variables().size() == 1);
    const tensor z = dense<2>("again", x, ones());
    const session s(g);
    s.run(global_variables_initializer());
    const xt::xtensor<float, 3> at{{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}};
    const auto v = s.run(y, feed(x, at));
    CHECK(v(0, 1, 3) == 7.f);
    CHECK(s.run(z, feed(x, at))(0, 2, 1) == 11.f);
    const auto costs = g.collection(collections::regularization_losses);
    REQUIRE(costs.size() == 1);
    CHECK(s.run(tensor<float>(any_tensor(costs[0]))) == Approx(0.5 * 8 + 2 * 4)); // sum |w|, sum w^2 / 2
}

TEST_CASE("layers: transposed and separable convolutions, embedding") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 7, 7, 4> x("x");
    const auto up = conv_transpose<3, window{.size = {5, 5}, .strides = {2, 2}, .padding = padding::same}>()("up", x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(up)>, tensor<float, dyn, 14, 14, 3>>);
    CHECK(trainable_variables("up")[0].static_shape() == dims{5, 5, 3, 4});
    const auto apart = separable_conv<6, window{.size = {3, 3}}, 2>(activation::relu)("apart", x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(apart)>, tensor<float, dyn, 5, 5, 6>>);
    CHECK(trainable_variables("apart")[1].static_shape() == dims{1, 1, 8, 6});
    const placeholder<int, dyn> ids("ids");
    const auto rows = embedding<5, 3>()("words", ids);
    static_assert(std::is_same_v<std::remove_const_t<decltype(rows)>, tensor<float, dyn, 3>>);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(up, feed(x, xt::xtensor<float, 4>({1, 7, 7, 4}, 1.f))).shape(2) == 14);
    CHECK(s.run(rows, feed(ids, std::vector<int>{4, 4})).shape(0) == 2);
}

TEST_CASE("layers: batch_normalization by batch and by moving averages") {
    for (const bool fed : {false, true}) {
        const graph g;
        const graph_scope here(g);
        const placeholder<float, dyn, 2> x("x");
        const placeholder<bool> training("training");
        const batch_normalization_options options{.momentum = 0.5, .epsilon = 0};
        const auto y =
            fed ? batch_normalization(training, options)("bn", x) : batch_normalization(true, options)("bn", x);
        const auto updates = g.collection(collections::update_ops);
        REQUIRE(updates.size() == 2);
        CHECK(trainable_variables().size() == 2);
        CHECK(global_variables().size() == 4);
        tensor<float, dyn, 2> trained;
        {
            const control_dependencies after(updates);
            trained = tensor(y * 1.f);
        }
        const session s(g);
        s.run(global_variables_initializer());
        const xt::xtensor<float, 2> at{{1.f, 0.f}, {3.f, 4.f}};
        const auto run = [&](const auto& t, bool flag) { return s.run(t, feed(x, at), feed(training, flag)); };
        const auto v = fed ? run(trained, true) : s.run(trained, feed(x, at));
        CHECK(v(0, 0) == Approx(-1));
        CHECK(v(1, 1) == Approx(1));
        const auto value = [&](const char* name) { return op_test::reals(s.run(fetch(name))); };
        CHECK(value("bn/moving_mean:0") == std::vector<double>{1, 1});       // half of 2 and 2
        CHECK(value("bn/moving_variance:0") == std::vector<double>{1, 2.5}); // between 1 and 1, 1 and 4
        if (!fed) continue;
        CHECK(run(trained, false)(1, 1) == Approx(3 / std::sqrt(2.5)));
        CHECK(value("bn/moving_mean:0") == std::vector<double>{1, 1}); // nothing is learned
    }
}

TEST_CASE("layers: batch_normalization of images keeps the unbiased variance, as TensorFlow's fused op does") {
    for (const bool fed : {false, true}) {
        const graph g;
        const graph_scope here(g);
        const placeholder<float, dyn, 1, 2, 1> x("x");
        const placeholder<bool> training("training");
        const batch_normalization_options options{.momentum = 0.5, .epsilon = 0};
        const auto y =
            fed ? batch_normalization(training, options)("bn", x) : batch_normalization(true, options)("bn", x);
        tensor<float, dyn, 1, 2, 1> trained;
        {
            const control_dependencies after(g.collection(collections::update_ops));
            trained = tensor(y * 1.f);
        }
        const session s(g);
        s.run(global_variables_initializer());
        const auto run = [&](const xt::xtensor<float, 4>& at) {
            return fed ? s.run(trained, feed(x, at), feed(training, true)) : s.run(trained, feed(x, at));
        };
        const auto value = [&](const char* name) { return op_test::reals(s.run(fetch(name)))[0]; };
        const auto v = run({{{{1.f}, {3.f}}}});
        CHECK(v(0, 0, 0, 0) == Approx(-1)); // by the biased variance, 1
        CHECK(value("bn/moving_mean:0") == 1);
        CHECK(value("bn/moving_variance:0") == 1.5); // between 1 and 2
        CHECK(run(xt::xtensor<float, 4>::from_shape({0, 1, 2, 1})).shape(0) == 0);
        CHECK(value("bn/moving_mean:0") == 1); // an empty batch has no mean
        CHECK(value("bn/moving_variance:0") == 1.5);
    }
}

TEST_CASE("layers: batch_normalization of an empty batch leaves the averages") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 2> x("x");
    const auto y = batch_normalization(true)("bn", x);
    tensor<float, dyn, 2> trained;
    {
        const control_dependencies after(g.collection(collections::update_ops));
        trained = tensor(y * 1.f);
    }
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(trained, feed(x, xt::xtensor<float, 2>::from_shape({0, 2}))).shape(0) == 0);
    CHECK(op_test::reals(s.run(fetch("bn/moving_mean:0"))) == std::vector<double>{0, 0});
    CHECK(op_test::reals(s.run(fetch("bn/moving_variance:0"))) == std::vector<double>{1, 1});
}

TEST_CASE("layers: what is refused") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 8, 8, dyn> x("x");
    CHECK_THROWS_WITH((conv<4, window{.size = {3, 3}}>()("c", x)),
                      contains("conv: the number of channels must be known"));
}

TEST_CASE("layers: a small net learns") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(3);
    const placeholder<float, dyn, 4, 4, 1> x("x");
    const placeholder<int, dyn> label("label");
    const auto net = sequential(conv<4, window{.size = {2, 2}}>(activation::relu), flatten(), dense<2>());
    const auto logits = net("net", x);
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    const auto train = gradient_descent(0.5f).minimize(loss);
    xt::xtensor<float, 4> images({4, 4, 4, 1}, 0.f);
    for (std::size_t i = 0; i < 4; ++i) { // columns or rows
        images(0, i, 1, 0) = images(1, i, 2, 0) = 1;
        images(2, 1, i, 0) = images(3, 2, i, 0) = 1;
    }
    const std::vector<int> labels{0, 0, 1, 1};
    const session s(g);
    s.run(global_variables_initializer());
    for (int i = 0; i < 100; ++i) s.run(train, feed(x, images), feed(label, labels));
    CHECK(s.run(loss, feed(x, images), feed(label, labels)) < 0.1f);
}

/// The values of a layer's result with kernels of ones and a bias of a half.
template <class X, class Y> std::vector<float> with_ones(const X& x, const Y& y, const dims& shape) {
    const session s(x.graph());
    s.run(global_variables_initializer());
    any_array at(dtype::float32, shape);
    for (index_t i = 0; i < at.size(); ++i) static_cast<float*>(at.mutable_data())[i] = static_cast<float>(i);
    const any_array got = op_test::run(s, y, {x}, {at});
    return {got.elements<float>().begin(), got.elements<float>().end()};
}
const layer_options ones_and_halves{.kernel_initializer = ones(), .bias_initializer = constant_initializer(0.5)};

TEST_CASE("layers: values of convolutions over one and three axes, transposed and separable") {
    using floats = std::vector<float>;
    const graph g;
    const graph_scope here(g);
    {
        const placeholder<float, dyn, 4, 2> x("line");
        const auto y = conv<1, window{.size = {2}, .strides = {2}}>(activation::linear, ones_and_halves)("one", x);
        static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<float, dyn, 2, 1>>);
        CHECK(trainable_variables("one")[0].static_shape() == dims{2, 2, 1});
        CHECK(with_ones(x, y, {1, 4, 2}) == floats{0 + 1 + 2 + 3 + 0.5f, 4 + 5 + 6 + 7 + 0.5f});
    }
    {
        const placeholder<float, dyn, 2, 2, 3, 1> x("volume");
        const auto y = conv<2, window{.size = {2, 1, 2}}>(activation::linear, ones_and_halves)("three", x);
        static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<float, dyn, 1, 2, 2, 2>>);
        CHECK(trainable_variables("three")[0].static_shape() == dims{2, 1, 2, 1, 2});
        floats wanted; // sums of x and x + 1 of both depths, which are 6 apart
        for (const float first : {0.f, 1.f, 3.f, 4.f}) wanted.insert(wanted.end(), 2, 4 * first + 2 + 12 + 0.5f);
        CHECK(with_ones(x, y, {1, 2, 2, 3, 1}) == wanted);
    }
    {
        const placeholder<float, dyn, 1, 2, 1> x("small");
        const auto y =
            conv_transpose<1, window{.size = {1, 3}, .strides = {1, 2}}>(activation::linear, ones_and_halves)("up", x);
        CHECK(with_ones(x, y, {2, 1, 2, 1}) == floats{0.5f, 0.5f, 1.5f, 1.5f, 1.5f, 2.5f, 2.5f, 5.5f, 3.5f, 3.5f});
    }
    {
        const placeholder<float, dyn, 1, 3, 2> x("row");
        const auto y = separable_conv<1, window{.size = {1, 2}}, 2>(activation::relu, ones_and_halves)("apart", x);
        CHECK(trainable_variables("apart")[0].static_shape() == dims{1, 2, 2, 2});
        // each channel's sum of two pixels, twice by the multiples, then both channels
        CHECK(with_ones(x, y, {1, 1, 3, 2}) == floats{2 * (0 + 2 + 1 + 3) + 0.5f, 2 * (2 + 4 + 3 + 5) + 0.5f});
    }
}

TEST_CASE("layers: the costs of l1 and l2 regularizers, of new variables only") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 2> x("x");
    const auto layer = [&](const char* name, const regularizer& by) {
        return dense<3>(activation::linear,
                        {.kernel_initializer = constant_initializer(-2), .kernel_regularizer = by})(name, x);
    };
    const tensor a = layer("a", l1_regularizer(0.5)), b = layer("b", l2_regularizer(0.25)), c = layer("c", {});
    {
        const variable_scope again("shared", {.reuse = reuse::automatic});
        const tensor first = layer("d", l1_regularizer(1)), second = layer("d", l1_regularizer(1));
    }
    const auto costs = g.collection(collections::regularization_losses);
    REQUIRE(costs.size() == 3);
    const session s(g);
    s.run(global_variables_initializer());
    const auto cost = [&](std::size_t i) { return s.run(tensor<float>(any_tensor(costs[i]))); };
    CHECK(cost(0) == Approx(0.5 * 12));      // sum |w|
    CHECK(cost(1) == Approx(0.25 * 24 / 2)); // sum w^2 / 2
    CHECK(cost(2) == Approx(12));
}

} // namespace test_train_layers
