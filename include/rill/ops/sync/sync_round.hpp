// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/round_state.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the replica that runs a kernel, as far as the session knows it. The caller sets round_state::member::number.
inline round_state::member session_member(const kernel_request& r) {
    return {.order = r.replica, .session = r.session.get()};
}
/// Returns the replica with the number that input i of a kernel holds. A negative number means none.
inline round_state::member numbered_member(round_state::member m, dtype type, const kernel_args& a, int i) {
    m.number = count_of(type, a.in<void>(i));
    return m;
}

} // namespace detail

/// The rounds of synchronous training. See detail::round_state.
struct sync_round_op : detail::resource_maker {
    static constexpr auto name = "SyncRound";
    detail::round_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("replicas_to_aggregate", op.traits.aggregate);
        visit("total_replicas", op.traits.total);
        visit("by_replica", op.traits.by_replica);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        traits.check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::round_state>(r, place, traits));
    }
};

}} // namespace rill::RILL_ABI
