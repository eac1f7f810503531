// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/cluster_json.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_cluster_json {

TEST_CASE("cluster json: a description and back") {
    const cluster_spec c{{"worker", {"b:1", "c:1"}}, {"ps", {"a:1"}}};
    CHECK(cluster_from_json(to_json(c)).digest() == c.digest());
    CHECK(cluster_from_json(R"({"ps": ["10.0.0.1:2222"]})").tasks("ps").at(0) == "10.0.0.1:2222");
}

TEST_CASE("cluster json: texts that are refused") {
    for (const auto* text :
         {"", "{", "[]", R"({"ps": "a:1"})", R"({"ps": [1]})", R"({"ps": []})", R"({"ps": ["a:1", "a:1"]})"}) {
        INFO(text);
        CHECK_THROWS_AS(cluster_from_json(text), invalid_argument);
    }
}

} // namespace test_cluster_json
