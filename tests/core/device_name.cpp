// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/device_name.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("device name: full, partial and short forms") {
    const device_name full{"ps", 0, 1, "cpu", 0};
    CHECK(parse_device("/job:ps/replica:0/task:1/device:cpu:0") == full);
    CHECK(to_string(full) == "/job:ps/replica:0/task:1/device:cpu:0");
    CHECK(parse_device("/gpu:1") == device_name{"", -1, -1, "gpu", 1});
    CHECK(parse_device("/device:GPU:12") == device_name{"", -1, -1, "gpu", 12});
    CHECK(parse_device("/task:3/job:worker") == device_name{"worker", -1, 3, "", -1});
    CHECK(parse_device("") == device_name{});
    CHECK(to_string(device_name{}).empty());
}

TEST_CASE("device name: a star, or a part left out, constrains nothing") {
    CHECK(parse_device("/job:*/replica:*/task:*/device:cpu:*") == parse_device("/cpu"));
    CHECK(parse_device("/device:cpu").index == -1);
    CHECK(to_string(parse_device("/cpu")) == "/device:cpu");
}

TEST_CASE("device name: what is printed is read back") {
    for (const auto* text : {"/job:ps", "/task:7", "/job:a-b_c/device:gpu", "/replica:2/device:cpu:3"})
        CHECK(to_string(parse_device(text)) == text);
}

TEST_CASE("device name: in a log, types are in capitals") {
    CHECK(logged_name(parse_device("/job:ps/task:1/cpu:2")) == "/job:ps/task:1/device:CPU:2");
}

TEST_CASE("device name: as the name of a file in the working folder") {
    CHECK(file_name_of("/job:ps/replica:0/task:1/device:cpu:0") == "job:ps_replica:0_task:1_device:cpu:0");
    CHECK(file_name_of("../../etc/x").find('/') == std::string::npos); // a name that came by the wire
    CHECK(file_name_of("").empty());
}

TEST_CASE("device name: malformed ones are refused, and quoted") {
    for (const auto* text :
         {"cpu:0", "/", "//cpu:0", "/cpu:", "/cpu:x", "/cpu:-1", "/device:", "/device", "/device:cpu:0:1", "/task",
          "/task:", "/task:1a", "/replica:99999999999", "/job", "/job:", "/c p u:0", "/gpu:1/", "/ps:0:1"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_device(text), invalid_argument);
        CHECK_THROWS_WITH(parse_device(text), contains(std::string("'") + text + "'"));
    }
}

TEST_CASE("device name: the inner scope wins part by part, a device's type and number are one part") {
    const auto outer = parse_device("/job:ps/task:1/device:gpu:2");
    CHECK(to_string(merge(outer, parse_device("/task:3"))) == "/job:ps/task:3/device:gpu:2");
    CHECK(to_string(merge(outer, parse_device("/cpu"))) == "/job:ps/task:1/device:cpu");
    CHECK(merge(outer, {}) == outer);
    CHECK(merge({}, outer) == outer);
}
