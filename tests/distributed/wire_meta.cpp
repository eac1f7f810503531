// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/wire_meta.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_wire_meta {

using namespace rill::detail;

TEST_CASE("wire meta: arguments and back") {
    const register_meta m{.run = 7,
                          .names = {.feeds = {"x:0"}, .fetches = {"y:0", "z:1"}, .targets = {"train"}},
                          .sends = {{3, "/job:ps/replica:0/task:0"}},
                          .replica = 2,
                          .device_count = {{"cpu", 3}},
                          .allow_soft_placement = 1,
                          .raise_primitives = 0};
    const auto read = meta_of<register_meta>(bytes_of_meta(m));
    CHECK(read.run == 7);
    CHECK(read.names.fetches == m.names.fetches);
    CHECK(read.sends.at(0).peer == m.sends[0].peer);
    CHECK(read.replica == 2);
    CHECK(counts_of(read.device_count) == device_counts{{"cpu", 3}});
    CHECK(read.allow_soft_placement == 1);
    CHECK(read.raise_primitives == 0);
    CHECK_THROWS_AS(counts_of({{"cpu", 1025}}), invalid_argument);
    const step_meta step{.run = 1, .step = 2, .values = {{{dtype::float32, {2, 3}}, 1, 64, 12}}};
    const auto back = meta_of<step_meta>(bytes_of_meta(step));
    CHECK(back.values.at(0).type == step.values[0].type);
    CHECK(back.values.at(0).offset == 64);
}

TEST_CASE("wire meta: damaged bytes end in data_loss before they take memory") {
    const auto bytes = bytes_of_meta(names_meta{{"a", "b"}});
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_THROWS_AS(meta_of<names_meta>(bytes.substr(0, n)), data_loss);
    CHECK_THROWS_AS(meta_of<names_meta>(bytes + "x"), data_loss);
    CHECK_THROWS_AS(meta_of<names_meta>(std::string(8, '\x7f')), data_loss); // a list of 2^62 names
    auto bad = bytes_of_meta(push_meta{});
    bad[28] = 99; // the dtype
    CHECK_THROWS_AS(meta_of<push_meta>(bad), data_loss);
}

} // namespace test_wire_meta
