// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <source_location>

#include <rill/core/device_name.hpp>
#include <rill/expr/apply.hpp>
#include <rill/expr/constant.hpp>
#include <rill/expr/tensor.hpp>

namespace rill { inline namespace RILL_ABI {

/// The index of a replica among those that train together, from 0. It is an int, or a tensor of rank 0, such as a placeholder that each
/// thread feeds.
class replica_index {
public:
    /// Leaves the index open: the task of the loss's device, or else the session, identifies the replica.
    replica_index() = default;
    replica_index(std::integral auto number) : number_(number) {}              // NOLINT: is one
    template <graph_operand X> replica_index(const X& x) : value_(sealed(x)) { // NOLINT: is one
        if constexpr (typed_operand<X>)
            static_assert(is_integral<value_type_of<X>> && extents_of<X>::rank == 0,
                          "replica: the number of a replica is an integer of rank 0");
    }

    /// Returns true if the graph computes the index, or is fed it.
    bool is_tensor() const noexcept { return bool(value_); }
    /// Returns the index as a tensor, in the graph of the loss. It is -1 if it is not given and the loss's device does not tell it. Throws
    /// invalid_argument for an index outside [0, count).
    template <std::same_as<endpoint> Loss>
    any_tensor of(const Loss& loss, index_t count, const char* who, const std::source_location& where) const {
        if (value_) return value_;
        return constant(static_cast<std::int64_t>(number_for(loss, count, who, where))).join(graph(*loss.from->owner));
    }

private:
    index_t number_for(const endpoint& loss, index_t count, const char* who, const std::source_location& where) const;

    index_t number_ = -1;
    any_tensor value_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/replica_index.ipp>
#endif
