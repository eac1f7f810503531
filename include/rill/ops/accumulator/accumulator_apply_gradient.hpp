// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/accumulator_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Adds a gradient to an accumulator, or drops it if its local step is below the accumulator's. Never waits.
struct accumulator_apply_gradient_op : detail::resource_user {
    static constexpr auto name = "AccumulatorApplyGradient";
    static constexpr int inputs = 3; // the handle, the gradient, the local step
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "gradients end at an accumulator";

    input_list host_inputs() const { return {0, 1, 2}; }
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type>) const { return in[1].type; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[2], "the local step");
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1], step = r.inputs[2].type](const kernel_args& a) {
            detail::resource_of<detail::accumulator_state>(a)->apply(
                a.array(type, 1), detail::count_of(step, a.in<void>(2)), detail::add_elements<T>);
        });
    }
};

}} // namespace rill::RILL_ABI
