// SPDX-License-Identifier: BSD-3-Clause
// Out of memory: of a virtual device with a cap, and on a GPU of the card itself. The error names all numbers, and the session goes on.
#include "common.hpp"

namespace gpu_test {

constexpr std::size_t cap = std::size_t(32) << 20;

std::string refusal(const auto& run) {
    try {
        run();
    } catch (const resource_exhausted& problem) {
        return problem.what();
    }
    return "accepted";
}

void capped() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x"), y("y");
    variable<float, 1024, 1024> w("w", constant_initializer(1.f)); // 4 MB
    const auto all = tensor(reduce_sum(exp(x + y)) + reduce_mean(w));
    const session s({.gpu = {.virtual_devices = {{cap}}}});
    s.run(global_variables_initializer());
    const auto column = drawn(4000, 1, 1), row = drawn(1, 4000, 2); // 64 MB
    const xt::xtensor<float, 2> zero{{0.f}};
    const float before = s.run(all, feed(x, zero), feed(y, zero));
    for (int i = 0; i < 20; ++i) {
        const std::string words = refusal([&] { s.run(all, feed(x, column), feed(y, row)); });
        const bool good = words.find("bytes are requested") != std::string::npos &&
                          words.find("of " + std::to_string(cap) + " are in use") != std::string::npos &&
                          words.find("4194304 (variable float32 [1024, 1024])") != std::string::npos;
        if (i == 0 || !good) expect(good, "a run beyond the cap is refused: " + words);
        if (s.run(all, feed(x, zero), feed(y, zero)) != before) expect(false, "the session goes on");
    }
    expect(before == 2, "the session goes on after 20 refusals");
    const auto smaller = drawn(1000, 1, 3); // 16 MB fit
    expect(std::isfinite(s.run(all, feed(x, smaller), feed(y, row))), "a run below the cap goes through");
}

/// Two virtual devices have a cap each.
void two_caps() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x"), y("y");
    const auto on = [&](int i) {
        const device_scope there("/device:" + device_type_name() + ":" + std::to_string(i));
        return tensor(reduce_sum(exp(x + y)));
    };
    const auto small = on(0), large = on(1);
    const session s({.gpu = {.virtual_devices = {{cap, 4 * cap}}}});
    const auto column = drawn(4000, 1, 1), row = drawn(1, 4000, 2);
    const std::string words = refusal([&] { s.run(small, feed(x, column), feed(y, row)); });
    expect(words.find("virtual device 0 of " + device_type_name() + ":0") != std::string::npos,
           "the smaller device refuses: " + words);
    expect(std::isfinite(s.run(large, feed(x, column), feed(y, row))), "the larger one computes it");
}

#if defined(__CUDACC__)
void whole_card() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x"), y("y");
    const auto all = reduce_sum(exp(x + y));
    const session s;
    const std::string words = refusal([&] {
        s.run(all, feed(x, drawn(400'000, 1, 1)), feed(y, drawn(1, 1'000'000, 2))); // 1.6 TB
    });
    expect(words.find("bytes are requested") != std::string::npos, "too much memory is refused: " + words);
    const xt::xtensor<float, 2> one{{0.f}}, two{{0.f}, {0.f}};
    expect(s.run(all, feed(x, one), feed(y, two)) == 2, "the session goes on without it");
}
#endif

} // namespace gpu_test

int main() {
    using namespace gpu_test;
    begin();
    capped(), two_caps();
#if defined(__CUDACC__)
    whole_card();
#endif
    return end();
}
