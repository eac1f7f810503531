// SPDX-License-Identifier: BSD-3-Clause
// What a user writes: the forms promised by the documentation, compiled and run as they stand.
#include <rill/rill.hpp>

#include <iostream>
#include <sstream>

#include "catch.hpp"

using namespace rill;

namespace test_rill {

struct fresh { // each test has a default graph of its own, as a program would
    fresh() { reset_default_graph(); }
};

struct softsign {
    static constexpr auto name = "Softsign";
    template <class V> static constexpr V value(V x) { return x / (V(1) + abs(x)); }
    template <class V> static constexpr V pullback(V x, V, V g) {
        auto d = V(1) + abs(x);
        return g / (d * d);
    }
};

} // namespace test_rill

namespace test_rill {

// what is known at run time only, on typed tensors: the types that results have
using cube = tensor<float, 2, 3, 4>;
using ids = tensor<int, 5>;
inline constexpr auto is = []<class R>(std::type_identity<R>, const auto& f) {
    return std::is_same_v<decltype(f(std::declval<const cube&>())), R>;
};
template <index_t... D> inline constexpr std::type_identity<tensor<float, D...>> floats;
template <class R> inline constexpr std::type_identity<R> of;
static_assert(is(floats<dyn, dyn>, [](const auto& x) { return reduce_mean(x, 1); }));
static_assert(is(floats<dyn>, [](const auto& x) { return reduce_prod(x, {0, 1}); }));
static_assert(is(floats<2, 3, 4>, [](const auto& x) { return log_softmax(x, 0); }));
static_assert(is(floats<2, 3, 4>, [](const auto& x) { return cumsum(x, 0); }));
static_assert(is(floats<2, 3, 4>, [](const auto& x) { return reverse(x, {0, 1}); }));
static_assert(is(of<tensor<int, dyn, dyn>>, [](const auto& x) { return argmin(x, 2); }));
static_assert(is(of<tensor<int, 3, 4>>, [](const auto& x) { return argmax(x); }));
static_assert(is(floats<dyn, dyn>, [](const auto& x) { return squeeze(x, 0); }));
static_assert(is(floats<dyn>, [](const auto& x) { return squeeze(x, {0, 1}); }));
static_assert(is(floats<dyn, dyn, dyn, dyn>, [](const auto& x) { return expand_dims(x, 0); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return transpose(x, {0, 2, 1}); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return tile(x, {1, 2, 3}); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return slice(x, {0, 0, 0}, {1, 2, 3}); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return strided_slice(x, {{0, 1}}); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return pad(x, {{0, 1}, {}, {}}); }));
static_assert(is(floats<2, 3, 4, dyn>, [](const auto& x) { return one_hot(cast<int>(x), 5); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return gather(x, ids(), 1); }));
static_assert(is(floats<2, 4>, [](const auto& x) { return gather<1>(x, 0); }));
static_assert(is(floats<dyn, 3, 4>, [](const auto& x) { return embedding_lookup(x, {0, 1}); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return concat(std::vector{x, x}, 0); }));
static_assert(is(floats<dyn, dyn, dyn, dyn>, [](const auto& x) { return stack(std::array{x, x}, 3); }));
static_assert(is(floats<2, 3, 4>, [](const auto& x) { return add_n(std::vector{x, x}); }));
static_assert(is(of<std::vector<tensor<float, dyn, dyn, dyn>>>, [](const auto& x) { return split(x, 2); }));
static_assert(is(of<std::vector<tensor<float, dyn, dyn>>>, [](const auto& x) { return unstack(x, 1); }));
static_assert(is(of<any_tensor>, [](const auto& x) { return concat({x, x * 2.f}, 0); }));
static_assert(is(of<any_tensor>, [](const auto& x) { return cast(x, dtype::int32); }));
static_assert(is(floats<2, 3, 4>, [](const auto& x) { return tensor(l2_normalize(x, 1)); }));
static_assert(is(floats<2, 3, 4>, [](const auto& x) { return tensor(l2_normalize(x, {0, 1}, 1e-6)); }));
static_assert(is(of<tensor<std::int64_t, dyn, dyn>>, [](const auto& x) { return count_nonzero(x, 1); }));
static_assert(is(of<tensor<std::int64_t, dyn>>, [](const auto& x) { return count_nonzero(x, {0, 1}); }));
static_assert(is(floats<dyn, dyn>, [](const auto& x) { return norm(x, {1}); }));
static_assert(is(floats<dyn, dyn, dyn>, [](const auto& x) { return norm(x, {1, 2}, keep_dims); }));
static_assert(is(floats<>, [](const auto& x) { return norm(x, 1); })); // an order, of all elements

} // namespace test_rill

TEST_CASE_METHOD(test_rill::fresh, "axes, lists and numbers of the host are taken alike") {
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}), z = x * 10.f;
    const session s;
    const auto text = [&](const any_tensor& y) { return to_string(s.run(y)); };
    CHECK(text(concat({x, z}, 0)) == "float32 [4, 2] {{1, 2}, {3, 4}, {10, 20}, {30, 40}}");
    CHECK(text(stack({x, z}, 0)) == "float32 [2, 2, 2] {{{1, 2}, {3, 4}}, {{10, 20}, {30, 40}}}");
    CHECK(text(add_n(std::vector{x, z})) == "float32 [2, 2] {{11, 22}, {33, 44}}");
    CHECK(text(argmax(x)) == "int32 [2] {1, 1}");
    CHECK(text(split(x, 2)[1]) == "float32 [1, 2] {{3, 4}}");
    CHECK(text(split(x, {1, dyn})[1]) == "float32 [1, 2] {{3, 4}}");
    CHECK(text(unstack(x)[1]) == "float32 [2] {3, 4}");
    CHECK(text(cast(x, dtype::int32)) == "int32 [2, 2] {{1, 2}, {3, 4}}");
    CHECK(text(where(x > 2.f, x, z)) == "float32 [2, 2] {{10, 20}, {3, 4}}");
    CHECK(text(where(x > 2.f, x, 0.f)) == "float32 [2, 2] {{0, 0}, {3, 4}}");
    CHECK(text(gather(x, 1)) == "float32 [2] {3, 4}");
    CHECK(text(gather(x, {1, 0}, 1)) == "float32 [2, 2] {{2, 1}, {4, 3}}");
    CHECK(text(log_softmax(x - x, 0)) == text(log_softmax<0>(x - x)));
    CHECK(text(zeros<float>(dims{2})) == "float32 [2] {0, 0}");
    CHECK_THROWS_WITH(cast(x, dtype::string), contains("cast: to string converts cast<T>(x) only"));
    std::ostringstream out;
    out << s.run(z);
    CHECK(out.str() == "{{10, 20}, {30, 40}}");
}

TEST_CASE_METHOD(test_rill::fresh, "program 1: hello, and what auto and tensor mean") {
    auto hello = constant("Hello, dataflow");
    session s;
    CHECK(s.run(hello) == "Hello, dataflow");

    tensor a = constant({{1.f, 2.f}, {3.f, 4.f}});
    auto y = 0.5f * a * (1.f + tanh(a));
    tensor h = sigmoid(y);
    static_assert(std::is_same_v<decltype(a), tensor<float, 2, 2>>);
    static_assert(std::is_same_v<decltype(h), tensor<float, 2, 2>>);
    static_assert(!std::is_same_v<decltype(y), tensor<float, 2, 2>>);
    auto [yv, hv] = s.run(std::tuple(y, h));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(yv)>, xt::xtensor<float, 2>>);
    for (std::size_t i = 0; i < 4; ++i) {
        const float x = static_cast<float>(i) + 1.f, expected = 0.5f * x * (1.f + std::tanh(x));
        CHECK(yv.storage()[i] == Approx(expected));
        CHECK(hv.storage()[i] == Approx(1.f / (1.f + std::exp(-expected))));
    }
    std::ostringstream out;
    out << h;
    CHECK(out.str() == "tensor(\"sigmoid:0\", float32, [2, 2])");
}

TEST_CASE_METHOD(test_rill::fresh, "program 2: linear regression") {
    std::vector<float> xs(50), ys(50);
    for (std::size_t i = 0; i < 50; ++i) xs[i] = 0.04f * static_cast<float>(i), ys[i] = 3.f * xs[i] - 1.f;

    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    auto loss = reduce_mean(square(w * x + b - y));
    auto train = gradient_descent(0.05f).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    for (int i = 0; i < 200; ++i) s.run(train, feed(x, xs), feed(y, ys));
    auto step = s.make_callable(std::tuple(loss, train), x, y);
    auto [before] = step(xs, ys);
    for (int i = 0; i < 2000; ++i) step(xs, ys);
    auto [after] = step(xs, ys);
    CHECK(after < before);
    CHECK(s.run(w) == Approx(3.f).margin(0.01));
    CHECK(s.run(b) == Approx(-1.f).margin(0.01));
}

TEST_CASE_METHOD(test_rill::fresh, "program 3: a typed classifier") {
    placeholder<float, dyn, 64> image("image");
    placeholder<int, dyn> label("label");
    auto hidden = relu(dense<64, 128>("hidden", image));
    auto logits = dense<128, 10>("logits", hidden);
    auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    auto right = reduce_mean(cast<float>(equal(argmax<1>(logits), label)));
    auto train = adam({.learning_rate = 1e-3f}).minimize(loss);
    static_assert(std::is_same_v<extents_of<decltype(hidden)>, extents<dyn, 128>>);
    static_assert(std::is_same_v<extents_of<decltype(logits)>, extents<dyn, 10>>);

    session s;
    s.run(global_variables_initializer());
    xt::xtensor<float, 2> images({20, 64});
    std::vector<int> labels(20);
    for (std::size_t i = 0; i < 20; ++i) {
        labels[i] = static_cast<int>(i % 10);
        for (std::size_t p = 0; p < 64; ++p) images(i, p) = (p % 10 == i % 10) ? 1.f : 0.f;
    }
    const float first = s.run(loss, feed(image, images), feed(label, labels));
    CHECK(first > 1.f);
    for (int i = 0; i < 100; ++i) s.run(train, feed(image, images), feed(label, labels));
    CHECK(s.run(loss, feed(image, images), feed(label, labels)) < 0.5f * first);
    CHECK(s.run(right, feed(image, images), feed(label, labels)) == 1.f);
}

TEST_CASE_METHOD(test_rill::fresh, "program 4: gradients of any order, as nodes") {
    placeholder<float, dyn> x("x");
    variable<float> w("w", 2.f), b("b", 1.f);
    auto loss = reduce_sum(square(w * x + b));
    auto [dw, db] = gradients(loss, w, b);
    auto [d2w] = gradients(dw, w);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(dw)>, tensor<float>>);
    tensor a = constant({0.5f, -1.f});
    auto y = a * tanh(a);
    auto slope = derivative(y, a);
    tensor h = w * x;
    std::vector<any_tensor> outputs{h}, inputs{w, x}, seeds{tensor(constant({1.f, 10.f}))};
    auto vjp = gradients(outputs, inputs, {.grad_ys = seeds, .stop = {}});
    auto none = gradients(outputs, inputs, {.grad_ys = seeds, .stop = {h}});

    session s;
    s.run(global_variables_initializer());
    const std::vector<float> xs{1.f, 3.f};
    const auto [dwv, dbv, d2wv] = s.run(std::tuple(dw, db, d2w), feed(x, xs));
    CHECK(dwv == Approx(2 * (3 * 1 + 7 * 3)));
    CHECK(dbv == Approx(2 * (3 + 7)));
    CHECK(d2wv == Approx(2 * (1 + 9)));
    const auto sv = s.run(slope);
    for (std::size_t i = 0; i < 2; ++i) {
        const float v = i == 0 ? 0.5f : -1.f, t = std::tanh(v);
        CHECK(sv(i) == Approx(t + v * (1 - t * t)));
    }
    REQUIRE(vjp[0]);
    REQUIRE(vjp[1]);
    CHECK(s.run(vjp[0], feed(x, xs)).value<float>() == Approx(1 * 1 + 10 * 3));
    CHECK(s.run(vjp[1], feed(x, xs)).elements<float>()[1] == Approx(20));
    CHECK_FALSE(none[0]);
}

TEST_CASE_METHOD(test_rill::fresh, "program 6: scopes") {
    graph g;
    {
        graph_scope use(g);
        name_scope layer("layer1");
        device_scope on("/device:cpu:0");
        placeholder<float> x("x");
        variable<float> w("w", 3.f);
        colocate_with beside(w);
        tensor foo = x * w;
        control_dependencies after(foo);
        tensor bar(x + w, "bar");
        CHECK(bar.name() == "layer1/bar:0");
        CHECK(bar.node()->control_inputs.size() == 1);
        CHECK(bar.device() == "/device:cpu:0");
    }
    session s(g, {.inter_op_threads = 2,
                  .intra_op_threads = 1,
                  .allow_soft_placement = true,
                  .log_device_placement = true,
                  .gpu = {.memory_fraction = 0.4, .allow_growth = true}});
    {
        graph_scope use(g);
        s.run(global_variables_initializer());
    }
    const any_array value = s.run(fetch("layer1/bar:0"), feed("layer1/x:0", 4.f));
    CHECK(value.value<float>() == 7.f);
    session_options o;
    o.inter_op_threads = 0;
    session other(g, o);
}

TEST_CASE_METHOD(test_rill::fresh, "program 10: without a session") {
    auto v = evaluate(2.f * constant({1.f, 2.f}) + 1.f);
    CHECK(v(0) == 3.f);
    CHECK(v(1) == 5.f);
    auto f = value_and_grad([](auto w, auto x) { return reduce_sum(square(w * x)); });
    const xt::xtensor<float, 1> w0{1.f, 2.f}, x0{3.f, 4.f};
    auto [val, dw] = f(w0, x0);
    CHECK(val == Approx(9 + 64));
    CHECK(dw(0) == Approx(2 * 9));
    CHECK(dw(1) == Approx(2 * 2 * 16));
    auto [again, dw2] = f(dw, x0); // the traced function is used again
    CHECK(again == Approx(54 * 54 + 256 * 256));
}

TEST_CASE_METHOD(test_rill::fresh, "program 11: your own op") {
    tensor x = constant({-2.f, 3.f});
    auto y = apply<test_rill::softsign>(x);
    auto [dx] = gradients(reduce_sum(y), x);
    session s;
    auto [yv, dv] = s.run(std::tuple(y, dx));
    CHECK(yv(0) == Approx(-2.f / 3.f));
    CHECK(dv(1) == Approx(1.f / 16.f));
}

TEST_CASE_METHOD(test_rill::fresh, "program 12: forms of the ops") {
    session s;
    tensor x = constant({{1.f, 2.f, 3.f, 4.f}, {8.f, 7.f, 6.f, 5.f}});
    tensor ids = constant({1, 0, 1});
    CHECK(s.run(reduce_sum(x)) == 36.f);
    CHECK(s.run(reduce_mean<0>(x))(0) == 4.5f);
    CHECK(s.run(reduce_max<0, 1>(x, keep_dims))(0, 0) == 8.f);
    CHECK(s.run(argmax<1>(x))(0) == 3);
    static_assert(std::is_same_v<decltype(s.run(argmax<1, std::int64_t>(x))), xt::xtensor<std::int64_t, 1>>);
    CHECK(s.run(reshape<dyn, 2>(x))(3, 1) == 5.f);
    CHECK(s.run(transpose<1, 0>(x))(0, 1) == 8.f);
    CHECK(s.run(transpose(x))(3, 0) == 4.f);
    CHECK(s.run(expand_dims<1>(x)).shape(1) == 1);
    CHECK(s.run(squeeze<1>(expand_dims<1>(x)))(1, 0) == 8.f);
    CHECK(s.run(concat<0>(x, x)).shape(0) == 4);
    CHECK(s.run(one_hot<10>(ids))(0, 1) == 1.f);
    CHECK(s.run(gather<0>(x, ids))(2, 0) == 8.f);
    CHECK(s.run(cast<double>(x))(0, 1) == 2.0);
    CHECK(s.run(select(x > 4.f, x, 0.f))(0, 0) == 0.f);
    CHECK(s.run(matmul(x, transpose(x)))(0, 0) == 30.f);
    CHECK(s.run(matmul(transpose(x), x)).shape(0) == 4);
    CHECK(s.run(zeros<float, 2, 3>())(1, 2) == 0.f);
    CHECK(s.run(ones<int, 4>())(3) == 1);
    CHECK(s.run(fill<2, 2>(7.f))(1, 1) == 7.f);
    CHECK(s.run(eye<float, 3>())(1, 1) == 1.f);
    CHECK(s.run(range(0, 10, 2))(4) == 8);
    CHECK(s.run(random_normal<float, 3, 4>({.stddev = 2.f, .seed = 7})).shape(1) == 4);
    variable<float, 2> v("v", {1.f, 2.f});
    variable<float, 3> frozen("f", ones(), {.trainable = false});
    variable<float, 3> z("z", zeros()), c("c", constant_initializer(0.1f));
    variable<float, 3, 4> gl("gl", glorot_uniform()), tn("tn", truncated_normal({.stddev = 0.1f})),
        ru("ru", random_uniform({.minval = -1.f, .maxval = 1.f}));
    CHECK(default_graph().collection(collections::trainable_variables).size() == 6);
    s.run(global_variables_initializer());
    CHECK(s.run(v)(1) == 2.f);
    CHECK(s.run(c)(2) == 0.1f);
    const auto limits = s.run(gl);
    for (const float e : limits) CHECK(std::abs(e) <= std::sqrt(6.f / 7.f));
    adam by_rate(0.001f), by_options({.learning_rate = 0.001f, .beta1 = 0.9f});
    CHECK(s.run(softmax_cross_entropy(x, softmax(x))).size() == 2);
    CHECK(s.run(sigmoid_cross_entropy(x, x)).shape(1) == 4);
    CHECK(s.run(clip(x, 2.f, 5.f))(0, 0) == 2.f);
    CHECK(s.run(leaky_relu(x - 4.f, 0.2f))(0, 0) == Approx(-0.6f));
    placeholder<float, dyn, 4> p("x");
    CHECK(s.run(p, feed(p, {{1.f, 2.f, 3.f, 4.f}}))(0, 3) == 4.f);
    CHECK(s.run(p, feed(p, std::vector<float>(8, 2.f)))(1, 3) == 2.f);
    CHECK(s.run(p, feed(p, xt::xtensor<float, 2>({3, 4}, 1.f) + 1.f))(2, 3) == 2.f);
}
