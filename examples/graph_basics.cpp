// SPDX-License-Identifier: BSD-3-Clause
// What a graph is good for: a = (b + c)(c + 2) run in part, fed on an inner edge, ordered by control dependencies, and
// with a placeholder of unknown rank.
#include <iostream>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() {
    placeholder<float> b("b");
    tensor c(constant(1.f), "c");
    tensor d(b + c, "d");
    tensor e(c + 2.f, "e");
    tensor a(d * e, "a");
    tensor useless(exp(b), "useless"); // no fetch needs it

    session s;
    const auto [value, trace] = s.run_traced(a, feed(b, 2.f));
    std::cout << "a = (b + c)(c + 2) = " << value << ", in the order";
    for (const auto& step : trace.entries) std::cout << ' ' << step.node;
    std::cout << '\n';
    expect(value == 9.f, "a = 9");
    expect(trace.position("useless") < 0, "what no fetch needs never runs");

    // Any edge can be fed: with d given, b is not needed.
    std::cout << "with d fed as 15: a = " << s.run(a, feed(d, 15.f)) << '\n';
    expect(s.run(a, feed(d, 15.f)) == 45.f, "a = 15 * 3");
    expect(s.run(fetch("a:0"), feed("d:0", 15.f)).value<float>() == 45.f, "the same by name");

    // Control dependencies order what data does not.
    variable<float> x("x", 3.f);
    tensor doubled = x.assign(x * 2.f);
    const auto z = [&] {
        control_dependencies after(doubled);
        return tensor(x + 1.f, "z"); // reads x after the assignment
    }();
    s.run(global_variables_initializer());
    const auto [seven, order] = s.run_traced(z);
    std::cout << "z = " << seven << '\n';
    expect(seven == 7.f, "z = 3 * 2 + 1");
    expect(order.position(doubled.node()->name) < order.position("z"), "the assignment ran first");

    // Rank unknown until fed.
    any_tensor any = any_placeholder("any", dtype::float32);
    any_tensor twice = any * 2.f;
    const auto scalar = s.run(twice, feed(any, 3.f));
    const auto row = s.run(twice, feed(any, std::vector<float>{1.f, 3.f}));
    std::cout << "fed 3: " << scalar.value<float>() << "; fed [1, 3]: [" << row.elements<float>()[0] << ", "
              << row.elements<float>()[1] << "]\n";
    expect(scalar.value<float>() == 6.f && row.elements<float>()[1] == 6.f, "one graph, any rank");
}
