// SPDX-License-Identifier: BSD-3-Clause
// Sessions, constants and handles: what `auto` and `tensor` mean.
#include <iostream>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() {
    session s;

    auto greeting = constant("Hello, dataflow"); // a constant joins the graph it is used in
    std::cout << s.run(greeting) << '\n';
    expect(s.run(greeting) == "Hello, dataflow", "the string comes back");

    tensor three = constant(3.f);  // `tensor`: sealed, a node of the graph
    auto sum = three + 5.f;        // `auto`: still an expression, computed where it is needed
    tensor product = 2.5f * three; // sealed: an edge that can be fed, named and seen
    std::cout << product << '\n';  // a handle prints name, dtype and shape
    const auto [eight, seven_and_a_half] = s.run(std::tuple(sum, product)); // one step, two values
    std::cout << eight << ' ' << seven_and_a_half << '\n';
    expect(eight == 8.f && seven_and_a_half == 7.5f, "3 + 5 = 8, 2.5 * 3 = 7.5");

    tensor matrix = constant({{1.f, 2.f}, {3.f, 4.f}}); // tensor<float, 2, 2>: the shape is part of the type
    const auto rows = s.run(reduce_sum<1>(matrix));     // xt::xtensor<float, 1>
    std::cout << '[' << rows(0) << ' ' << rows(1) << "]\n";
    expect(rows(0) == 3.f && rows(1) == 7.f, "row sums [3 7]");

    auto y = 0.5f * matrix * (1.f + tanh(matrix)); // eight operations, one pass over memory
    tensor h = sigmoid(y);
    const auto [yv, hv] = s.run(std::tuple(y, h));
    std::cout << yv(0, 0) << ' ' << hv(1, 1) << '\n';
}
