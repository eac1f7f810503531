// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Begins a new round, in which no gradient of an earlier one counts, and returns its number: an int64 of rank 0.
struct round_reset_op : detail::resource_user {
    static constexpr auto name = "RoundReset";
    static constexpr int inputs = 1;
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::int64, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            D::fill(a.on, 1, a.out<std::int64_t>(0), detail::resource_of<detail::round_state>(a)->reset());
        });
    }
};

}} // namespace rill::RILL_ABI
