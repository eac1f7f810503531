// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// An array and its name, as stored in weight files and checkpoints.
struct named_array {
    std::string name;
    any_array value;
};

}} // namespace rill::RILL_ABI
