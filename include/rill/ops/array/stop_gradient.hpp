// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill::inline RILL_ABI {

/// x itself, taken for a constant by gradients.
struct stop_gradient_op {
    static constexpr auto name = "StopGradient";
    static constexpr auto no_gradient = ""; // that is what it is for
    static constexpr int alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const stop_gradient_op&, const stop_gradient_op&) = default;
};

template <graph_operand X>
auto stop_gradient(const X& x, const std::source_location& where = std::source_location::current()) {
    require_kernel<stop_gradient_op, void>();
    const endpoint made = detail::make_node(stop_gradient_op{}, where, x);
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(detail::unchecked, any_tensor(made));
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/stop_gradient.ipp>
#endif
