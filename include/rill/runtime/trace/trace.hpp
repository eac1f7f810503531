// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// What ran in one step: on which threads, beside what, in which iterations; and what it waited for. Times in nanoseconds since
/// the step began; nodes that ran as one chain, block by block, share theirs.
struct step_trace {
    enum class kind : std::uint8_t {
        ran,
        waited, // for what others brought, without a thread
        lasted, // its bodies ran bit by bit, and other things between
    };
    struct entry {
        std::string node, op;
        std::int64_t begin = 0, end = 0;
        kind what = kind::ran;
        int thread = 0;               // where it ran, or began; 0: the caller's
        int lane = -1;                // of several that ran beside one another
        int stage = -1;               // of a run in pieces
        int inside = -1;              // the entry of the node whose bodies it is part of
        std::int64_t iteration = -1;  // of that node
        std::int64_t iterations = -1; // of a loop: how many it had
        std::int64_t bytes = 0;       // of its outputs; of values that only live in registers and caches none
    };
    std::vector<entry> entries; // in the order in which they began

    /// Position of a node in the order of execution, or -1 if it did not run.
    int position(const std::string& node) const;

    /// In Chrome's trace event format, which Perfetto and chrome://tracing show: a row for each thread, and one for all that waited or
    /// lasted of one node.
    std::string chrome_json() const;
    /// Writes that to a file. Throws not_found if it can't be opened, data_loss if it can't be written.
    void write_chrome(const std::string& path) const;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/runtime/trace/trace.ipp>
#endif
