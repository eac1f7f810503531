// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Removes keys and their values from a table. Missing keys are ignored.
struct lookup_table_remove_op : detail::table_user {
    static constexpr auto name = "LookupTableRemoveV2", label = "remove";
    static constexpr int inputs = 2;

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_table_operand("keys", in[1], key);
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
            detail::table_of(a)->remove(detail::table_operand(types, a, 1));
        });
    }
};

}} // namespace rill::RILL_ABI
