// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <rill/distributed/transport.hpp>
#include <rill/distributed/wire_header.hpp>

namespace rill { inline namespace RILL_ABI {

/// The time limits for detecting unresponsive tasks and for calls. A peer is pinged only while a call waits for it.
struct health_options {
    std::chrono::milliseconds heartbeat{500};
    std::chrono::milliseconds slow{1500}, suspect{3000}; // time without any message
    std::chrono::milliseconds dead{5000};                // then all calls fail
    std::chrono::milliseconds stuck{10000};              // without progress of a running step: logs a warning
    std::chrono::milliseconds connect{30000};            // the longest wait for a task that has not started
    std::chrono::milliseconds control{30000};            // the deadline of calls that do not run a step
    std::chrono::milliseconds lease{60000};              // a session whose client has been silent for so long is closed
    std::size_t window = std::size_t(32) << 20;          // bytes of pushed values that a peer has not accepted

    /// Returns the deadline of a control call to a task that may not have started. If it does not start, `connect` ends the call.
    std::chrono::milliseconds first_control() const { return control + connect; }
};

/// The health of a peer, judged by its silence.
enum class peer_health { connecting, alive, slow, suspect, dead };

namespace detail {

/// The identity of a task. A client, which is not a task, has a unique name and no digest.
struct task_identity {
    std::string name;              // "/job:ps/replica:0/task:0"
    std::uint64_t incarnation = 0; // drawn at the start of the task, never 0
    std::string cluster;           // digest of the cluster's description
};

/// A call of a peer's method.
struct wire_request {
    wire_method method = wire_method::status;
    session_number session = {};
    std::string meta = {};
    std::vector<message_part> payload = {};
    std::uint64_t incarnation = 0; // the peer's; 0: any. A restarted peer fails the call with `aborted`.
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::chrono::milliseconds grace{0}; // the extra wait for the peer's own error, which says more
};

struct wire_answer {
    std::string meta = {};
    std::vector<message_part> payload = {};
    std::uint64_t incarnation = 0; // of the answering peer
};

/// A function that receives the answer of a call, or an error; called once.
using answer_function = std::function<void(std::exception_ptr problem, wire_answer answer)>;

} // namespace detail

}} // namespace rill::RILL_ABI
