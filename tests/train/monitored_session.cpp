// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/monitored_session.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <rill/core/log.hpp>
#include <rill/core/text_file.hpp>
#include <rill/io/summary_messages.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/io/wire.hpp>
#include <rill/ops/control/host_call.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/queue/queue_runner.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/summary/scalar_summary.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"
#include "io/decorated_files.hpp"
#include "io/temporary.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_monitored_session {

struct training {
    graph g;
    graph_scope here{g};
    variable<std::int64_t> global_step = get_or_create_global_step();
    variable<float, 2> w{"w", {1.f, 2.f}};
    tensor<float> loss = reduce_sum(w * w);
    operation train = gradient_descent(0.1f).minimize(loss, global_step);
};

/// The steps of the START events, which tell that a run goes on, in the files of a directory.
std::vector<std::int64_t> starts_in(const std::string& directory) {
    std::vector<std::int64_t> all;
    for (const auto& name : file_system::real().list(directory)) {
        const auto bytes = detail::read_whole(file_system::real(), directory + "/" + name, 1 << 20);
        for (const auto event : detail::tf_records(bytes)) {
            std::int64_t step = 0;
            bool starts = false;
            for (detail::wire_reader from(event); !from.empty();) {
                const auto f = from.next_field();
                if (f.number == 2) step = static_cast<std::int64_t>(f.value);
                if (f.number == detail::event_session_log) starts = f.bytes == std::string_view("\x08\x01", 2);
            }
            if (starts) all.push_back(step);
        }
    }
    return all;
}

} // namespace test_monitored_session

TEST_CASE("monitored_session: initialises, trains to a step, saves, restores and goes on") {
    const io_test::temporary_directory here;
    xt::xtensor<float, 1> whole;
    {
        test_monitored_session::training t;
        monitored_session m({.stop_at_step = 10});
        while (!m.should_stop()) m.run(t.train);
        CHECK(m.global_step() == 10);
        CHECK_THROWS_AS(m.run(t.train), failed_precondition);
        whole = m.session().run(t.w);
    }
    {
        test_monitored_session::training t;
        scalar_summary("loss", t.loss);
        monitored_session m(
            {.checkpoint_dir = here / "run", .summary_dir = here / "logs", .stop_at_step = 4, .summary_steps = 2});
        while (!m.should_stop()) {
            const auto [value] = m.run(std::tuple(t.loss, t.train));
            CHECK(value > 0);
        }
    }
    CHECK(checkpoints_in(here / "run").size() == 1);
    const auto logs = file_system::real().list(here / "logs");
    REQUIRE(logs.size() == 1);
    const auto events = detail::read_whole(file_system::real(), here / "logs/" + logs[0], 1 << 20);
    CHECK(detail::tf_records(events).size() == 1 + 1 + 2); // version, graph, steps 1 and 3
    {
        test_monitored_session::training t;
        monitored_session m({.checkpoint_dir = here / "run", .stop_at_step = 10});
        CHECK(m.global_step() == 4);
        while (!m.should_stop()) {
            CHECK(m.run(t.loss) > 0);
            m.run(t.train);
        }
        CHECK((m.session().run(t.w) == whole));
    }
    test_monitored_session::training t;
    monitored_session m({.checkpoint_dir = here / "run", .stop_at_step = 10});
    CHECK(m.should_stop()); // nothing is left to do
}

TEST_CASE("monitored_session: the end of the input ends it quietly, a stopped runner's error does not") {
    test_monitored_session::training t;
    const fifo_queue<tensor<float>> q({.capacity = 4});
    const variable<int> next("next", 0, {.trainable = false, .local = true});
    const auto put = q.enqueue(cast<float>(next.count_up_to(5)));
    add_queue_runner(q, {put});
    const tensor<float> got = q.dequeue();
    const operation step = group(operation(got.node()), t.train);
    monitored_session m;
    int steps = 0;
    while (!m.should_stop()) {
        m.run(step);
        ++steps;
    }
    CHECK(steps == 6); // the sixth finds nothing
    CHECK(m.global_step() >= 5);
    m.close();
    m.close();
}

TEST_CASE("monitored_session: unavailable opens a new session from the last checkpoint, other errors end it") {
    const io_test::temporary_directory here;
    test_monitored_session::training t;
    int calls = 0;
    const operation fails = host_call([&] {
        if (++calls == 3) throw unavailable("the task is gone");
        if (calls == 6) throw invalid_argument("a fault");
    });
    const operation step = group(t.train, fails);
    {
        monitored_session m({.checkpoint_dir = here / "run", .save_steps = 1});
        std::vector<std::int64_t> steps;
        for (int i = 0; i < 4; ++i) {
            m.run(step);
            steps.push_back(m.global_step());
        }
        CHECK(steps.back() >= 3);
        CHECK(calls == 5);
        CHECK_THROWS_AS(m.run(step), invalid_argument);
        CHECK(m.should_stop());
    }
    CHECK_FALSE(latest_checkpoint(here / "run").empty());
}

TEST_CASE("monitored_session: signals, hooks of the user's, and variables that nothing initialises") {
    struct watcher final : session_hook {
        int begun = 0, created = 0, runs = 0, ended = 0;
        any_tensor asked;
        float last = 0;
        void begin() override { ++begun; }
        void after_create_session(const session&) override { ++created; }
        std::vector<any_tensor> before_run(std::int64_t) override { return {asked}; }
        void after_run(const step_info&, const std::vector<any_array>& values) override {
            ++runs;
            last = values.at(0).value<float>();
        }
        void end(const session&) override { ++ended; }
    };
    test_monitored_session::training t;
    const auto mine = std::make_shared<watcher>();
    mine->asked = t.loss;
    {
        monitored_session m({.hooks = {mine}});
        m.run(t.train);
        CHECK(mine->last == 5);
        std::raise(SIGTERM);
        CHECK(m.should_stop());
    }
    {
        monitored_session m;
        CHECK_FALSE(m.should_stop()); // an earlier signal was for an earlier session
        std::raise(SIGINT);
        CHECK(m.should_stop());
    }
    CHECK(mine->begun == 1);
    CHECK(mine->created == 1);
    CHECK(mine->runs == 1);
    CHECK(mine->ended == 1);
    const variable<float> lost("lost", 1.f, {.collections = {}});
    CHECK_THROWS_WITH(monitored_session({.hooks = {}}), contains("without a value after the initializers: 'lost'"));
    CHECK_THROWS_AS(monitored_session({.is_chief = false, .chief_timeout = std::chrono::milliseconds(1)}),
                    deadline_exceeded);
}

TEST_CASE("monitored_session: waits for the chief in the time of its session's environment") {
    virtual_environment world(1);
    const auto begin = world.now();
    test_monitored_session::training t;
    CHECK_THROWS_WITH(monitored_session({.is_chief = false,
                                         .chief_timeout = std::chrono::minutes(10),
                                         .session = {.inter_op_threads = 0, .intra_op_threads = 0, .environment = &world}}),
                      contains("the chief has not initialised the variables") && contains("'w'"));
    CHECK(world.now() - begin >= std::chrono::minutes(10)); // and nobody has slept
}

TEST_CASE("monitored_session: the event file of a run that goes on tells TensorBoard to drop later steps") {
    const io_test::temporary_directory here;
    const auto run_to = [&](std::int64_t last) {
        test_monitored_session::training t;
        scalar_summary("loss", t.loss);
        monitored_session m({.checkpoint_dir = here / "run",
                             .summary_dir = here / ("logs" + std::to_string(last)),
                             .stop_at_step = last,
                             .summary_steps = 1});
        while (!m.should_stop()) m.run(t.train);
    };
    run_to(4);
    CHECK(test_monitored_session::starts_in(here / "logs4").empty());
    run_to(6);
    CHECK(test_monitored_session::starts_in(here / "logs6") == std::vector<std::int64_t>{5}); // the first of its own
    test_monitored_session::training t; // a session that is opened anew goes back as well
    int calls = 0;
    const operation fails = host_call([&] {
        if (++calls == 2) throw unavailable("the task is gone");
    });
    const operation step = group(t.train, fails);
    {
        monitored_session m({.checkpoint_dir = here / "run", .summary_dir = here / "logs", .save_steps = 1});
        for (int i = 0; i < 3; ++i) m.run(step);
    }
    const auto starts = test_monitored_session::starts_in(here / "logs");
    REQUIRE(starts.size() == 2);
    CHECK(starts[0] == 7);
    CHECK(starts[1] >= 7);
}

TEST_CASE("monitored_session: an error of the thread that saves ends it at a later step, the last checkpoint stays") {
    const io_test::temporary_directory here;
    std::atomic<bool> is_full{false};
    io_test::decorated_files files([&](const char* operation, const std::string& path) {
        if (is_full && operation == std::string_view("write")) detail::refuse_file("write '" + path + "'", ENOSPC);
    });
    test_monitored_session::training t;
    std::string kept;
    {
        const auto keep = std::make_shared<saver>(saver_options{.files = &files});
        monitored_session m({.checkpoint_dir = here / "run", .save_steps = 2, .scaffold = {.saver = keep}});
        for (int i = 0; i < 3; ++i) m.run(t.train);
        keep->wait();
        kept = latest_checkpoint(here / "run");
        CHECK(kept.find("-0000000003-") != std::string::npos);
        is_full = true;
        const auto run_on = [&] {
            for (int i = 0; i < 1'000'000; ++i) { // the save ends some time
                m.run(t.train);
                std::this_thread::yield();
            }
        };
        CHECK_THROWS_AS(run_on(), resource_exhausted);
        CHECK(m.should_stop());
    }
    CHECK(latest_checkpoint(here / "run") == kept);
}

TEST_CASE(
    "monitored_session: a scaffold says how it begins: initializer, function, local initializer, saver, summary") {
    const io_test::temporary_directory here;
    for (const bool resumed : {false, true}) {
        test_monitored_session::training t;
        const variable<float> mine("mine", 1.f, {.collections = {}}), set("set", 0.f); // only `init` gives mine a value
        const variable<float> local("local", 0.f, {.trainable = false, .local = true});
        const operation init = group(global_variables_initializer(), mine.assign(5.f));
        int calls = 0;
        const auto keep = std::make_shared<saver>(saver_options{.max_to_keep = 2});
        monitored_session m({.checkpoint_dir = here / "run",
                             .summary_dir = here / "logs",
                             .save_steps = 1,
                             .scaffold = {.init = init,
                                          .init_fn =
                                              [&](const session& s) {
                                                  ++calls;
                                                  CHECK(s.run(mine) == 5); // after the initializer
                                                  s.run(set.assign(7.f));
                                              },
                                          .local_init = local.assign(3.f),
                                          .saver = keep,
                                          .summary = scalar_summary("alone", t.loss)}});
        CHECK(calls == (resumed ? 0 : 1));
        CHECK(m.session().run(mine) == (resumed ? 6 : 5));
        CHECK(m.session().run(set) == 7);
        CHECK(m.session().run(local) == 3); // in each run
        m.session().run(mine.assign(6.f));
        m.run(t.train);
        m.run(t.train);
        m.close();
        CHECK(keep->last_checkpoints().size() == (resumed ? 2u : 1u)); // an earlier run's is adopted
    }
    std::string events;
    for (const auto& name : file_system::real().list(here / "logs"))
        events += detail::read_whole(file_system::real(), here / ("logs/" + name), 1 << 20);
    CHECK(events.find("alone") != std::string::npos);
}

TEST_CASE("monitored_session: a checkpoint each so much time") {
    const io_test::temporary_directory here;
    virtual_environment world(1);
    test_monitored_session::training t;
    const auto keep = std::make_shared<saver>();
    monitored_session m({.checkpoint_dir = here / "run",
                         .save_every = std::chrono::milliseconds(20),
                         .scaffold = {.saver = keep},
                         .session = {.inter_op_threads = 0, .intra_op_threads = 0, .environment = &world}});
    m.run(t.train);
    keep->wait();
    CHECK(latest_checkpoint(here / "run").empty());
    world.sleep(std::chrono::milliseconds(30));
    m.run(t.train);
    keep->wait();
    CHECK(latest_checkpoint(here / "run").find("-0000000002-") != std::string::npos);
}
