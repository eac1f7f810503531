// SPDX-License-Identifier: BSD-3-Clause
// Random graphs on the far device: the bits that the CPU computes, on any number of threads.
#include "../../random_graph.hpp"

#include <cstring>

#include "../../catch.hpp"
#include "by_default.hpp"

using namespace rill;

namespace test_far_random_graphs {

bool same_bits(const any_array& a, const any_array& b) {
    return a.type() == b.type() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}

/// How many values differ.
int compare(unsigned seed, int rounds, index_t scale) {
    random_graph::random r(seed);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        const graph g;
        const graph_scope here(g);
        const auto m = random_graph::build(r, scale);
        std::vector<feed_value> feeds;
        for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
        const std::vector<any_tensor> last(m.values.end() - 5, m.values.end());
        for (const auto& fetched : {m.values, last}) {
            const auto run = [&](const char* device, int threads) {
                const test_far::by_default there(device);
                return session(g, {.inter_op_threads = threads, .intra_op_threads = threads}).run(fetched, feeds);
            };
            const auto wanted = run("cpu", 1);
            for (const int threads : {1, 3}) {
                const auto got = run("far", threads);
                for (std::size_t i = 0; i < got.size(); ++i) wrong += !same_bits(got[i], wanted[i]);
            }
        }
    }
    return wrong;
}

TEST_CASE("far: random graphs") {
    CHECK(compare(20261122, 500, 1) == 0);
    CHECK(compare(12, 20, 100) == 0);
}

} // namespace test_far_random_graphs
