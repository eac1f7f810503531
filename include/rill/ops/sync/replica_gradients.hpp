// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/replica_gradients_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// A store of the gradients of a variable by replica, until the leader of their round takes them.
struct replica_gradients_op : detail::resource_maker {
    static constexpr auto name = "ReplicaGradients";
    detail::replica_gradients_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.traits.type.type);
        visit("shape", op.traits.type.shape);
        visit("ids", op.traits.ids);
        visit("adds_at_arrival", op.traits.adds_at_arrival);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return handle_type(); }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::replica_gradients_state>(r, place, traits));
    }
};

}} // namespace rill::RILL_ABI
