// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inserts one value for each key into a table. Existing values are replaced.
struct lookup_table_insert_op : detail::table_user {
    static constexpr auto name = "LookupTableInsertV2", label = "insert";
    static constexpr int inputs = 3;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_table_operand("keys", in[1], key);
        detail::check_table_operand("values", in[2], value);
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
            detail::table_of(a)->insert(detail::table_operand(types, a, 1), detail::table_operand(types, a, 2));
        });
    }
};

}} // namespace rill::RILL_ABI
