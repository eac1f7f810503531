// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns x itself, which gradients treat as a constant.
struct stop_gradient_op {
    static constexpr auto name = "StopGradient";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = ""; // gradients end here on purpose
    static constexpr int alias = 0;

    constexpr shape_result shape(const dims& x) const { return {x}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

template <graph_operand X>
auto stop_gradient(const X& x, const std::source_location& where = std::source_location::current()) {
    return apply_node(stop_gradient_op{}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI
