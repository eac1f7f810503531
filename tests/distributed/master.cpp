// SPDX-License-Identifier: BSD-3-Clause
// Random programs cut between tasks at random: every value has the bits that one process computes. Tasks of this process, and tasks joined by
// sockets.
#include <rill/distributed/master.hpp>

#include <cstring>

#include <rill/distributed.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"
#include "random_control_flow.hpp"
#include "random_graph.hpp"
#include "random_parts.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_master {

/// Draws the task of each node, also in bodies.
device_function drawn_anywhere(std::uint64_t seed) {
    return random_parts::drawn_devices({"/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", ""}, seed);
}

/// Draws the task of each node; nodes of bodies go with the node that runs the body.
device_function drawn_tasks(std::uint64_t seed) {
    return [draw = drawn_anywhere(seed)](const node_info& n) {
        return rill::detail::scopes().inside ? std::string() : draw(n);
    };
}

/// Runs random programs as one process does, and at a target that `open` returns for a seed: two parameter servers and a worker.
template <class Open> std::size_t compare_programs(std::uint64_t usual, const Open& open) {
    const random_parts::equal_rounding everywhere;
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

TEST_CASE("master: random graphs and their gradients over several tasks have the bits of one process", "[random]") {
    const random_parts::equal_rounding everywhere;
    std::size_t values = 0;
    local_cluster all({{"ps", 2}, {"worker", 1}});
    seeds::each(16, [&](std::uint64_t seed) {
        const index_t scale = seed % 4 == 0 ? 32 : 1;
        const auto values_of = [&](const device_function& where, const session_options& options) {
            random_graph::random r(static_cast<random_graph::random::result_type>(seed));
            const graph g;
            const graph_scope here(g);
            const device_scope on(where);
            const auto m = random_graph::build(r, scale);
            std::vector<feed_value> feeds;
            for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
            return session(g, options).run(m.values, feeds);
        };
        const auto whole = values_of([](const node_info&) { return std::string(); }, {});
        const auto parts =
            values_of(drawn_anywhere(seed), {.target = all.at("ps", static_cast<int>(seed % 2)).target()});
        REQUIRE(parts.size() == whole.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            INFO("value " << i);
            CHECK((scale == 1 ? random_parts::same_bits(parts[i], whole[i]) : random_parts::nearly_same(parts[i], whole[i])));
            ++values;
        }
    });
    if (seeds::all()) CHECK(values > 100);
}

TEST_CASE("master: random control flow over several tasks, with writes in bodies, functions and gradients", "[random]") {
    using namespace test_random_control_flow;
    const random_parts::equal_rounding everywhere;
    std::size_t ran = 0, refused = 0;
    local_cluster all({{"ps", 2}, {"worker", 1}});
    each_program(16, drawn::all, [&](std::uint64_t seed, const trial& t) {
        if (!t.is_clear()) return;
        struct outcome {
            double z, written, dx, dw;
        };
        const auto outcome_of = [&](const device_function& where, const session_options& options) {
            const built b(t.p, where);
            const auto [dx, dw] = gradients(b.z, b.x, b.w);
            const session s(options);
            s.run(global_variables_initializer());
            const auto [z] = b.run(s, std::tuple(b.z, b.writes), t.x);
            const double written = s.run(b.written);
            const auto slopes = b.run(s, std::tuple(dx, dw), t.x);
            return outcome{z, written, std::get<0>(slopes), std::get<1>(slopes)};
        };
        const auto whole = outcome_of({}, {});
        CHECK(t.is(whole.z, t.value.v));
        for (const bool in_bodies : {false, true}) { // nodes of bodies in several tasks, too
            const std::string target = all.at("ps", static_cast<int>(seed % 2)).target();
            session::reset(target); // variables of the program before
            try {
                const auto parts = outcome_of(in_bodies ? drawn_anywhere(seed) : drawn_tasks(seed), {.target = target});
                const auto same = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; };
                CHECK((same(parts.z, whole.z) && same(parts.written, whole.written)));
                CHECK((same(parts.dx, whole.dx) && same(parts.dw, whole.dw)));
                ++ran;
            } catch (const unimplemented&) { // a body that can't be cut
                ++refused;
            }
        }
    });
    INFO(ran << " have run, " << refused << " were refused");
    if (seeds::all()) CHECK(refused * 4 <= ran);
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
