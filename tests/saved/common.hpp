// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the program that writes graphs and the one that reads them do alike: feeds are drawn from the placeholders' names and
// shapes, so that both find the same ones, and some steps are run. This file knows no op.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <rill/all_kernels.hpp>
#include <rill/graph/serialization/serialization.hpp>

namespace saved_graphs {

using namespace rill;

inline std::vector<feed_value> feeds_for(const graph& g) {
    std::vector<feed_value> feeds;
    for (const auto* n : g.nodes()) {
        if (n->op->role() != op_role::placeholder || n->inside) continue;
        tensor_type t = n->outputs[0];
        for (int i = 0; i < t.shape.rank; ++i)
            if (t.shape[i] == dyn) t.shape[i] = 6;
        std::mt19937 random(static_cast<unsigned>(detail::hash_bytes(n->name)));
        any_array value(t.type, t.shape);
        for (index_t i = 0; i < t.shape.size(); ++i) {
            const auto drawn = random();
            if (t.type == dtype::float32)
                static_cast<float*>(value.mutable_data())[i] = static_cast<float>(drawn % 2001) / 1000.f - 1.f;
            else if (t.type == dtype::float64)
                static_cast<double*>(value.mutable_data())[i] = static_cast<double>(drawn % 2001) / 1000 - 1;
            else if (t.type == dtype::int32)
                static_cast<std::int32_t*>(value.mutable_data())[i] = static_cast<std::int32_t>(drawn % 3);
            else
                throw invalid_argument("no feed of this type is drawn");
        }
        feeds.push_back(feed(any_tensor(endpoint{n, 0}), value));
    }
    return feeds;
}

/// Runs the variables' initializers, then three steps, and returns all fetched values, as text.
inline std::string run(const graph& g, const std::vector<std::string>& names) {
    const graph_scope here(g);
    session s(g);
    s.run(global_variables_initializer());
    std::vector<named_fetch> fetches;
    for (const auto& n : names) fetches.push_back(fetch(n));
    std::string text;
    for (int step = 0; step < 3; ++step) {
        const auto values = s.run(fetches, feeds_for(g));
        for (std::size_t i = 0; i < values.size(); ++i) {
            text += names[i];
            const auto& v = values[i];
            const auto add = [&](double x) {
                char number[40];
                std::snprintf(number, sizeof number, " %.17g", x);
                text += number;
            };
            for (index_t k = 0; k < v.size() && k < 50; ++k) {
                const auto at = static_cast<std::size_t>(k);
                if (v.dtype() == dtype::float32) add(static_cast<double>(v.elements<float>()[at]));
                if (v.dtype() == dtype::float64) add(v.elements<double>()[at]);
                if (v.dtype() == dtype::int32) add(v.elements<std::int32_t>()[at]);
                if (v.dtype() == dtype::int64) add(static_cast<double>(v.elements<std::int64_t>()[at]));
            }
            text += "\n";
        }
    }
    return text;
}

/// Numbers may differ in their last bits: what one program compiled as one loop, another interprets.
inline bool same(const std::string& a, const std::string& b) {
    std::istringstream x(a), y(b);
    for (std::string one, other;;) {
        const bool more = bool(x >> one);
        if (more != bool(y >> other)) return false;
        if (!more) return true;
        if (one == other) continue;
        char *end = nullptr, *other_end = nullptr;
        const double u = std::strtod(one.c_str(), &end), v = std::strtod(other.c_str(), &other_end);
        if (*end != '\0' || *other_end != '\0') return false;
        if (!(std::abs(u - v) <= 1e-5 * std::max({1.0, std::abs(u), std::abs(v)}))) return false;
    }
}

} // namespace saved_graphs
