// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/device_set.hpp>

#include <string>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_device_set {

const memory_space left{"test_pair:0"}, right{"test_pair:1"};

/// A type of device with two memories.
inline const device_type& pair() {
    static const device_type type{"test_pair", {&left, &right}};
    register_device(type);
    return type;
}

inline std::vector<std::string> names_of(const device_set& all, const std::string& type) {
    std::vector<std::string> names;
    for (const auto* d : all.all())
        if (d->type->name == type) names.push_back(to_string(d->full));
    return names;
}

} // namespace test_device_set

TEST_CASE("device_set: one device of each type, or as many as requested, under their names") {
    using namespace test_device_set;
    using names = std::vector<std::string>;
    pair();
    const std::string here = "/job:localhost/replica:0/task:0/device:";
    const device_set usual;
    CHECK(names_of(usual, "cpu") == names{here + "cpu:0"});
    CHECK(names_of(usual, "test_pair") == names{here + "test_pair:0"});
    CHECK(usual.all().front() == &usual.cpu());
    const device_set many({{"cpu", 3}, {"test_pair", 2}});
    CHECK(names_of(many, "cpu") == names{here + "cpu:0", here + "cpu:1", here + "cpu:2"});
    CHECK(names_of(many, "test_pair") == names{here + "test_pair:0", here + "test_pair:1"});
    const device_set of_a_task({}, {"worker", 0, 2, "", -1});
    CHECK(to_string(of_a_task.cpu().full) == "/job:worker/replica:0/task:2/device:cpu:0");
}

TEST_CASE("device_set: CPUs share the host's memory, other devices have one each") {
    using namespace test_device_set;
    pair();
    const device_set all({{"cpu", 2}, {"test_pair", 2}});
    CHECK(all.find(parse_device("/cpu:1"))->space == nullptr);
    CHECK(all.find(parse_device("/test_pair:0"))->space == &left);
    CHECK(all.find(parse_device("/test_pair:1"))->space == &right);
}

TEST_CASE("device_set: a device is found by any parts of its name") {
    using namespace test_device_set;
    const device_set all({{"cpu", 2}});
    CHECK(all.find({}) == &all.cpu());
    CHECK(all.find(parse_device("/cpu:1"))->index == 1);
    CHECK(all.find(parse_device("/cpu")) == &all.cpu());
    CHECK(all.find(parse_device("/job:localhost/task:0/device:cpu:1"))->index == 1);
    for (const auto* none : {"/cpu:2", "/nothing:0", "/job:ps/cpu:0", "/replica:1", "/task:1"}) {
        INFO(none);
        CHECK(all.find(parse_device(none)) == nullptr);
    }
    CHECK(all.first(cpu_device()) == &all.cpu());
    const device_type late{"test_registered_never"};
    CHECK(all.first(late) == nullptr);
}

TEST_CASE("device_set: wrong numbers of devices are refused in words") {
    using namespace test_device_set;
    pair();
    const auto refused = [](const device_counts& counts) { CHECK_THROWS_AS(device_set(counts), invalid_argument); };
    refused({{"test_nowhere", 1}});
    refused({{"cpu", 0}});
    refused({{"cpu", -1}});
    refused({{"cpu", 2}, {"cpu", 3}});
    refused({{"test_pair", 3}});
    CHECK_THROWS_WITH(device_set({{"test_nowhere", 1}}), contains("'test_nowhere'") && contains("cpu"));
    CHECK_THROWS_WITH(device_set({{"test_pair", 3}}), contains("3 devices") && contains("there are 2"));
    CHECK_THROWS_WITH(device_set({{"cpu", 2}, {"cpu", 3}}), contains("twice"));
}

TEST_CASE("device_set: a session's choice of devices") {
    using namespace test_device_set;
    static const device_type chooser{.name = "test_chooser",
                                     .spaces = {&left, &right},
                                     .chosen_spaces = [](const device_type& type, const gpu_options& options) {
                                         std::vector<const memory_space*> all;
                                         for (const int i : options.visible_devices)
                                             all.push_back(type.spaces[static_cast<std::size_t>(i)]);
                                         return all;
                                     }};
    register_device(chooser);
    pair();
    const device_name here{"localhost", 0, 0, "", -1};
    const device_set usual({}, here, {.memory_fraction = 0.5});
    CHECK(names_of(usual, "test_chooser").size() == 1); // the options choose no devices
    const gpu_options turned{.visible_devices = {1, 0}};
    const device_set both({}, here, turned);
    REQUIRE(names_of(both, "test_chooser").size() == 2);
    CHECK(both.find(parse_device("/test_chooser:0"))->space == &right);
    CHECK(both.find(parse_device("/test_chooser:1"))->space == &left);
    CHECK(names_of(both, "test_pair").size() == 1); // this type ignores the options
    CHECK(names_of(device_set({{"test_chooser", 1}}, here, turned), "test_chooser").size() == 1);
    CHECK_THROWS_WITH(device_set({{"test_chooser", 2}}, here, {.visible_devices = {1}}),
                      contains("2 devices of type 'test_chooser' are requested, there are 1"));
}

TEST_CASE("device_set: of several tasks") {
    const std::vector<device_name> tasks{{"worker", 0, 1, "", -1}, {"ps", 0, 0, "", -1}};
    const device_set all({{"cpu", 2}}, tasks);
    CHECK(test_device_set::names_of(all, "cpu") == std::vector<std::string>{"/job:worker/replica:0/task:1/device:cpu:0",
                                                                            "/job:worker/replica:0/task:1/device:cpu:1",
                                                                            "/job:ps/replica:0/task:0/device:cpu:0",
                                                                            "/job:ps/replica:0/task:0/device:cpu:1"});
    CHECK(to_string(all.cpu().full) == "/job:worker/replica:0/task:1/device:cpu:0");
    const auto* last = all.find(parse_device("/job:ps/cpu:1"));
    REQUIRE(last);
    CHECK(to_string(last->full) == "/job:ps/replica:0/task:0/device:cpu:1");
}
