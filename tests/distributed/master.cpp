// SPDX-License-Identifier: BSD-3-Clause
// Random programs cut between tasks at random: every value has the bits that one process computes.
#include <rill/distributed/master.hpp>

#include <rill/distributed.hpp>

#include "catch.hpp"
#include "random_parts.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_master {

/// Draws the task of each node; nodes of bodies go with the node that runs the body.
device_function drawn_tasks(std::uint64_t seed) {
    return [draw = random_parts::drawn_devices({"/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", ""}, seed)](
               const node_info& n) { return rill::detail::scopes().inside ? std::string() : draw(n); };
}

TEST_CASE("master: random programs over several tasks have the bits of one process", "[random]") {
    std::size_t values = 0;
    seeds::each(4, [&](std::uint64_t seed) {
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
                local_cluster all({{"ps", 2}, {"worker", 1}});
                try {
                    parts = p.outcomes(session(g, {.target = all.at("ps", static_cast<int>(seed % 2)).target()}), few);
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
    if (seeds::all()) CHECK(values > 300);
}

} // namespace test_master
