// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kinds of messages, with the numbers used on the wire.
enum class wire_type : std::uint8_t {
    hello = 1,    // the first message of a connection: who connects
    welcome = 2,  // the answer to hello
    refuse = 3,   // no service for this connection; the method field has an error code
    ping = 4,     // is the peer alive?
    pong = 5,     // it is; the meta part has its progress
    grant = 6,    // to a caller: the request has arrived; to a callee: its answer has arrived
    request = 7,  // asks for something
    response = 8, // the answer to a request
    error = 9,    // the answer to a request that failed; the method field has an error code
    cancel = 10,  // the caller no longer waits for the answer
    goodbye = 11, // the peer stops
    pull = 12,    // asks for the chunks of a payload: the meta part has the offset, the credit field how many KiB
    chunk = 13    // bytes of a payload; the meta part has their offset
};

/// The methods of a task that a request calls, with their numbers on the wire.
enum class wire_method : std::uint32_t {
    register_run = 1,  // keep a part of a run
    run_part = 2,      // run a step of a registered part
    push = 3,          // a value crosses an edge
    abort_step = 4,    // a step has failed elsewhere
    close_session = 5, // drop what a session has registered
    reset = 6,         // empty containers
    status = 7,        // is the task there?
    drop_run = 8,      // drop a part
    // of clients, at the master of their session
    create_session = 9, // open a session
    prepare_run = 10,   // partition a run, and register its parts
    run_step = 11,      // run a step of a prepared run
    release_run = 12,   // drop a prepared run
    end_session = 13,   // close a session and its steps
    keep_session = 14,  // the client of a session is alive
    reset_cluster = 15, // empty containers in all tasks
    list_devices = 16,  // of all tasks
    cut_run = 17,       // return the parts of a run
    // of tasks, at the master of a session
    find_session = 18, // is the session still open?
    // of clients again
    fence_run = 19,     // make the tasks of a run serve this session alone, or all again
    save_state = 20,    // return the state of resources in all tasks of a session
    restore_state = 21, // give a resource its state
    // of the master, at a task
    fence = 22,          // run steps of one session alone, or of all again
    save_resources = 23, // return the state of resources
    restore_resource = 24,
    // of tasks, at the master of a session
    report_failure = 25 // a part of a step that has ended could not send a value
};
/// Returns true for methods that the master of a task serves, not its worker.
constexpr bool is_for_master(wire_method m) noexcept {
    return (m >= wire_method::create_session && m <= wire_method::restore_state) || m == wire_method::report_failure;
}
std::string_view method_name(wire_method m);

/// The number of a session in all its messages, drawn by its master.
struct session_number {
    std::uint64_t high = 0, low = 0;
    friend auto operator<=>(const session_number&, const session_number&) = default;
};

/// The fixed part of a message: 96 bytes, little-endian, written and read byte by byte.
struct wire_header {
    static constexpr std::size_t size = 96;
    static constexpr std::uint8_t major_version = 1, minor_version = 0;
    static constexpr std::size_t most_meta = std::size_t(64) << 10; // bytes of the part after the header
    static constexpr std::size_t most_arguments = std::size_t(1)
                                                  << 20; // bytes; the overflow is the last payload part
    static constexpr std::size_t most_parts = 65;        // of a payload, including the overflow
    static constexpr std::uint32_t no_deadline = 0xffffffffu;
    enum flag : std::uint8_t {
        has_checksum = 1,
        is_retry = 2,
        is_probe = 4,
        is_chunked = 8,
        has_long_meta = 16,
        carries_data = 32 // of hello and welcome: the connection is for chunks
    };

    wire_type type = wire_type::ping;
    std::uint8_t flags = 0;
    session_number session;
    std::uint64_t sender = 0, receiver = 0; // incarnations; the receiver's is 0 in hello only
    std::uint64_t request = 0;              // number of the request, from 1
    std::uint64_t ack_below = 0;            // the sender has all answers to requests below this number
    std::uint32_t sent_at = 0;              // milliseconds on the sender's clock
    std::uint32_t time_left = 0;            // milliseconds; never 0 in a request
    std::uint32_t method = 0;               // or an error code
    std::uint32_t credit = 0;               // KiB of a payload that may be sent before the next request
    std::uint32_t meta_bytes = 0;
    std::uint16_t parts = 0;
    std::uint64_t payload_bytes = 0;
    std::uint32_t checksum = 0; // crc32c of meta and payload, if the flag says so
};

/// Returns a time in the unit of wire_header::sent_at.
inline std::uint32_t wire_clock(std::chrono::steady_clock::time_point t) {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count());
}

std::array<char, wire_header::size> encode(const wire_header& h);

/// Reads a header from untrusted bytes. Returns nothing for another length, magic or major version, a wrong checksum, an unknown type,
/// or sizes beyond the limits. Ignores unknown flags.
std::optional<wire_header> decode_header(std::string_view bytes);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/wire_header.ipp>
#endif
