// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/cluster_spec.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_cluster_spec {

TEST_CASE("cluster spec: jobs, tasks, addresses") {
    const cluster_spec c{{"ps", {"a:1"}}, {"worker", {"b:1", "c:1"}}};
    CHECK(c.tasks("worker") == std::vector<std::string>{"b:1", "c:1"});
    CHECK(c.address({"worker", 0, 1, "", -1}) == "c:1");
    CHECK_THROWS_AS(c.address({"worker", 0, 2, "", -1}), not_found);
    CHECK_THROWS_WITH(c.tasks("chief"), contains("'ps', 'worker'"));
    REQUIRE(c.all_tasks().size() == 3);
    CHECK(to_string(c.all_tasks()[2]) == "/job:worker/replica:0/task:1");
    CHECK(task_name("ps", 0) == "/job:ps/replica:0/task:0");
    CHECK(c.digest() != cluster_spec{{"ps", {"a:1"}}, {"worker", {"c:1", "b:1"}}}.digest());
    CHECK(c.digest() == cluster_spec(c.jobs()).digest());
}

TEST_CASE("cluster spec: descriptions that are refused") {
    CHECK_THROWS_AS((cluster_spec{{"ps", {"a:1"}}, {"ps", {"b:1"}}}), invalid_argument);
    CHECK_THROWS_AS((cluster_spec{{"ps", {"a:1", "a:1"}}}), invalid_argument);
    CHECK_THROWS_AS((cluster_spec{{"ps", {"a:1"}}, {"worker", {"a:1"}}}), invalid_argument);
    CHECK_THROWS_AS((cluster_spec{{"ps", {}}}), invalid_argument);
    CHECK_THROWS_AS((cluster_spec{{"a/b", {"a:1"}}}), invalid_argument);
    CHECK_THROWS_AS((cluster_spec{{"ps", {""}}}), invalid_argument);
}

} // namespace test_cluster_spec
