// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// An array and its name: what files of weights and checkpoints hold.
struct named_array {
    std::string name;
    any_array value;
};

}} // namespace rill::RILL_ABI
