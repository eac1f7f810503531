// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/mutex_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Releases a mutex to the next op in line. Fails with `failed_precondition` if this session does not hold the mutex.
struct mutex_release_op : detail::resource_user {
    static constexpr auto name = "MutexRelease";
    static constexpr int inputs = 1;
    static constexpr auto ordering = step_ordering::turns;
    static constexpr auto no_gradient = ""; // the op has no outputs

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([session = r.session](const kernel_args& a) {
            detail::resource_of<detail::mutex_state>(a)->release(session.get());
        });
    }
};

}} // namespace rill::RILL_ABI
