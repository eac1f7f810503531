// SPDX-License-Identifier: BSD-3-Clause
// Runs that are cut between the CPU and the far devices: whole and cut, the same bits.
#include "../../random_parts.hpp"

#include <vector>

#include "../../catch.hpp"
#include "by_default.hpp"

using namespace rill;

namespace test_far_parts {

using namespace random_parts;

TEST_CASE("far: parts on the CPU and two far devices give what the whole run gives", "[random]") {
    seeds::each(15, [&](std::uint64_t seed) {
        const test_far::by_default there(seed % 2 ? "far" : "cpu");
        const graph g;
        const graph_scope here(g);
        const random_parts::program p(seed, drawn_devices({"/cpu:0", "/cpu:1", "/far:0", "/far:1"}, seed));
        const device_counts counts{{"cpu", 2}, {"far", 2}};
        const auto wanted = p.outcomes(session(g, on_threads(0, false, counts)), false);
        const auto found = p.outcomes(session(g, on_threads(drawn_threads(seed), true, counts)), false);
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(same_bits(found[i], wanted[i]));
    });
}

} // namespace test_far_parts
