// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/staleness_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// The clocks of workers that train asynchronously. See detail::staleness_state.
struct staleness_clock_op : detail::resource_maker {
    static constexpr auto name = "StalenessClock";
    detail::staleness_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("bound", op.traits.bound);
        visit("workers", op.traits.workers);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        traits.check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::staleness_state>(r, place, traits));
    }
};

}} // namespace rill::RILL_ABI
