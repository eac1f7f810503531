// SPDX-License-Identifier: BSD-3-Clause
// Random graphs cut between tasks at random: every value has the bits that one process computes.
#include <rill/distributed/master.hpp>

#include <cstring>

#include <rill/distributed.hpp>

#include "catch.hpp"
#include "random_graph.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_master {

using random_graph::below, random_graph::build, random_graph::made, random_graph::random;

std::vector<feed_value> feeds_of(const made& m) {
    std::vector<feed_value> feeds;
    for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
    return feeds;
}

bool same_bits(const any_array& a, const any_array& b) {
    if (a.type() != b.type()) return false;
    for (index_t i = 0; i < a.size(); ++i) {
        const double x = a.elements<double>()[static_cast<std::size_t>(i)],
                     y = b.elements<double>()[static_cast<std::size_t>(i)];
        if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
    }
    return true;
}

TEST_CASE("master: random graphs over several tasks have the bits of one process", "[random]") {
    local_cluster all({{"ps", 2}, {"worker", 2}});
    const auto tasks = all.spec().all_tasks();
    std::size_t values = 0;
    seeds::each(40, [&](std::uint64_t seed) {
        random r(static_cast<random::result_type>(seed)), again = r,
                                                          draws(static_cast<random::result_type>(seed + 1000));
        std::vector<any_array> wanted, found;
        {
            const graph g;
            const graph_scope here(g);
            const made m = build(r);
            const session s(g);
            wanted = s.run(m.values, feeds_of(m));
        }
        {
            const graph g;
            const graph_scope here(g);
            const device_scope anywhere([&](const node_info&) {
                return to_string(tasks[static_cast<std::size_t>(below(draws, tasks.size()))]);
            });
            const made m = build(again);
            const auto& own = tasks[static_cast<std::size_t>(below(draws, tasks.size()))];
            const session s(g, {.target = all.at(own.job, own.task).target()});
            found = s.run(m.values, feeds_of(m));
        }
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            INFO("value " << i);
            CHECK(same_bits(found[i], wanted[i]));
            ++values;
        }
    });
    if (seeds::all()) CHECK(values > 400);
}

} // namespace test_master
