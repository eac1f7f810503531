// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/semaphore_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Acquires n permits of a semaphore, all together. Waits until they are available, first come first served. They belong to the step until
/// it releases them or succeeds. If it fails they return. Nodes after it read variables as they are then.
struct semaphore_acquire_op : detail::permit_user {
    static constexpr auto name = "SemaphoreAcquire";
    static constexpr bool is_async = true;
    static constexpr auto ordering = step_ordering::reads;

    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type](const kernel_args& a) {
            detail::resource_of<detail::semaphore_state>(a)->acquire(detail::count_of(type, a.in<void>(1)), a.step,
                                                                     *a.wait);
        });
    }
};

}} // namespace rill::RILL_ABI
