// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns all keys of a table, and their values. Shapes: [?].
struct lookup_table_export_op : detail::table_user {
    static constexpr auto name = "LookupTableExportV2", label = "entries";
    static constexpr int inputs = 1;
    static constexpr bool has_dynamic_outputs = true;

    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        return {{key, dims{dyn}}, {value, dims{dyn}}};
    }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            auto [keys, values] = detail::table_of(a)->entries();
            a.sized[0] = std::move(keys);
            a.sized[1] = std::move(values);
        });
    }
};

}} // namespace rill::RILL_ABI
