// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if a variable has a value, as bool of rank 0. The op does not read the value, so it may be missing.
struct is_initialized_op {
    static constexpr auto name = "IsVariableInitialized", label = "is_initialized";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = ""; // the result is bool

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::boolean, dims{}}}; }
    input_list may_be_uninitialized() const { return {0}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) { D::fill(a.on, 1, a.out<bool>(0), a.in<void>(0) != nullptr); });
    }
};

namespace detail {

/// Throws invalid_argument, with the op's name, if the tensor is not a variable.
void check_is_variable(const any_tensor& v, const char* op, const std::source_location& where);

} // namespace detail

/// Returns true if a variable has a value: is_initialized(v), with v any handle of a variable. Throws invalid_argument for another tensor.
/// After control dependencies on a write, the result is the state after the write.
template <std::derived_from<any_tensor> V>
tensor<bool> is_initialized(const V& v, const std::source_location& where = std::source_location::current()) {
    detail::check_is_variable(v, "is_initialized", where);
    return {detail::unchecked, any_tensor(apply_node(is_initialized_op{}, where, v))};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void check_is_variable(const any_tensor& v, const char* op, const std::source_location& where) {
    if (!v) refuse_null(op, where);
    if (v.node()->op->role() != op_role::variable)
        throw invalid_argument(std::string(op) + ": '" + v.name() + "' is not a variable (" + place_of(*v.node()) +
                               ")");
}

}}} // namespace rill::RILL_ABI::detail
#endif
