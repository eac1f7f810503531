// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <rill/core/allocator.hpp>
#include <rill/core/cancellation.hpp>
#include <rill/core/credentials.hpp>
#include <rill/core/environment.hpp>
#include <rill/core/wire_format.hpp>
#include <rill/device/device.hpp>

namespace rill { inline namespace RILL_ABI {

struct step_trace; // runtime/trace/trace.hpp

namespace detail {
class step_gate; // runtime/step_gate.hpp
}

/// An unlimited duration.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

/// A token that cancels runs: runs with a cancelled token throw `cancelled`. Copies share one state.
class cancellation_token {
public:
    void cancel() const noexcept { state_->cancel(); }
    bool is_cancelled() const noexcept { return state_->is_cancelled(); }
    /// Calls `then` once when the token is cancelled, on the thread that cancels it; at once if it is already cancelled. `then` must not
    /// throw. Destroying the result withdraws the callback.
    [[nodiscard]] cancellation::registration on_cancel(std::function<void()> then) const {
        return state_->on_cancel(std::move(then));
    }
    const std::shared_ptr<cancellation>& state() const noexcept { return state_; }

private:
    std::shared_ptr<cancellation> state_ = std::make_shared<cancellation>();
};

/// Options of one run: s.run(y, feed(x, v), {.timeout = 5s, .cancel = token}).
struct run_options {
    std::chrono::nanoseconds timeout =
        forever; // for the whole run; checked in each loop iteration and wait, but a running op is not interrupted
    std::optional<cancellation_token> cancel = {};
    step_trace* trace = nullptr;       // receives the trace of the run, also if the run fails
    detail::step_gate* gate = nullptr; // set by queue runners
};

namespace detail {

/// Enables partitioned runs in this program. Defined in session/partitioned_run.ipp.
void register_partitioned_runs();

} // namespace detail

/// A bool of session_options. Header-only programs that never set it do not compile the code that it enables.
class partition_option {
public:
    constexpr partition_option() = default;
    template <class B>
        requires std::is_same_v<B, bool>
    partition_option(B on) : on_(on) {
        detail::register_partitioned_runs();
    }
    constexpr operator bool() const { return on_; }

private:
    bool on_ = false;
};

/// Options of a session. Thread counts: -1 automatic, 0 the caller's thread. Results do not depend on them.
struct session_options {
    /// The address of the server that runs the session: server::target(), "tcp://127.0.0.1:2222". Needs <rill/distributed.hpp>. Empty: the
    /// session runs in this process, without a server.
    std::string target = {};
    credentials_option security = {}; // client keys, for a target with keys: curve("alice.key", "worker/0")
    int inter_op_threads = -1;        // threads for independent branches of the graph
    int intra_op_threads = -1;        // threads that share the work of one op
    /// The number of devices of each type, one by default. {{"cpu", 4}} makes /cpu:0 to /cpu:3, which share the host's memory and the
    /// threads.
    device_counts device_count = {};
    placers placer = placers::simple; // chooses the devices of nodes that request none
    /// Partitions each run between its devices. Parts exchange values by Send and Receive, as tasks of a cluster do. The last bits of
    /// results may differ where another fusion of nodes rounds otherwise.
    partition_option partition_devices = {};
    wire_format wire = wire_format::as_is; // format of float32 values sent between parts
    bool allow_soft_placement = false;     // run a node on the CPU if its device can't run it
    bool log_device_placement = false;     // write the device of each node to the log sink, once in the session
    gpu_options gpu = {};
    /// Lets placers::by_cost learn: traced runs, and one run in 64, measure the nodes, and later plans use the times. Stateless nodes may
    /// then move. If false, only estimates decide, and placement is reproducible. Clusters never learn.
    bool learn = true;
    /// Converts primitives (switch_, merge, enter, …) that form branches and loops to the form of cond and while_loop. The other primitives
    /// run node by node; if this is false, all of them do. The values are the same.
    bool raise_primitives = true;
    /// The longest wait for other steps or calls (a queue, a host_call) without progress, before the run throws deadline_exceeded.
    std::chrono::nanoseconds progress_timeout = std::chrono::minutes(10);
    /// The number of this replica, if several programs train one graph on different data; 0: none. It is mixed into the seeds of random
    /// ops, and of random queues without container and shared name. Replicas then draw different dropout masks, orders and initial values.
    int replica = 0;
    rill::environment* environment = nullptr; // clock and scheduling order; null: the real one
    allocator* memory = nullptr;              // allocator of step memory and variables; null: default_allocator()
};

}} // namespace rill::RILL_ABI
