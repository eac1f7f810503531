// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/session_hooks.hpp>

#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

#if defined(__unix__)
#include <unistd.h>
#endif

#include <rill/core/log.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/summary/scalar_summary.hpp>
#include <rill/summary/merged_summaries.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"
#include "io/temporary.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_session_hooks {

/// Calls a hook as a monitored session does, for steps first, first + 1, … below last. Returns the step after which it asked for a stop, or -1.
std::int64_t drive(const session& s, session_hook& hook, std::int64_t first, std::int64_t last,
                   const std::function<any_array(const any_tensor&)>& value) {
    hook.begin();
    hook.after_create_session(s);
    for (auto step = first; step < last; ++step) {
        std::vector<any_array> values;
        for (const auto& asked : hook.before_run(step)) values.push_back(value(asked));
        bool stop = false;
        hook.after_run(step_info(s, step + 1, stop), values);
        if (stop) return step + 1;
    }
    hook.end(s);
    return -1;
}

} // namespace test_session_hooks

TEST_CASE("session_hooks: stop at a step, guard against NaN, log numbers, count steps") {
    const graph g;
    const graph_scope here(g);
    const tensor<float> loss = constant(0.5f);
    const session s(g);
    float now = 0.5f;
    const auto value = [&](const any_tensor&) { return io_test::array_of<float>({}, {now}); };
    CHECK(test_session_hooks::drive(s, *stop_at_step(7), 0, 20, value) == 7);
    CHECK(test_session_hooks::drive(s, *nan_guard(loss), 0, 3, value) == -1);
    std::vector<std::string> lines;
    set_log_sink([&](log_level, std::string_view line) { lines.emplace_back(line); });
    CHECK(test_session_hooks::drive(s, *logging_hook({{"loss", loss}}, {.steps = 2}), 10, 15, value) == -1);
    CHECK(lines == std::vector<std::string>{"step 11, loss = 0.5", "step 13, loss = 0.5", "step 15, loss = 0.5"});
    lines.clear();
    CHECK(test_session_hooks::drive(s, *step_counter_hook({.steps = 4}), 0, 9, value) == -1);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with("global_step/sec: "));
    now = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_WITH(test_session_hooks::drive(s, *nan_guard(loss), 0, 3, value), contains("is NaN after step 1"));
    CHECK(test_session_hooks::drive(s, *nan_guard(loss, false), 0, 3, value) == 1);
    set_log_sink({});
    for (const bool is_nan : {false, true}) { // a loss of a narrow type
        const auto narrow = [&](const any_tensor&) {
            return io_test::array_of<half>({}, {half(is_nan ? std::numeric_limits<float>::quiet_NaN() : 1.f)});
        };
        CHECK(test_session_hooks::drive(s, *nan_guard(loss, false), 0, 3, narrow) == (is_nan ? 1 : -1));
    }
    CHECK_THROWS_AS(nan_guard(any_tensor()), invalid_argument);
    CHECK_THROWS_AS(summary_saver_hook(nullptr, loss, {}), invalid_argument);
}

TEST_CASE("session_hooks: summaries and checkpoints when they are due, and at the end") {
    io_test::model_files files;
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 1.f);
    const any_tensor summary = scalar_summary("w", w);
    const session s(g);
    s.run(global_variables_initializer());
    const auto value = [&](const any_tensor& asked) { return s.run(asked); };
    const auto log = std::make_shared<event_writer>("logs", event_writer_options{.files = &files});
    test_session_hooks::drive(s, *summary_saver_hook(log, summary, {.steps = 3}), 0, 8, value);
    CHECK(detail::tf_records(files.contents(log->path())).size() == 1 + 3); // after steps 1, 4, 7
    const auto keep = std::make_shared<saver>(saver_options{.max_to_keep = 0, .files = &files});
    test_session_hooks::drive(s, *checkpoint_saver_hook("run", {.steps = 3}, keep), 0, 8, value);
    std::vector<std::int64_t> steps;
    for (const auto& c : checkpoints_in("run", files)) steps.push_back(c.step);
    CHECK(steps == std::vector<std::int64_t>{8, 7, 4});
}

TEST_CASE("session_hooks: due by the clock of an environment") {
    io_test::model_files files;
    virtual_environment world(1);
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    const auto keep = std::make_shared<saver>(saver_options{.max_to_keep = 0, .files = &files});
    const every hour{.time = std::chrono::hours(1), .environment = &world};
    const auto hook = checkpoint_saver_hook("run", hour, keep);
    std::vector<std::string> lines;
    set_log_sink([&](log_level, std::string_view line) { lines.emplace_back(line); });
    const auto counter = step_counter_hook(hour);
    for (std::int64_t step = 1; step <= 8; ++step) {
        bool stop = false;
        hook->after_run(step_info(s, step, stop), {});
        counter->after_run(step_info(s, step, stop), {});
        world.sleep(std::chrono::minutes(20));
    }
    hook->end(s);
    set_log_sink({});
    std::vector<std::int64_t> steps;
    for (const auto& c : checkpoints_in("run", files)) steps.push_back(c.step);
    CHECK(steps == std::vector<std::int64_t>{8, 7, 4}); // an hour is three steps
    CHECK(lines == std::vector<std::string>(2, "global_step/sec: 0.000833333"));
}

#if defined(__unix__)
TEST_CASE("session_hooks: the bar of a known number of steps grows to its end") {
    const io_test::temporary_directory files;
    const graph g;
    const graph_scope here(g);
    const tensor<float> loss = constant(0.5f);
    const session s(g);
    set_log_sink([](log_level, std::string_view) {});
    const auto text = [&] {
        std::fflush(stderr);
        const int kept = dup(2);
        std::FILE* const to = std::fopen((files / "bar").c_str(), "w");
        REQUIRE(to);
        dup2(fileno(to), 2);
        test_session_hooks::drive(s, *logging_hook({{"loss", loss}}, {.steps = 5}, 10), 0, 10,
                                  [](const any_tensor&) { return io_test::array_of<float>({}, {0.5f}); });
        std::fflush(stderr);
        dup2(kept, 2);
        close(kept);
        std::fclose(to);
        return detail::read_whole(file_system::real(), files / "bar", 10000);
    }();
    set_log_sink({});
    const std::string first(27, '.'), second(12, '.');
    CHECK(text ==
          "\r[###" + first + "] step 1, loss = 0.5" + "\r[" + std::string(18, '#') + second + "] step 6, loss = 0.5");
}
#endif
