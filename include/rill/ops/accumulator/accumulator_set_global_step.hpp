// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/accumulator_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Sets the global step of an accumulator. Gradients of an earlier step are stale.
struct accumulator_set_global_step_op : detail::resource_user {
    static constexpr auto name = "AccumulatorSetGlobalStep";
    static constexpr int inputs = 2;
    static constexpr auto no_gradient = ""; // the op has no outputs

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the step");
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type](const kernel_args& a) {
            detail::resource_of<detail::accumulator_state>(a)->set_global_step(detail::count_of(type, a.in<void>(1)));
        });
    }
};

}} // namespace rill::RILL_ABI
