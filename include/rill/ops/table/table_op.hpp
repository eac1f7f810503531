// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/table_state.hpp>

// The common base of the table ops.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The base of ops that use a table. The first input is the handle; keys and values follow.
struct table_user : resource_user {
    static constexpr auto no_gradient = "values are looked up by keys, which don't change smoothly";
    dtype key = dtype::invalid, value = dtype::invalid;

    static void fields(auto& op, auto& visit) {
        visit("key_dtype", op.key);
        visit("value_dtype", op.value);
    }
    input_list host_inputs() const { return {0, 1, 2}; }
};

/// Returns input i as a borrowed array.
any_array table_operand(const std::vector<tensor_type>& inputs, const kernel_args& a, int i);
inline std::shared_ptr<table_state> table_of(const kernel_args& a) { return resource_of<table_state>(a); }
/// Throws invalid_argument if an operand's dtype is not that of the table.
void check_table_operand(const char* what, const tensor_type& is, dtype wanted);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE any_array table_operand(const std::vector<tensor_type>& inputs, const kernel_args& a, int i) {
    return a.array(inputs[static_cast<std::size_t>(i)], i);
}

RILL_COLD void check_table_operand(const char* what, const tensor_type& is, dtype wanted) {
    if (is.type != wanted)
        throw invalid_argument("the table's " + std::string(what) + " are " + std::string(to_string(wanted)) +
                               ", not " + to_string(is));
}

}}} // namespace rill::RILL_ABI::detail
#endif
