// SPDX-License-Identifier: BSD-3-Clause
// A whole training run as one call of a session: a loop in the graph whose body computes gradients and updates the weights. The
// same steps by a callable, one call each, end at the same weights; what differs is what a step takes beside its arithmetic.
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr int steps = 2'000;

struct points {
    std::vector<float> x, y;
};

/// y = 1.5 x + 0.5, and a ripple that no line follows.
points sample() {
    points p;
    for (int i = 0; i < 100; ++i) {
        const float x = -1.f + 0.02f * static_cast<float>(i);
        p.x.push_back(x);
        p.y.push_back(1.5f * x + 0.5f + (i % 2 ? 0.1f : -0.1f));
    }
    return p;
}

struct fitted {
    float w, b;
    double microseconds; // per step
};

template <class Work> double microseconds_per_step(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / steps;
}

struct model {
    placeholder<float, dyn> x{"x"}, y{"y"};
    variable<float> w{"w", 0.f}, b{"b", 0.f};

    auto train() const { return gradient_descent(0.05f).minimize(reduce_mean(square(w * x + b - y))); }
};

fitted one_call(const points& p) {
    graph g;
    graph_scope here(g);
    const model m;
    // What writes a variable runs in every iteration, whether or not the state needs it.
    const auto done = while_loop([](auto i) { return i < steps; },
                                 [&](auto i) {
                                     m.train();
                                     return i + 1;
                                 },
                                 0);
    session s;
    s.run(global_variables_initializer());
    auto all_steps = s.make_callable(done, m.x, m.y);
    all_steps(p.x, p.y); // prepares memory, as the first step does below
    s.run(global_variables_initializer());
    const double time = microseconds_per_step([&] { all_steps(p.x, p.y); });
    return {s.run(m.w), s.run(m.b), time};
}

fitted one_call_each(const points& p) {
    graph g;
    graph_scope here(g);
    const model m;
    const operation train = m.train();
    session s;
    s.run(global_variables_initializer());
    auto step = s.make_callable(train, m.x, m.y);
    step(p.x, p.y);
    s.run(global_variables_initializer());
    const double time = microseconds_per_step([&] {
        for (int i = 0; i < steps; ++i) step(p.x, p.y);
    });
    return {s.run(m.w), s.run(m.b), time};
}

} // namespace

int main() {
    const points p = sample();
    const fitted inside = one_call(p), outside = one_call_each(p);
    std::printf("%d steps in one call    w %.6f  b %.6f  %.2f us a step\n", steps, inside.w, inside.b,
                inside.microseconds);
    std::printf("%d calls of one step    w %.6f  b %.6f  %.2f us a step\n", steps, outside.w, outside.b,
                outside.microseconds);
    expect(inside.w == outside.w && inside.b == outside.b, "both end at the same weights, to the last bit");
    expect(inside.w > 1.4f && inside.w < 1.6f && inside.b > 0.45f && inside.b < 0.55f,
           "the line is the one of the data");
}
