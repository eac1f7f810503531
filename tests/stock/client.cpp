// SPDX-License-Identifier: BSD-3-Clause
// Sends the server of another program a graph with expressions, a function, branches and loops that the server was not compiled for. What
// it computes is bit for bit what a session of this process computes.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "../../examples/child_process.hpp"

using namespace rill;

namespace {

constexpr index_t rows = 37;

struct model {
    placeholder<float, dyn, 5> x{"x"};
    variable<float, 5> v{"v", {0.5f, -1.f, 2.f, 0.25f, -0.75f}};
    std::vector<any_tensor> fetches;

    model() {
        const auto add = [&](const any_tensor& t) { fetches.push_back(t); };
        const tensor gelu(0.5f * x * (1.f + tanh(0.7978845608f * (x + 0.044715f * x * x * x))), "gelu");
        add(gelu);
        add(reduce_max<1>(gelu * x - v));
        const auto bump = function([&](auto y) { return tensor(exp(-y * y) * v + sin(y)); });
        const tensor bumps(bump(gelu) + bump(x * 0.5f), "bumps");
        add(bumps);
        const auto grown = while_loop(
            [](const auto& s) { return reduce_sum(square(s)) < 5000.f; },
            [&](const auto& s) {
                return cond(reduce_sum(s) > 0.f, [&] { return tensor(s * 1.5f + bumps * bumps * 0.25f); },
                            [&] { return tensor(s * -2.f + sqrt(bumps * bumps + 1.f)); });
            },
            gelu);
        add(grown);
        for (const auto& slope : gradients({any_tensor(reduce_mean(grown * bumps))}, {any_tensor(x), any_tensor(v)}))
            add(slope);
        add(v.assign_sub(0.01f * tanh(reduce_mean<0>(grown)) * v));
    }
};

/// Returns what three steps give.
std::vector<any_array> outcomes(const model& m, const session_options& how) {
    const session s(how);
    s.run(global_variables_initializer());
    any_array x(dtype::float32, dims{rows, 5});
    std::vector<any_array> all;
    for (int step = 0; step < 3; ++step) {
        for (index_t i = 0; i < x.size(); ++i)
            static_cast<float*>(x.mutable_data())[i] = static_cast<float>((i * 37 + step * 11) % 101) / 40.f - 1.f;
        for (auto& value : s.run(m.fetches, feed(any_tensor(m.x), x))) all.push_back(std::move(value));
    }
    return all;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: client SERVER\n"), 2;
    const auto at = free_addresses(1);
    const child_process stock(
        argv[1], {}, {{"TF_CONFIG", R"({"cluster": {"stock": [")" + at[0] + R"("]}, "task": {"type": "stock", "index": 0}})"}});
    const model m;
    const session_options there{.target = "tcp://" + at[0]};
    const auto wanted = outcomes(m, {}), found = outcomes(m, there);
    int wrong = found.size() != wanted.size() || session(there).devices()[0].name.find("/job:stock") == std::string::npos;
    for (std::size_t i = 0; i < wanted.size() && i < found.size(); ++i) {
        const auto &a = wanted[i], &b = found[i];
        const auto bytes = static_cast<std::size_t>(a.size()) * sizeof(float);
        const bool same = a.type() == b.type() && bytes > 0 && std::memcmp(a.data(), b.data(), bytes) == 0;
        const auto& name = m.fetches[i % m.fetches.size()].name();
        if (!same) std::printf("%s of step %zu: OTHER BITS\n", name.c_str(), i / m.fetches.size());
        wrong += !same;
    }
    std::printf("%zu values, %d wrong\n", found.size(), wrong);
    return wrong;
}
