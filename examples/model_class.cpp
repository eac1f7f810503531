// SPDX-License-Identifier: BSD-3-Clause
// A model as a class, of layer sizes that the command line may give: docs/models.md explains it.
#include <rill/rill.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "expect.hpp"

using namespace rill;

class layer {
public:
    layer(const std::string& name, index_t in, index_t out)
        : kernel_(name + "/kernel", dims{in, out}, glorot_uniform()), bias_(name + "/bias", dims{out}, zeros()) {}

    template <class X> auto operator()(const X& x) const { return matmul(x, kernel_) + bias_; } // an expression

private:
    variable<float, dyn, dyn> kernel_;
    variable<float, dyn> bias_;
};

class regression {
public:
    explicit regression(const std::vector<index_t>& hidden) {
        index_t width = 2;
        for (const index_t units : hidden) {
            layers_.emplace_back("layer" + std::to_string(layers_.size()), width, units);
            width = units;
        }
        layers_.emplace_back("out", width, 1);
        tensor<float, dyn, dyn> h = inputs_;
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i) h = tanh(layers_[i](h)); // sealed by the assignment
        outputs_ = layers_.back()(h);
        loss_ = reduce_mean(square(outputs_ - targets_));
        train_ = adam({.learning_rate = 0.01}).minimize(loss_);
        session_.run(global_variables_initializer());
        step_ = session_.make_callable(std::tuple(loss_, train_), inputs_, targets_);
    }

    float train(const xt::xtensor<float, 2>& x, const xt::xtensor<float, 2>& y) const {
        const auto [loss] = step_.value()(x, y);
        return loss;
    }
    xt::xtensor<float, 2> predict(const xt::xtensor<float, 2>& x) const {
        return session_.run(outputs_, feed(inputs_, x));
    }

private:
    placeholder<float, dyn, 2> inputs_{"inputs"};
    placeholder<float, dyn, 1> targets_{"targets"};
    std::vector<layer> layers_;
    tensor<float, dyn, dyn> outputs_;
    tensor<float> loss_;
    operation train_;
    session session_;
    std::optional<callable<std::tuple<tensor<float>, operation>, tensor<float, dyn, 2>, tensor<float, dyn, 1>>> step_;
};

int main(int argc, char** argv) {
    std::vector<index_t> hidden;
    for (int i = 1; i < argc; ++i) hidden.push_back(std::atoi(argv[i]));
    if (hidden.empty()) hidden = {8, 8};
    const regression model(hidden);
    const xt::xtensor<float, 2> x{{0.f, 0.f}, {0.f, 1.f}, {1.f, 0.f}, {1.f, 1.f}}, y{{0.f}, {1.f}, {1.f}, {0.f}};
    const float first = model.train(x, y);
    float last = first;
    for (int i = 0; i < 1000; ++i) last = model.train(x, y);
    const auto p = model.predict(x);
    std::printf("exclusive or: the loss went from %.3f to %.6f; 0 1 -> %.3f, 1 1 -> %.3f\n", static_cast<double>(first),
                static_cast<double>(last), static_cast<double>(p(1, 0)), static_cast<double>(p(3, 0)));
    expect(last < 0.01f, "the loss falls below 0.01");
    return 0;
}
