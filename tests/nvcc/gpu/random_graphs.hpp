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

/// Runs the graph of a seed on the CPU and on a device. Returns what differs; empty if nothing does. Extents beyond 1 are multiples of `scale`.
inline std::string difference(unsigned seed, const std::string& device, index_t scale = 1,
                              const session_options& options = {}) {
    random_graph::random draw(seed);
    const graph g;
    const graph_scope here(g);
    const auto m = random_graph::build(draw, scale);
    std::vector<feed_value> feeds;
    for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
    const auto run = [&](const std::string& type) {
        const gpu_test::by_default there(type);
        return session(g, options).run(m.values, feeds);
    };
    const auto wanted = run("cpu"), got = run(device);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::string node = "seed " + std::to_string(seed) + ", " + m.values[i].node()->name;
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

} // namespace random_graphs_beside_cpu
