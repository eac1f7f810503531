// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// Which of the primitives of control flow an op is, and what it says beside.
struct control_flow_kind {
    enum class form : std::uint8_t { none, switches, merges, enters, leaves, next_iteration, loop_condition };
    form what = form::none;
    const std::string* frame = nullptr; // of one that enters: the loop's name
    bool constant = false;              // the same value in all iterations
    int parallel_iterations = 1;

    explicit operator bool() const { return what != form::none; }
};

}} // namespace rill::RILL_ABI
