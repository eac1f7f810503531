// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A random graph on a device beside the CPU: for `make gpu`, and for tests of the device "thrust".

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../random_graph.hpp"
#include "by_default.hpp"

namespace random_graphs_beside_cpu {

using namespace rill;

inline bool nearly(double got, double wanted) {
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return true;
    return std::abs(got - wanted) <= 1e-9 * std::max(1., std::abs(wanted));
}

/// Returns the first value that differs from the CPU's; empty if none does.
inline std::string difference(const std::vector<any_tensor>& values, const std::vector<any_array>& got,
                              const std::vector<any_array>& wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::string node = values[i].node()->name;
        if (got[i].type().shape != wanted[i].type().shape) return node + ": the shapes differ";
        for (index_t k = 0; k < wanted[i].size(); ++k) {
            const double a = static_cast<const double*>(got[i].data())[k],
                         b = static_cast<const double*>(wanted[i].data())[k];
            if (!nearly(a, b))
                return node + "[" + std::to_string(k) + "]: " + std::to_string(a) + ", on the CPU " + std::to_string(b);
        }
    }
    return {};
}

/// Runs the graph of a seed on the CPU and on a device. Returns what differs; empty if nothing does. Extents beyond 1 are multiples of `scale`.
/// It runs three times with changing feeds: a device may run the kernels one by one, then capture them, then replay them.
inline std::string difference(unsigned seed, const std::string& device, index_t scale = 1,
                              const session_options& options = {}) {
    random_graph::random draw(seed);
    const graph g;
    const graph_scope here(g);
    const auto m = random_graph::build(draw, scale);
    const auto run = [&](const std::string& type) {
        const gpu_test::by_default there(type);
        const session s(g, options);
        std::vector<std::vector<any_array>> all;
        for (const double factor : {1., 0.5, -1.}) {
            std::vector<any_array> fed;
            std::vector<feed_value> feeds;
            for (const auto& value : m.feeds) {
                any_array next(value.type().type, value.shape());
                for (index_t k = 0; k < value.size(); ++k)
                    static_cast<double*>(next.mutable_data())[k] = factor * static_cast<const double*>(value.data())[k];
                fed.push_back(std::move(next));
            }
            for (std::size_t i = 0; i < fed.size(); ++i) feeds.push_back(feed(m.values[i], fed[i]));
            all.push_back(s.run(m.values, feeds));
        }
        return all;
    };
    const auto wanted = run("cpu"), got = run(device);
    for (std::size_t r = 0; r < wanted.size(); ++r)
        if (const auto found = difference(m.values, got[r], wanted[r]); !found.empty())
            return "seed " + std::to_string(seed) + ", run " + std::to_string(r) + ", " + found;
    return {};
}

} // namespace random_graphs_beside_cpu
