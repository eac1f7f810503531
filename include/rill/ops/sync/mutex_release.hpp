// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/mutex_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Lets a mutex go; the next in line has it then. One that is not held, or by another session: `failed_precondition`.
struct mutex_release_op : detail::resource_user {
    static constexpr auto name = "MutexRelease";
    static constexpr int inputs = 1;
    static constexpr auto ordering = step_ordering::turns;
    static constexpr auto no_gradient = ""; // it has no value

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([session = r.session](const kernel_args& a) {
            detail::resource_of<detail::mutex_state>(a)->release(session.get());
        });
    }
};

}} // namespace rill::RILL_ABI
