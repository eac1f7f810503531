// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/worker.hpp>

#include <rill/distributed/local_transport.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"
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
    push_meta meta{1, 1, 0, encode_tensor(any_array(dtype::float32, {2}), push.payload)};
    push.meta = bytes_of_meta(meta);
    CHECK(f.ask(push) == error_code::aborted); // of a session that the task does not know
    meta.value.bytes = 4;
    push.meta = bytes_of_meta(meta);
    CHECK(f.ask(push) == error_code::data_loss);
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

} // namespace test_worker
