// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Graphs drawn at random: what runs of them are compared by.

#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

namespace random_graph {

using namespace rill;

using random = std::mt19937;

struct made {
    std::vector<any_tensor> values; // all double; the first are placeholders
    std::vector<any_array> feeds;
};

inline int below(random& r, std::size_t n) { return static_cast<int>(r() % n); }
inline any_tensor pick(random& r, const std::vector<any_tensor>& from) {
    return from[static_cast<std::size_t>(below(r, from.size()))];
}

/// One more value; null where the operands drawn do not go together.
inline any_tensor next(random& r, const std::vector<any_tensor>& have) {
    const any_tensor a = pick(r, have), b = pick(r, have);
    const auto &sa = a.static_shape(), &sb = b.static_shape();
    const bool pair = rules::broadcast(sa, sb).ok();
    switch (below(r, 24)) {
    case 0: return pair ? a + b : any_tensor();
    case 1: return pair ? a - b : any_tensor();
    case 2: return pair ? a * b : any_tensor();
    case 3: return pair ? a / b : any_tensor();
    case 4: return pair ? maximum(a, b) : any_tensor();
    case 5: return pair ? minimum(a, b) : any_tensor();
    case 6: return tanh(a);
    case 7: return sigmoid(a);
    case 8: return exp(a * 0.25);
    case 9: return square(a);
    case 10: return abs(a);
    case 11: return relu(a);
    case 12: return -a;
    case 13: return sqrt(a); // NaN of negative numbers
    case 14: return log(a);  // infinite of 0
    case 15: return sa == sb ? select(a > b, a, b * 2.0) : any_tensor();
    case 16: return reduce_sum(a);
    case 17: return sa.rank == 2 ? reduce_mean<0>(a) : any_tensor();
    case 18: return sa.rank == 2 ? reduce_max<1>(a, keep_dims) : any_tensor();
    case 19: return sa.rank == 2 && sb.rank == 2 && sa[1] == sb[0] ? matmul(a, b) : any_tensor();
    case 20: return sa.rank == 2 ? transpose(a) : any_tensor();
    case 21: return sa.rank == 2 && sb.rank == 2 && sa[1] == sb[1] ? concat<0>(a, b) : any_tensor();
    case 22: return sa.rank == 2 ? softmax(a) : any_tensor();
    default: return stop_gradient(a);
    }
}

/// Extents beyond 1 are multiples of `scale`.
inline made build(random& r, index_t scale = 1) {
    made m;
    static const dims shapes[] = {dims{}, dims{1}, dims{3}, dims{4, 1}, dims{4, 3}, dims{3, 4}, dims{1, 3}};
    for (int i = 0; i < 4; ++i) {
        dims shape = shapes[below(r, std::size(shapes))];
        for (int k = 0; k < shape.rank; ++k) shape[k] *= shape[k] > 1 ? scale : 1;
        m.values.push_back(any_placeholder("x" + std::to_string(i), dtype::float64, shape));
        any_array value(dtype::float64, shape);
        for (index_t k = 0; k < shape.size(); ++k)
            static_cast<double*>(value.mutable_data())[k] =
                below(r, 9) == 0 ? 0 : static_cast<double>(below(r, 4001)) / 1000 - 2;
        m.feeds.push_back(value);
    }
    const std::size_t wanted = 6 + static_cast<std::size_t>(below(r, 20));
    while (m.values.size() < wanted)
        if (const any_tensor v = next(r, m.values)) m.values.push_back(v);
    // and the gradients of some sum by every placeholder
    const any_tensor y = reduce_sum(m.values.back()) + reduce_sum(pick(r, m.values));
    for (const auto& d : gradients({y}, {m.values.begin(), m.values.begin() + 4}))
        if (d) m.values.push_back(d);
    return m;
}

} // namespace random_graph
