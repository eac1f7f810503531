// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The kind of a control-flow primitive, with its attributes.
struct control_flow_kind {
    enum class form : std::uint8_t { none, switches, merges, enters, leaves, next_iteration, loop_condition };
    form what = form::none;
    const std::string* frame = nullptr; // for an enter: the name of the loop
    bool constant = false;              // for an enter: the value is loop-invariant
    int parallel_iterations = 1;

    explicit operator bool() const { return what != form::none; }
};

}} // namespace rill::RILL_ABI
