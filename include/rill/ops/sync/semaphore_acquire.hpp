// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/semaphore_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes n permits of a semaphore, all at once; waits until they are there, first come first served. They are the step's until it
/// gives them back or has ended well: if it fails they go back. What comes after it reads variables as they are then.
struct semaphore_acquire_op : detail::resource_user {
    static constexpr auto name = "SemaphoreAcquire";
    static constexpr int inputs = 2;
    static constexpr bool is_async = true;
    static constexpr auto ordering = step_ordering::reads;
    static constexpr auto no_gradient = ""; // it has no value

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of permits");
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type](const kernel_args& a) {
            detail::resource_of<detail::semaphore_state>(a)->acquire(detail::count_of(type, a.in<void>(1)), a.step,
                                                                     *a.wait);
        });
    }
};

}} // namespace rill::RILL_ABI
