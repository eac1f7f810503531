// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/accumulator_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the numbers of gradients that an accumulator holds, and of stale ones that it has dropped. Both are int64 of rank 0.
struct accumulator_counts_op : detail::resource_user {
    static constexpr auto name = "AccumulatorCounts"; // TensorFlow's AccumulatorNumAccumulated gives the first alone
    static constexpr int inputs = 1;
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        return {{dtype::int64, dims{}}, {dtype::int64, dims{}}};
    }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            const auto counts = detail::resource_of<detail::accumulator_state>(a)->count();
            D::fill(a.on, 1, a.out<std::int64_t>(0), counts.accumulated);
            D::fill(a.on, 1, a.out<std::int64_t>(1), counts.dropped);
        });
    }
};

}} // namespace rill::RILL_ABI
