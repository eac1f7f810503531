// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <rill/core/any_array.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/scalar_loop.hpp>
#include <rill/graph/op/op.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class bound_region;

/// A loop-invariant scalar: an input of the loop's node, or a constant.
struct invariant_scalar {
    int input = -1;
    any_array constant;
};

/// A loop over numbers, and the values of the group's inputs that follow its state and slices.
struct lowered_loop {
    scalar_loop loop;
    vector<invariant_scalar> invariants;
};

/// Lowers a while loop or scan whose bound bodies compute scalars from scalars. Returns nothing for other nodes, and for loops that have
/// effects, write, or divide integers. `inputs` are the types of the node's inputs.
std::optional<lowered_loop> lower_loop(const region_attributes& use, std::span<const bound_region> bodies,
                                       std::span<const tensor_type> inputs);

/// The loop of one state value of a while loop.
struct lowered_part {
    std::size_t part;
    lowered_loop of;
};

/// Lowers the only state value that the condition of a while loop reads, if its next value follows from it and from loop-invariant scalars
/// alone. Returns nothing if there is no such value.
std::optional<lowered_part> lower_induction_variable(const subgraph::item& it);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/lower_loop.ipp>
#endif
