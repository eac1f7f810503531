// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// An elementwise op as programs see it, derived from its struct (device/elementwise_op.hpp). It outlives every program.
struct elementwise_info {
    std::string_view name;
    int version = 1;
    int cost = 1;                      // per element, in additions
    bool divides = false;              // may report an integer division by zero
    std::string_view struct_name = {}; // as the compiler spells it
};

}} // namespace rill::RILL_ABI
