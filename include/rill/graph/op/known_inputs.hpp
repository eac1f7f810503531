// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// The interface through which shape rules read values of a node's inputs.
class input_values {
public:
    /// Returns the value of an input, or null if it is unknown.
    virtual const any_array* value(std::size_t input) const = 0;

protected:
    ~input_values() = default;
};

/// The inputs of a node for its shape rule: their types, and the values known so far. When the node is made, only constants are
/// known. When shapes are bound, values that depend on constants and shapes alone are known too.
struct known_inputs {
    std::span<const tensor_type> types;
    const input_values* values = nullptr;
    std::span<const std::vector<tensor_type>> bodies = {}; // for a region op: the result types of each body
    std::span<const tensor_type> arguments = {};           // argument types of the last body; empty: equal to `types`

    const any_array* value(std::size_t i) const { return values ? values->value(i) : nullptr; }
};

}} // namespace rill::RILL_ABI
