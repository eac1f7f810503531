// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/mutex_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Acquires a mutex. Waits while the mutex is held, first come first served. Nodes after it read variables as they are
/// then.
struct mutex_acquire_op : detail::resource_user {
    static constexpr auto name = "MutexAcquire";
    static constexpr int inputs = 1;
    static constexpr bool is_async = true;
    static constexpr auto ordering = step_ordering::turns;
    static constexpr auto no_gradient = ""; // the op has no outputs

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([session = r.session](const kernel_args& a) {
            detail::resource_of<detail::mutex_state>(a)->acquire(session, a.step, *a.wait);
        });
    }
};

}} // namespace rill::RILL_ABI
