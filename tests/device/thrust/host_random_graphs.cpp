// SPDX-License-Identifier: BSD-3-Clause
// Random graphs on the device "thrust" with the threads of OpenMP, in the host's memory and on a virtual device.
#include "../../nvcc/gpu/random_graphs.hpp"

#include "../../catch.hpp"
#include "../../seeds.hpp"

using namespace rill;

namespace test_thrust_host {

void compare(std::uint64_t usual, index_t scale, const session_options& options) {
    seeds::each(usual, [&](std::uint64_t seed) {
        CHECK(random_graphs_beside_cpu::difference(static_cast<unsigned>(seed), "thrust", scale, options) == "");
    });
}

TEST_CASE("thrust host: random graphs", "[random]") { compare(60, 1, {}); }

TEST_CASE("thrust host: random graphs of larger arrays", "[random]") { compare(4, 100, {}); }

TEST_CASE("thrust host: random graphs on a virtual device", "[random]") {
    compare(60, 1, {.gpu = {.virtual_devices = {{std::size_t(9) << 20}}}});
}

} // namespace test_thrust_host
