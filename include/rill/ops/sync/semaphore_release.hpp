// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/semaphore_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Releases n permits to a semaphore, whether or not they were acquired from it.
struct semaphore_release_op : detail::permit_user {
    static constexpr auto name = "SemaphoreRelease";

    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type](const kernel_args& a) {
            detail::resource_of<detail::semaphore_state>(a)->release(detail::count_of(type, a.in<void>(1)), a.step);
        });
    }
};

}} // namespace rill::RILL_ABI
