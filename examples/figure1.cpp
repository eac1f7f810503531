// SPDX-License-Identifier: BSD-3-Clause
// The first figure of TensorFlow's white paper: relu(W x + b) and a cost C, trained for ten steps.
//
// As printed there, b is a vector of 100 zeros, W is 784 x 100 and x is a column, so matmul(W, x) asks for 100 = 784.
// Here that is not a surprise at run time:
//
//     variable<float, 784, 100> W("W", random_uniform({.minval = -1, .maxval = 1}));
//     placeholder<float, 100, 1> x("x");
//     auto relu_out = relu(matmul(W, x) + b);        // b: tensor<float, 100>
//
//     error: static assertion failed: add: the shapes do not broadcast [extents<784, 1> and extents<100> …]
#include <iostream>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() {
    variable<float, 100> b("b", zeros());
    variable<float, 784, 100> W("W", random_uniform({.minval = -0.1, .maxval = 0.1, .seed = 1}));
    placeholder<float, dyn, 784> x("x");
    auto hidden = relu(matmul(x, W) + b);
    auto C = reduce_mean(square(hidden - 1.f)); // the cost: how far the features are from 1
    auto train = gradient_descent(0.5f).minimize(C);

    session s;
    s.run(global_variables_initializer());
    xt::xtensor<float, 2> input({32, 784});
    for (std::size_t i = 0; i < input.size(); ++i) input.storage()[i] = static_cast<float>(i * 37 % 101) / 101.f;

    float first = 0, last = 0;
    for (int step = 0; step < 10; ++step) {
        const auto [cost] = s.run(std::tuple(C, train), feed(x, input));
        std::cout << "step " << step << "  C = " << cost << '\n';
        if (step == 0)
            first = cost;
        else
            expect(cost < last, "the cost falls at every step");
        last = cost;
    }
    expect(last < first, "the cost fell");
}
