// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/staleness_clock.hpp>

namespace rill { inline namespace RILL_ABI {

/// Records that a worker has finished, and returns the number of remaining workers: an int64 of rank 0.
struct clock_leave_op : detail::resource_user {
    static constexpr auto name = "ClockLeave";
    static constexpr int inputs = 2; // the handle, the number of the worker
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of the worker");
        return {{dtype::int64, dims{}}};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type, session = r.session](const kernel_args& a) {
            D::fill(
                a.on, 1, a.out<std::int64_t>(0),
                detail::resource_of<detail::staleness_state>(a)->leave(detail::count_of(type, a.in<void>(1)), session));
        });
    }
};

}} // namespace rill::RILL_ABI
