// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

/// Copies a value into memory of its own, in program order. Plans insert it if a variable is read both before and after a write. In
/// the graph of a partition the copy is a node.
struct snapshot_op {
    static constexpr auto name = "Snapshot";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "it belongs to a part of a run, which is made after gradients";
    static constexpr bool stateful = true; // two copies of one variable may hold different values

    constexpr shape_result shape(const dims& x) const { return {x}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

}} // namespace rill::RILL_ABI
