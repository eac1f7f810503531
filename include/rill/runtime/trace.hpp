// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// What ran in one step, one after the other. Times in nanoseconds since the step began; nodes that ran as one chain, block by
/// block, share theirs.
struct step_trace {
    struct entry {
        std::string node, op;
        std::int64_t begin = 0, end = 0;
    };
    std::vector<entry> entries;

    /// Position of a node in the order of execution, or -1 if it did not run.
    int position(const std::string& node) const;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/runtime/trace.ipp>
#endif
