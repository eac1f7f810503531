// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/staleness_clock.hpp>

namespace rill { inline namespace RILL_ABI {

/// Counts a step of a worker, and waits while the worker is too far ahead of the slowest one.
struct clock_advance_op : detail::resource_user {
    static constexpr auto name = "ClockAdvance";
    static constexpr int inputs = 2; // the handle, the number of the worker
    static constexpr bool is_async = true;
    static constexpr auto no_gradient = ""; // the op has no outputs

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of the worker");
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type, session = r.session](const kernel_args& a) {
            detail::resource_of<detail::staleness_state>(a)->advance(detail::count_of(type, a.in<void>(1)), session,
                                                                     *a.wait);
        });
    }
};

}} // namespace rill::RILL_ABI
