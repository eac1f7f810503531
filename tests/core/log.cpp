// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/log.hpp>

#include <atomic>

#include "catch.hpp"

using namespace rill;

namespace test_log {
struct silence {
    ~silence() { set_log_sink({}); }
};
} // namespace test_log

TEST_CASE("log: silent unless there is a sink, and silent again without it") {
    const test_log::silence after;
    std::vector<std::pair<log_level, std::string>> heard;
    rill::log_message(log_level::error, "nobody listens");
    set_log_sink([&](log_level level, std::string_view text) { heard.emplace_back(level, text); });
    rill::log_message(log_level::warning, "careful");
    set_log_sink({});
    rill::log_message(log_level::error, "nobody listens");
    REQUIRE(heard.size() == 1);
    CHECK(heard[0] == std::pair(log_level::warning, std::string("careful")));
}

TEST_CASE("log: what a sink throws is dropped, a sink may log and replace itself") {
    const test_log::silence after;
    int calls = 0;
    set_log_sink([&](log_level, std::string_view) {
        ++calls;
        throw std::string("not even an exception");
    });
    CHECK_NOTHROW(rill::log_message(log_level::info, "x"));
    set_log_sink([&](log_level, std::string_view text) {
        ++calls;
        set_log_sink({});
        rill::log_message(log_level::info, text); // to the new sink: none
    });
    rill::log_message(log_level::info, "x");
    CHECK(calls == 2);
}

TEST_CASE("log: from many threads while the sink changes") {
    const test_log::silence after;
    std::atomic<int> heard{0};
    const auto count = [&](log_level, std::string_view) { ++heard; };
    set_log_sink(count);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; ++i) rill::log_message(log_level::info, "x");
        });
    for (int i = 0; i < 100; ++i) set_log_sink(count);
    for (auto& t : threads) t.join();
    CHECK(heard == 4000);
}
