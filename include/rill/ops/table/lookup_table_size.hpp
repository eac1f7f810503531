// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// How many keys a table holds: an int64 of rank 0.
struct lookup_table_size_op : detail::resource_user {
    static constexpr auto name = "LookupTableSizeV2", label = "size";
    static constexpr int inputs = 1;
    static constexpr auto no_gradient = "what it looks at is no operand";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::int64, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            D::fill(1, a.out<std::int64_t>(0), static_cast<std::int64_t>(detail::table_of(a)->size()));
        });
    }
};

}} // namespace rill::RILL_ABI
