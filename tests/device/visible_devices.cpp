// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/visible_devices.hpp>

#include <deque>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_visible_devices {

const std::vector<std::size_t> two{1000, 800}; // bytes of two cards

/// Returns the names of the devices that options choose among two cards, with their limits.
std::vector<std::string> chosen(const gpu_options& options) {
    std::vector<std::string> all;
    for (const auto& d : visible_devices("card", options, two))
        all.push_back(d.name("card") + (d.part < 0 ? "" : ", " + std::to_string(d.limit)));
    return all;
}

TEST_CASE("visible devices: all, or those that are named, in that order") {
    using names = std::vector<std::string>;
    CHECK(chosen({}) == names{"card:0", "card:1"});
    CHECK(chosen({.visible_devices = {1, 0}}) == names{"card:1", "card:0"});
    CHECK(chosen({.visible_devices = {1}}) == names{"card:1"});
    CHECK_FALSE(gpu_options{.memory_fraction = 0.5}.choose_devices());
    CHECK(gpu_options{.visible_devices = {0}}.choose_devices());
    CHECK(gpu_options{.virtual_devices = {{1}}}.choose_devices());
}

TEST_CASE("visible devices: virtual ones divide a device, one without limits stays whole") {
    using names = std::vector<std::string>;
    CHECK(chosen({.virtual_devices = {{600, 400}}}) ==
          names{"virtual device 0 of card:0, 600", "virtual device 1 of card:0, 400", "card:1"});
    CHECK(chosen({.virtual_devices = {{}, {800}}}) == names{"card:0", "virtual device 0 of card:1, 800"});
    CHECK(chosen({.visible_devices = {1}, .virtual_devices = {{100, 200}}}) ==
          names{"virtual device 0 of card:1, 100", "virtual device 1 of card:1, 200"});
    const std::vector<std::size_t> unknown{0};
    CHECK(visible_devices("host", {.virtual_devices = {{~std::size_t(0), ~std::size_t(0)}}}, unknown).size() == 2);
}

TEST_CASE("visible devices: wrong options are refused with both numbers") {
    const auto words = [](const gpu_options& options) -> std::string {
        try {
            chosen(options);
        } catch (const invalid_argument& problem) {
            return problem.what();
        }
        return "accepted";
    };
    CHECK(words({.visible_devices = {0, 2}}) ==
          "gpu.visible_devices: device 2 of type 'card' is requested; there are 2, numbered from 0");
    CHECK(words({.visible_devices = {-1}}) ==
          "gpu.visible_devices: device -1 of type 'card' is requested; there are 2, numbered from 0");
    CHECK(words({.visible_devices = {1, 1}}) == "gpu.visible_devices: device 1 is named twice");
    CHECK(words({.visible_devices = {1}, .virtual_devices = {{1}, {1}}}) ==
          "gpu.virtual_devices has limits for 2 devices of type 'card', 1 are visible");
    CHECK(words({.virtual_devices = {{600, 401}}}) ==
          "gpu.virtual_devices: 600 + 401 bytes are requested on card:0, which has 1000");
    CHECK(words({.virtual_devices = {{600, ~std::size_t(0)}}}) ==
          "gpu.virtual_devices: 600 + 18446744073709551615 bytes are requested on card:0, which has 1000");
    CHECK(words({.virtual_devices = {{600, 0}}}) ==
          "gpu.virtual_devices: virtual device 1 of card:0 has a limit of 0 bytes; at least 1 is needed");
    CHECK(words({.memory_fraction = 0.5, .virtual_devices = {{600}}}) ==
          "gpu.memory_fraction is 0.500000, and gpu.virtual_devices have limits of their own; name one of the two");
}

TEST_CASE("visible devices: sessions with equal limits share a virtual device") {
    static int made = 0;
    made = 0;
    virtual_memories all([](const visible_device& d) -> const memory_space* {
        ++made;
        static auto& spaces = *new std::deque<memory_space>; // they live as long as the process
        return &spaces.emplace_back(memory_space{.name = d.name("card"), .bytes = d.limit});
    });
    const auto* const first = all.of({0, 1, 100});
    CHECK(first->name == "virtual device 1 of card:0");
    CHECK(all.of({0, 1, 100}) == first);
    CHECK(made == 1);
    for (const visible_device& other : {visible_device{1, 1, 100}, {0, 0, 100}, {0, 1, 101}})
        CHECK(all.of(other) != first);
    CHECK(made == 4);
}

} // namespace test_visible_devices
