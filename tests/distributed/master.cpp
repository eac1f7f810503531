// SPDX-License-Identifier: BSD-3-Clause
// Random programs cut between tasks at random: every value has the bits that one process computes. Tasks of this process, and tasks joined by
// sockets.
#include <rill/distributed/master.hpp>

#include <rill/distributed.hpp>

#include "catch.hpp"
#include "distributed/free_addresses.hpp"
#include "random_parts.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_master {

/// Draws the task of each node; nodes of bodies go with the node that runs the body.
device_function drawn_tasks(std::uint64_t seed) {
    return [draw = random_parts::drawn_devices({"/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", ""}, seed)](
               const node_info& n) { return rill::detail::scopes().inside ? std::string() : draw(n); };
}

/// Runs random programs as one process does, and at a target that `open` returns for a seed: two parameter servers and a worker.
template <class Open> std::size_t compare_programs(std::uint64_t usual, const Open& open) {
    std::size_t values = 0;
    seeds::each(usual, [&](std::uint64_t seed) {
        for (const bool few : {false, true}) {
            std::vector<any_array> whole, parts;
            {
                const graph g;
                const graph_scope here(g);
                const random_parts::program p(seed, [](const node_info&) { return std::string(); });
                whole = p.outcomes(session(g), few);
            }
            {
                const graph g;
                const graph_scope here(g);
                const random_parts::program p(seed, drawn_tasks(seed));
                const auto all = open();
                try {
                    parts = p.outcomes(session(g, {.target = all->target(seed % 2)}), few);
                } catch (const unimplemented&) { // a body whose nodes were drawn for several tasks
                    return;
                }
            }
            REQUIRE(parts.size() == whole.size());
            for (std::size_t i = 0; i < parts.size(); ++i) {
                INFO("value " << i << (few ? " of few" : " of all"));
                CHECK(random_parts::same_bits(parts[i], whole[i]));
                ++values;
            }
        }
    });
    return values;
}

TEST_CASE("master: random programs over several tasks have the bits of one process", "[random]") {
    struct cluster {
        local_cluster all{{{"ps", 2}, {"worker", 1}}};
        std::string target(std::uint64_t ps) { return all.at("ps", static_cast<int>(ps)).target(); }
    };
    const auto values = compare_programs(4, [] { return std::make_unique<cluster>(); });
    if (seeds::all()) CHECK(values > 300);
}

#if RILL_WITH_ZMQ
TEST_CASE("master: random programs over tasks that sockets join have the bits of one process", "[random]") {
    struct cluster {
        std::vector<std::string> at = free_addresses(3);
        cluster_spec spec{{"ps", {at[0], at[1]}}, {"worker", {at[2]}}};
        server first{spec, "ps", 0}, second{spec, "ps", 1}, worker{spec, "worker", 0};
        std::string target(std::uint64_t ps) { return (ps == 0 ? first : second).target(); }
    };
    const auto values = compare_programs(2, [] { return std::make_unique<cluster>(); });
    if (seeds::all()) CHECK(values > 100);
}
#endif

} // namespace test_master
