// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/keyed_barrier_state.hpp>
#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// How many elements of a keyed barrier lack a component: an int of rank 0.
struct keyed_barrier_incomplete_size_op : detail::queue_user {
    static constexpr auto name = "BarrierIncompleteSize", label = "incomplete_size";
    static constexpr int inputs = 1;

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::int32, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            D::fill(1, a.out<std::int32_t>(0),
                    static_cast<std::int32_t>(detail::resource_of<detail::keyed_barrier_state>(a)->incomplete_size()));
        });
    }
};

}} // namespace rill::RILL_ABI
