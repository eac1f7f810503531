// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The trace of one step: which nodes ran, on which threads and in which iterations, and which waited. Times are in nanoseconds since the
/// step began. Nodes of one fusion group run block by block and share their times.
struct step_trace {
    enum class kind : std::uint8_t {
        ran,
        waited, // waited for others, without a thread
        lasted, // lasted while its bodies ran, possibly with other work in between
    };
    struct entry {
        std::string node, op;
        std::int64_t begin = 0, end = 0;
        kind what = kind::ran;
        int thread = 0;               // thread on which it ran or began; 0: the caller's
        int lane = -1;                // parallel lane; -1: it ran alone
        int stage = -1;               // stage, for a run in stages
        int inside = -1;              // the entry of the node that runs its body
        std::int64_t iteration = -1;  // iteration of that node
        std::int64_t iterations = -1; // for a loop: its number of iterations
        std::int64_t bytes = 0;       // size of its outputs, except values that stay in registers or caches
        std::string task = {};        // in a cluster: "/job:ps/replica:0/task:0"; else empty
    };
    std::vector<entry> entries; // in order of their start

    /// Returns the position of a node in the order of execution; -1 if it did not run.
    int position(const std::string& node) const;

    /// Returns the trace in Chrome's trace event format, for Perfetto and chrome://tracing. Each thread has a row, as has each node that
    /// waited or lasted. Each task has its own rows, and an arrow leads from a Send to its Receive.
    std::string chrome_json() const;
    /// Writes chrome_json() to a file. Throws not_found if the file can't be opened, data_loss if writing fails.
    void write_chrome(const std::string& path) const;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/runtime/trace/trace.ipp>
#endif
