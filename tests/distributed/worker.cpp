// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/worker.hpp>

#include <rill/distributed.hpp>
#include <rill/distributed/run_by_names.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/exchange/send.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"
#include "distributed/simulator.hpp"
#include "seeds.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_worker {

using namespace rill::detail;

struct fixture {
    virtual_environment time{1};
    local_network net{time};
    std::shared_ptr<peer_channels> peers = std::make_shared<peer_channels>(
        cluster_spec{{"ps", {"p"}}, {"worker", {"w"}}}, task_identity{"/job:worker/replica:0/task:0", 7, "digest"},
        net.join(), time, health_options{});
    std::shared_ptr<worker> w = std::make_shared<worker>(peers, default_allocator());

    /// Returns the code of the answer to a request.
    error_code ask(incoming_request r) {
        auto code = error_code::unknown;
        r.given_up = std::make_shared<cancellation>();
        try {
            w->handle(r, [&](const std::exception_ptr& problem, const wire_answer&) {
                code = problem ? described(problem).first : error_code::ok;
            });
        } catch (const error& e) {
            return e.code();
        }
        time.run();
        return code;
    }
};

TEST_CASE("worker: requests that do not fit are refused by their code") {
    fixture f;
    CHECK(f.ask({.method = wire_method::status}) == error_code::ok);
    CHECK(f.ask({.method = static_cast<wire_method>(99)}) == error_code::unimplemented);
    CHECK(f.ask({.method = wire_method::run_part, .meta = "?"}) == error_code::data_loss);
    CHECK(f.ask({.method = wire_method::register_run}) == error_code::data_loss);
    CHECK(f.ask({.method = wire_method::register_run, .payload = {message_part(std::string("no graph"))}}) ==
          error_code::data_loss);
    CHECK(f.ask({.method = wire_method::run_part, .meta = bytes_of_meta(step_meta{.run = 1, .step = 1})}) ==
          error_code::aborted);
    incoming_request push{.method = wire_method::push};
    push_meta meta{1, 1, 0, 0, encode_tensor(any_array(dtype::float32, {2}), push.payload)};
    push.meta = bytes_of_meta(meta);
    CHECK(f.ask(push) == error_code::aborted); // of a session that the task does not know
    meta.value.bytes = 4;
    push.meta = bytes_of_meta(meta);
    CHECK(f.ask(push) == error_code::data_loss);
}

TEST_CASE("worker: a part has as many devices as its session asks for") {
    fixture f;
    const graph g;
    const graph_scope use(g);
    const device_scope second("/cpu:1");
    const variable<float> w("w", 1.f);
    const auto code_with = [&](const wire_counts& counts) {
        return f.ask(
            {.method = wire_method::register_run,
             .meta = bytes_of_meta(register_meta{.run = 1, .names = {.fetches = {"w:0"}}, .device_count = counts}),
             .payload = {message_part(bytes_of(save_graph(g)))},
             .caller = "/job:ps/replica:0/task:0"});
    };
    CHECK(code_with({{"cpu", 2}}) == error_code::ok);
    CHECK(code_with({{"cpu", 2}, {"not of this process", 4}}) == error_code::ok); // of the master's
    for (const auto& wrong : {wire_counts{}, wire_counts{{"cpu", 1}}, wire_counts{{"cpu", 0}}, wire_counts{{"cpu", -3}},
                              wire_counts{{"cpu", 2'000'000'000}}, wire_counts{{"cpu", 2}, {"cpu", 2}}})
        CHECK(code_with(wrong) == error_code::invalid_argument);
}

TEST_CASE("worker: a reset and the end of a session that is not there do nothing") {
    fixture f;
    CHECK(f.ask({.method = wire_method::reset, .meta = bytes_of_meta(names_meta{{"a"}})}) == error_code::ok);
    CHECK(f.ask({.method = wire_method::close_session}) == error_code::ok);
    CHECK(f.ask({.method = wire_method::abort_step, .meta = bytes_of_meta(abort_meta{3, 1, "why"})}) == error_code::ok);
    f.w->close();
    CHECK(f.ask({.method = wire_method::run_part, .meta = bytes_of_meta(step_meta{})}) == error_code::unavailable);
}

TEST_CASE("worker: a session whose master is gone is closed") {
    fixture f;
    std::string bytes;
    {
        graph g;
        graph_scope use(g);
        const variable<float> w("w", 1.f);
        bytes = bytes_of(save_graph(g));
    }
    incoming_request r{.method = wire_method::register_run,
                       .meta = bytes_of_meta(register_meta{.run = 1, .names = {.fetches = {"w:0"}}}),
                       .payload = {message_part(bytes)},
                       .caller = "/job:ps/replica:0/task:0", // which nobody has started
                       .caller_incarnation = 5,
                       .given_up = std::make_shared<cancellation>()};
    auto code = error_code::unknown;
    f.w->handle(r, [&](const std::exception_ptr& problem, const wire_answer&) {
        code = problem ? described(problem).first : error_code::ok;
    });
    f.time.sleep(std::chrono::seconds(50));
    CHECK(code == error_code::ok);
    CHECK(f.w->sessions() == 1);
    f.time.run();
    CHECK(f.w->sessions() == 0);
}

TEST_CASE("worker: a session that its master does not know is closed, also where the message that closed it was lost") {
    fixture f;
    server master(cluster_spec{{"ps", {"p"}}, {"worker", {"w"}}}, "ps", 0,
                  {.net = f.net.join(), .environment = &f.time});
    graph g;
    f.w->register_run({1, 2}, {.run = 1}, bytes_of(save_graph(g)),
                      {"/job:ps/replica:0/task:0", master.incarnation(), ""});
    CHECK(f.w->sessions() == 1);
    f.time.sleep(std::chrono::seconds(200));
    CHECK(f.w->sessions() == 0);
    master.stop();
    f.time.run();
}

TEST_CASE("worker: a step begins once, with the feeds that its part takes") {
    fixture f;
    graph g;
    const graph_scope use(g);
    const placeholder<float, dyn> x("x");
    const tensor<float, dyn> y(x + 1.f);
    const fifo_queue<tensor<float>> queue({.capacity = 1});
    const tensor<float> waits = queue.dequeue();
    const session_number session{1, 2};
    f.w->register_run(session, {.run = 1, .names = names_of({.fetches = {y}, .targets = {}, .feeds = {x}})},
                      bytes_of(save_graph(g)), f.peers->self());
    f.w->register_run(session,
                      {.run = 2,
                       .names = names_of({.fetches = {waits}, .targets = {}, .feeds = {}}),
                       .progress_timeout = std::chrono::nanoseconds(std::chrono::hours(1)).count()},
                      bytes_of(save_graph(g)), f.peers->self());
    const auto run = [&](std::uint64_t part, std::uint64_t step, std::vector<any_array> feeds) {
        auto code = error_code::unknown; // of a step that has not ended
        f.w->run_part(session, {.run = part, .step = step}, std::move(feeds), environment::time_point::max(), nullptr,
                      [&](const std::exception_ptr& problem, const std::vector<any_array>&) {
                          code = problem ? described(problem).first : error_code::ok;
                      });
        f.time.settle(std::chrono::milliseconds(1));
        return code;
    };
    CHECK(run(1, 1, {}) == error_code::invalid_argument);
    CHECK(run(1, 1, {any_array(dtype::float32, {2}), any_array(dtype::float32, {2})}) == error_code::invalid_argument);
    CHECK(run(1, 1, {any_array(dtype::float64, {2})}) == error_code::invalid_argument);
    CHECK(run(1, 1, {any_array(dtype::float32, {2, 2})}) == error_code::invalid_argument);
    CHECK(run(1, 1, {any_array()}) == error_code::invalid_argument);
    CHECK(run(1, 1, {any_array(dtype::float32, {2})}) == error_code::ok);
    auto code = error_code::unknown;
    f.w->run_part(session, {.run = 2, .step = 2}, {}, environment::time_point::max(), nullptr,
                  [&](const std::exception_ptr& problem, const std::vector<any_array>&) {
                      code = problem ? described(problem).first : error_code::ok;
                  });
    f.time.settle(std::chrono::milliseconds(1));
    CHECK(code == error_code::unknown);
    CHECK(run(2, 2, {}) == error_code::already_exists);
    f.w->close();
    f.time.run();
    CHECK(code != error_code::unknown);
}

TEST_CASE("worker: values come from the task at the other end of their edge, and early ones have a limit") {
    fixture f;
    graph g;
    const graph_scope use(g);
    const placeholder<float> x("x");
    const tensor<float> y(x + 1.f);
    const session_number session{1, 2};
    const std::string ps = "/job:ps/replica:0/task:0", self = f.peers->self().name;
    f.w->register_run(session,
                      {.run = 1,
                       .names = names_of({.fetches = {y}, .targets = {}, .feeds = {x}}),
                       .sends = {{1, ps}},
                       .receives = {{0, ps}},
                       .edges = 2},
                      bytes_of(save_graph(g)), f.peers->self());
    int answered = 0;
    const auto push = [&](const std::string& caller, std::uint32_t edge, std::uint64_t step) {
        incoming_request r{.method = wire_method::push, .session = session, .caller = caller};
        r.given_up = std::make_shared<cancellation>();
        r.meta = bytes_of_meta(push_meta{1, step, edge, 0, encode_tensor(any_array(dtype::float32, {2}), r.payload)});
        const auto code = std::make_shared<error_code>(error_code::unknown); // of a value that lies there
        try {
            f.w->handle(r, [code, &answered](const std::exception_ptr& problem, const wire_answer&) {
                ++answered;
                *code = problem ? described(problem).first : error_code::ok;
            });
        } catch (const error& e) {
            return e.code();
        }
        return *code;
    };
    CHECK(push(self, 0, 1) == error_code::permission_denied);
    CHECK(push("client", 0, 1) == error_code::permission_denied);
    CHECK(push(ps, 1, 1) == error_code::data_loss); // it leaves the task
    CHECK(push(ps, 7, 1) == error_code::data_loss);
    for (std::size_t i = 0; i < channel::most_pushes; ++i) CHECK(push(ps, 0, 1 + i) == error_code::unknown);
    CHECK(push(ps, 0, 100'000) == error_code::resource_exhausted);
    CHECK(answered == 0);
    any_array value(dtype::float32, {});
    *static_cast<float*>(value.mutable_data()) = 1;
    f.w->run_part(session, {.run = 1, .step = 5}, {value}, environment::time_point::max(), nullptr,
                  [](const std::exception_ptr&, const std::vector<any_array>&) {});
    f.time.settle(std::chrono::milliseconds(1));
    CHECK(answered == 1); // the value of the step that has begun
    CHECK(push(ps, 0, 100'000) == error_code::unknown);
    f.w->close();
    CHECK(answered == static_cast<int>(channel::most_pushes) + 1);
    f.time.run();
}

TEST_CASE("worker: a task tells what its oldest step waits for") {
    fixture f;
    CHECK(f.w->progress().oldest.empty());
    graph g;
    const graph_scope use(g);
    const fifo_queue<tensor<float>> queue({.capacity = 1});
    const tensor<float> waits = queue.dequeue();
    const session_number session{1, 2};
    f.w->register_run(session,
                      {.run = 1,
                       .names = names_of({.fetches = {waits}, .targets = {}, .feeds = {}}),
                       .progress_timeout = std::chrono::nanoseconds(std::chrono::hours(1)).count()},
                      bytes_of(save_graph(g)), f.peers->self());
    const auto before = f.w->progress().progress;
    for (const std::uint64_t step : {4, 2}) {
        f.w->run_part(session, {.run = 1, .step = step}, {}, environment::time_point::max(), nullptr,
                      [](const std::exception_ptr&, const std::vector<any_array>&) {});
        f.time.settle(std::chrono::milliseconds(1));
    }
    CHECK(f.w->progress().oldest == "step 4 waits for no other task");
    const auto begun = f.w->progress().progress;
    CHECK(begun == before + 2);
    f.w->abort_step(session, 4, std::make_exception_ptr(cancelled("enough")));
    f.time.settle(std::chrono::milliseconds(1));
    CHECK(f.w->progress().oldest == "step 2 waits for no other task");
    CHECK(f.w->progress().progress == begun + 1);
    f.w->close();
    f.time.run();
}

TEST_CASE("worker: G24: a step whose last act is to send a value fails if the value is not sent") {
    fixture f;
    const std::string ps = "/job:ps/replica:0/task:0";
    graph g;
    const graph_scope use(g);
    const tensor x(constant(1.f));
    const auto* const sent = add_node(g, make_op(send_op{0, 0}), {x});
    const session_number session{1, 2};
    f.w->register_run(session, {.run = 1, .names = {.targets = {sent->name}}, .sends = {{0, ps}}, .edges = 1},
                      bytes_of(save_graph(g)), f.peers->self());
    f.peers->to(ps)->close(std::make_exception_ptr(resource_exhausted("out of memory"))); // as a call without memory
    auto code = error_code::unknown;
    f.w->run_part(session, {.run = 1, .step = 1}, {}, environment::time_point::max(), nullptr,
                  [&](const std::exception_ptr& problem, const std::vector<any_array>&) {
                      code = problem ? described(problem).first : error_code::ok;
                  });
    f.time.settle(std::chrono::milliseconds(1));
    CHECK(code == error_code::resource_exhausted);
    f.w->close();
    f.time.run();
}

/// A task of the cluster below: it hands the values that come to it to an exchange.
struct exchanging_task {
    exchanging_task(simulator::simulated_world& world, const cluster_spec& cluster, const std::string& job,
                    const std::vector<edge_meta>& sends, std::map<std::uint32_t, std::string> receives)
        : task(world.start(job)), net(std::make_shared<simulator::simulated_net>(world, task)) {
        const task_identity self{task_name(job, 0), (task.draw() >> 32) + 1, cluster.digest()};
        peers = std::make_shared<peer_channels>(cluster, self, net, task, health_options{});
        exchange = std::make_shared<wire_rendezvous>(
            wire_rendezvous::place{}, 1, wire_rendezvous::targets_of(sends), std::vector<std::uint64_t>(),
            std::move(receives), peers, [this](const std::exception_ptr& why) { problem = why; });
        answers =
            std::make_shared<responder>(net, task, self, health_options{},
                                        [to = exchange](const incoming_request& r, const answer_function& reply) {
                                            const auto meta = meta_of<push_meta>(r.meta);
                                            to->deliver(meta.edge, meta.sequence, decode_tensor(meta.value, r.payload));
                                            reply(nullptr, {});
                                        });
        answers->listen(cluster.address({job, 0, 0, "", -1}));
    }
    simulator::simulated_world::task& task;
    std::shared_ptr<transport> net;
    std::exception_ptr problem;
    std::shared_ptr<peer_channels> peers;
    std::shared_ptr<wire_rendezvous> exchange;
    std::shared_ptr<responder> answers;
};

std::string run_edge(std::uint64_t seed) {
    simulator::simulated_world world(
        seed, {.reset_one_in = seed % 2 ? std::size_t(40) : 0, .latency = std::chrono::milliseconds(seed % 3 * 20)});
    auto& draws = world.draws;
    const cluster_spec cluster{{"ps", {"ordered/ps"}}, {"worker", {"ordered/worker"}}};
    exchanging_task from(world, cluster, "worker", {{0, task_name("ps", 0)}}, {});
    exchanging_task to(world, cluster, "ps", {}, {{0, task_name("worker", 0)}});
    constexpr std::size_t values = 20;
    for (std::size_t i = 0; i < values; ++i)
        world.after(std::chrono::milliseconds(300 * i + draws(100)), [&, i] {
            constexpr index_t extents[] = {0, 1, 100, 40'000}; // without payload, in one message, in chunks
            from.exchange->send(0, any_array(dtype::float32, {static_cast<index_t>(i) + 1, extents[draws(4)]}));
        });
    const auto freezes = std::chrono::milliseconds(500 + draws(3000));
    world.after(freezes, [&] { world.freeze(to.task); });
    world.after(freezes + std::chrono::milliseconds(3000 + draws(1500)), [&] { world.thaw(to.task); });
    world.time.run();
    INFO((from.problem ? described(from.problem).second : ""));
    CHECK_FALSE(from.problem);
    for (std::size_t i = 0; i < values; ++i) {
        any_array value;
        CHECK((to.exchange->try_receive(0, value) && value.type().shape[0] == static_cast<index_t>(i) + 1));
    }
    return world.time.log;
}

TEST_CASE("worker: the values of an edge arrive in order, also if some are lost or overtake others", "[random]") {
    seeds::each(12, [](std::uint64_t seed) {
        const auto log = run_edge(seed);
        CHECK(run_edge(seed) == log);
    });
}

} // namespace test_worker
