// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Looks up the values of keys in a table. Missing keys give the third operand, or `not_found` without it. Shape: that of the keys.
struct lookup_table_find_op : detail::table_user {
    static constexpr auto name = "LookupTableFindV2", label = "find";
    static constexpr int least_inputs = 2;
    static constexpr bool has_dynamic_outputs = true;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    static kernel bound(const kernel_request& r);
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> lookup_table_find_op::outputs(std::span<const tensor_type> in) const {
    if (in.size() > 3) throw invalid_argument("a handle, keys and a default are operands, no more");
    detail::check_table_operand("keys", in[1], key);
    if (in.size() > 2) {
        detail::check_table_operand("values", in[2], value);
        if (in[2].shape.known_rank() && in[2].shape.rank != 0)
            throw invalid_argument("the default must have rank 0, not " + to_string(in[2].shape));
    }
    return {{value, in[1].shape}};
}

RILL_INLINE kernel lookup_table_find_op::bound(const kernel_request& r) {
    return kernel([types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
        any_array otherwise;
        if (types.size() > 2) otherwise = detail::table_operand(types, a, 2);
        a.sized[0] =
            detail::table_of(a)->find(detail::table_operand(types, a, 1), types.size() > 2 ? &otherwise : nullptr);
    });
}

}} // namespace rill::RILL_ABI
#endif
