// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/launchers.hpp>

#include <map>
#include <thread>

#include <rill/core/error.hpp>
#include <rill/distributed/zmq_transport.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"

using namespace rill;

namespace test_launchers {

using variables = std::map<std::string, std::string>;

launched_task read(variables v, const launch_options& options = {}) {
    return detail::read_launch(
        [v = std::move(v)](const std::string& name) { return v.contains(name) ? v.at(name) : std::string(); }, options);
}

TEST_CASE("launchers: TF_CONFIG") {
    const auto t = read({{"TF_CONFIG", R"( {"environment": {"a": [1, true, {"b": null}], "c": "\"}"}, "cluster":
        {"ps": ["a:1"], "worker": {"0": "b:2", "1": "c:3"}}, "task": {"type": "worker", "index": "1", "trial": -1.5e3}} )"}});
    CHECK(t.job == "worker");
    CHECK(t.task == 1);
    CHECK(t.cluster.digest() == cluster_spec{{"ps", {"a:1"}}, {"worker", {"b:2", "c:3"}}}.digest());
    CHECK(read({{"TF_CONFIG", R"({"task":{"index":0,"type":"ps"},"cluster":{"ps":["a:1"]}})"}}).job == "ps");
    for (const auto* bad :
         {"{", "[]", R"({"cluster": 3})", R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": x}})",
          R"({"cluster": {"ps": {"1": "a:1"}}, "task": {"type": "ps", "index": 0}})"})
        CHECK_THROWS_AS(read({{"TF_CONFIG", bad}}), invalid_argument);
    CHECK_THROWS_AS(read({{"TF_CONFIG", R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 1}})"}}),
                    not_found);
    CHECK_THROWS_AS(read({{"TF_CONFIG", std::string(100'000, '[')}}), invalid_argument);
    CHECK_THROWS_AS(read({{"TF_CONFIG", R"({"deep": )" + std::string(100'000, '[')}}), invalid_argument);
}

TEST_CASE("launchers: lists of Slurm") {
    using names = std::vector<std::string>;
    CHECK(detail::nodes_of_list("n[01-03,7],login") == names{"n01", "n02", "n03", "n7", "login"});
    CHECK(detail::nodes_of_list("r[1-2]n[8-10]x") == names{"r1n8x", "r1n9x", "r1n10x", "r2n8x", "r2n9x", "r2n10x"});
    CHECK(detail::nodes_of_list("") == names{});
    CHECK(detail::counts_of_list("2(x3),1") == std::vector{2, 2, 2, 1});
    CHECK_THROWS_AS(detail::nodes_of_list("n[1-"), invalid_argument);
    CHECK_THROWS_AS(detail::nodes_of_list("n[1-2000000000]"), invalid_argument);
    CHECK_THROWS_AS(detail::counts_of_list("1(x2000000000)"), invalid_argument);
    CHECK_THROWS_AS(detail::counts_of_list("a"), invalid_argument);
}

TEST_CASE("launchers: Slurm and mpirun give numbers to processes") {
    const variables slurm{
        {"SLURM_PROCID", "3"}, {"SLURM_JOB_NODELIST", "n[1-2],m"}, {"SLURM_TASKS_PER_NODE", "2(x2),1"}};
    const auto t = read(slurm, {.ps = 1, .port = 10});
    CHECK(t.job == "worker");
    CHECK(t.task == 2);
    CHECK(t.cluster.digest() ==
          cluster_spec{{"ps", {"n1:10"}}, {"worker", {"n1:11", "n2:10", "n2:11", "m:10"}}}.digest());
    auto other = slurm;
    other["SLURM_STEP_TASKS_PER_NODE"] = "1";
    CHECK_THROWS_AS(read(other), invalid_argument);
    const auto first = read({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, {.ps = 1, .port = 7});
    CHECK(first.job == "ps");
    CHECK(first.cluster.tasks("worker") == std::vector<std::string>{"127.0.0.1:8"});
    const variables far{
        {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
    CHECK_THROWS_WITH(read(far), contains("RILL_RENDEZVOUS"));
    CHECK_THROWS_AS(read({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), invalid_argument);
    CHECK_THROWS_AS(read({}), not_found);
}

TEST_CASE("launchers: processes meet, and a missing one is named") {
#if RILL_WITH_ZMQ
    const auto at = free_addresses(1)[0];
#else
    const std::string at = "test_launchers/meeting";
#endif
    std::vector<std::vector<std::string>> got(3);
    std::vector<std::thread> all;
    for (const int rank : {2, 1, 0})
        all.emplace_back([&, rank] {
            got[static_cast<std::size_t>(rank)] =
                detail::exchange_addresses(at, rank, 3, "host" + std::to_string(rank), {});
        });
    for (auto& t : all) t.join();
    for (const auto& g : got) CHECK(g == std::vector<std::string>{"host0", "host1", "host2"});
    CHECK_THROWS_WITH(detail::exchange_addresses(at, 0, 3, "host0", {.wait = std::chrono::milliseconds(1)}),
                      contains("1, 2"));
    CHECK_THROWS_AS(detail::exchange_addresses(at, 1, 3, "host1", {.wait = std::chrono::milliseconds(1)}),
                    deadline_exceeded);
}

} // namespace test_launchers
