// SPDX-License-Identifier: BSD-3-Clause
// Random graphs: what a plan computes (pruned, shared, ordered, in place, on several threads) is what its nodes give one by one.
#include <rill/rill.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "catch.hpp"

using namespace rill;

namespace test_random_graphs {

using random = std::mt19937;

struct made {
    std::vector<any_tensor> values; // all double; the first are placeholders
    std::vector<any_array> feeds;
};

int below(random& r, std::size_t n) { return static_cast<int>(r() % n); }
any_tensor pick(random& r, const std::vector<any_tensor>& from) {
    return from[static_cast<std::size_t>(below(r, from.size()))];
}

/// One more value; null where the operands drawn do not go together.
any_tensor next(random& r, const std::vector<any_tensor>& have) {
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
made build(random& r, index_t scale = 1) {
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
        if (d) m.values.push_back(*d);
    return m;
}

/// Every node on its own: its inputs are fed.
std::map<std::pair<const node*, int>, any_array> one_by_one(const graph& g, const made& m) {
    std::map<std::pair<const node*, int>, any_array> value;
    const session s(g, {.intra_op_threads = 1});
    for (std::size_t i = 0; i < m.feeds.size(); ++i) value[{m.values[i].node(), 0}] = m.feeds[i];
    for (const auto* n : g.nodes()) {
        if (n->op->role() == op_role::placeholder) continue;
        std::map<std::pair<const node*, int>, bool> fed;
        std::vector<feed_value> feeds;
        for (const auto& e : n->inputs)
            if (std::exchange(fed[{e.from, e.port}], true) == false)
                feeds.push_back(feed(any_tensor(e), value.at({e.from, e.port})));
        for (int port = 0; port < static_cast<int>(n->outputs.size()); ++port)
            value[{n, port}] = s.run(any_tensor(endpoint{n, port}), feeds);
    }
    return value;
}

/// The same number within rounding (a product that takes over a transpose adds in another order), or both no numbers.
bool same(const any_array& a, const any_array& b) {
    if (a.type() != b.type()) return false;
    for (index_t i = 0; i < a.size(); ++i) {
        const double x = a.elements<double>()[static_cast<std::size_t>(i)],
                     y = b.elements<double>()[static_cast<std::size_t>(i)];
        const double rounding = 1e-10 * std::max({1.0, std::abs(x), std::abs(y)});
        if (!(x == y || std::abs(x - y) <= rounding || (std::isnan(x) && std::isnan(y)))) return false;
    }
    return true;
}

struct tally {
    int wrong = 0, not_finite = 0, values = 0;
};

/// Compares runs of random graphs on one and on several threads with their nodes one by one.
tally compare(random& r, int rounds, index_t scale) {
    tally t;
    for (int round = 0; round < rounds; ++round) {
        const graph g;
        const graph_scope here(g);
        const made m = build(r, scale);
        const auto reference = one_by_one(g, m);
        std::vector<feed_value> feeds;
        for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
        const std::vector<any_tensor> last(m.values.end() - 5, m.values.end());
        for (const int threads : {1, 3}) {
            const session s(g, {.inter_op_threads = threads, .intra_op_threads = threads});
            const auto all = s.run(m.values, feeds);
            const auto few = s.run(last, feeds); // pruned, and laid out in memory in another way
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto& wanted = reference.at({m.values[i].node(), m.values[i].end().port});
                t.wrong += !same(all[i], wanted);
                if (i + 5 >= all.size()) t.wrong += !same(few[i + 5 - all.size()], wanted);
                for (const double x : wanted.elements<double>()) t.not_finite += !std::isfinite(x);
                ++t.values;
            }
        }
    }
    return t;
}

TEST_CASE("random graphs: plans compute what their nodes give one by one, on any number of threads") {
    random r(20261121);
    const auto t = compare(r, 2500, 1);
    CHECK(t.wrong == 0);
    CHECK(t.not_finite > 1000); // NaN and infinity take part
    CHECK(t.values > 20000);
}

TEST_CASE("random graphs: the same where the work is enough for branches to run at once") {
    random r(11);
    const auto t = compare(r, 60, 100);
    CHECK(t.wrong == 0);
    CHECK(t.values > 500);
}

} // namespace test_random_graphs
