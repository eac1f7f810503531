// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/allocator.hpp>

namespace rill { inline namespace RILL_ABI {

/// GPU memory, for sessions with GPUs.
struct gpu_options {
    double memory_fraction = 0; // 0: as much as is needed
    bool allow_growth = false;
};

/// How a session runs. Thread counts: -1 automatic, 0 the caller's thread. Results are the same for every number.
struct session_options {
    int inter_op_threads = -1;         // branches of the graph that run at once, where that pays
    int intra_op_threads = -1;         // threads that share the work of one op, where that pays
    bool allow_soft_placement = false; // run on the CPU what its device can't run
    bool log_device_placement = false; // tell the log sink where each node runs
    gpu_options gpu = {};
    allocator* memory = nullptr; // where step memory and variables come from; null: default_allocator()
};

}} // namespace rill::RILL_ABI
