// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/peer_channels.hpp>

#include <rill/distributed.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/get_variable.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/optimizer.hpp>
#include <rill/train/replica_device_setter.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_peer_channels {

TEST_CASE("peer channels: a task that is not in the cluster, and channels after the end") {
    local_network net;
    rill::detail::peer_channels peers(cluster_spec{{"ps", {"a"}}}, {"client", 1, ""}, net.join(), environment::real(),
                                      {});
    const auto ps = peers.to("/job:ps/task:0");
    CHECK(ps == peers.to("/job:ps/task:0"));
    CHECK(ps->bytes_sent() == 0);
    CHECK_THROWS_AS(peers.to("/job:ps/task:1"), not_found);
    peers.close();
    CHECK_THROWS_AS(peers.to("/job:ps/task:0"), unavailable);
}

TEST_CASE("peer channels: a step of an embedding sends its ids and its rows twice, not the table") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    const device_scope on(replica_device_setter(all.spec()));
    const placeholder<int, 4> ids("ids");
    const variable<float, 1000, 8> table("table", 1.f);
    const tensor<float> loss = reduce_sum(square(gather(table, ids)));
    const auto train = gradient_descent(0.25f).minimize(loss);
    const session s({.target = all.at("worker", 0).target()});
    s.run(table.initializer());
    const std::vector<int> some{3, 999, 0, 5};
    const auto step = s.make_callable(std::tuple(train), ids);
    auto &worker = all.at("worker", 0), &ps = all.at("ps", 0);
    const auto from_worker = worker.bytes_sent(), from_ps = ps.bytes_sent();
    step(some);
    constexpr std::size_t id_bytes = 4 * sizeof(int), row_bytes = std::size_t(4) * 8 * sizeof(float);
    CHECK(worker.bytes_sent() - from_worker == id_bytes + row_bytes); // ids to look up, gradients of rows
    CHECK(ps.bytes_sent() - from_ps == row_bytes);
    const auto now = s.run(table);
    CHECK(now(3, 0) == 0.5f);
    CHECK(now(4, 0) == 1.f);
}

TEST_CASE("peer channels: initial values are computed beside their variables, so that none crosses") {
    local_cluster all({{"ps", 2}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    const device_scope on(replica_device_setter(all.spec()));
    const variable<float, 100, 50> a("a", random_uniform({.minval = -1, .maxval = 1})), b("b", glorot_uniform());
    const variable<float, dyn> c("c", dims{1000}, fill<1000>(2.f) * 3.f);
    const auto d = get_variable<float, 100, 50>("d", truncated_normal());
    const session s({.target = all.at("worker", 0).target()});
    auto &worker = all.at("worker", 0), &first = all.at("ps", 0), &second = all.at("ps", 1);
    const auto init = global_variables_initializer();
    const auto step = s.make_callable(std::tuple(init)); // sends the graph
    const auto before = worker.bytes_sent() + first.bytes_sent() + second.bytes_sent();
    step();
    CHECK(worker.bytes_sent() + first.bytes_sent() + second.bytes_sent() == before);
    CHECK(s.run(c)(999) == 6.f);
    CHECK(s.run(b)(0, 0) != s.run(b)(99, 49));
}

TEST_CASE("peer channels: replicas draw numbers of their own") {
    local_cluster all({{"worker", 2}});
    std::vector<float> drawn;
    for (const int replica : {0, 1}) {
        graph g; // equal graphs, with equal names
        graph_scope use(g);
        const auto mask = random_uniform<float>();
        const session s({.target = all.at("worker", replica).target(), .replica = replica});
        drawn.push_back(s.run(mask));
    }
    CHECK(drawn[0] != drawn[1]);
}

} // namespace test_peer_channels
