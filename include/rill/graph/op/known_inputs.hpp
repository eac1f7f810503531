// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// Where shape rules ask for values of a node's inputs.
class input_values {
public:
    /// Null if the value is not known.
    virtual const any_array* value(std::size_t input) const = 0;

protected:
    ~input_values() = default;
};

/// What a shape rule may see of a node's inputs: their types, and the values of those that are known by then: of constants
/// when the node is made; when shapes are bound, of what depends on constants and shapes alone. Null of others.
struct known_inputs {
    std::span<const tensor_type> types;
    const input_values* values = nullptr;
    std::span<const std::vector<tensor_type>> bodies = {}; // of a node with bodies: what each gives
    std::span<const tensor_type> arguments = {};           // and what the last one takes; empty where that is `types`

    const any_array* value(std::size_t i) const { return values ? values->value(i) : nullptr; }
};

}} // namespace rill::RILL_ABI
