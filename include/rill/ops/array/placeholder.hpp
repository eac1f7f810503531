// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/tensor.hpp>
#include <rill/graph/op/op_registry.hpp>
#include <rill/ops/array/identity.hpp> // what a handle with another name is

namespace rill { inline namespace RILL_ABI {

/// A value that must be fed to every run that needs it.
struct placeholder_op {
    static constexpr auto name = "Placeholder";
    static constexpr int inputs = 0;
    using domain_type = domains::every;
    static constexpr auto no_gradient = ""; // the op has no inputs
    static constexpr auto role = op_role::placeholder;
    static constexpr bool stateful = true; // CSE must keep both of two placeholders
    tensor_type type;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
};

namespace detail {

endpoint add_placeholder(const tensor_type& type, const std::string& name, const std::source_location& where);

} // namespace detail

/// A tensor whose value is fed to each run: placeholder<float, dyn, 784> x("x").
template <class T, index_t... D> class placeholder : public tensor<T, D...> {
public:
    explicit placeholder(const std::string& name = {},
                         const std::source_location& where = std::source_location::current())
        : tensor<T, D...>(detail::unchecked,
                          detail::add_placeholder({dtype_of<T>, extents<D...>::value}, name, where)) {}
};

/// Returns a placeholder whose shape or rank is known only at run time: any_placeholder("x", dtype::float32).
any_tensor any_placeholder(const std::string& name, dtype type, const dims& shape = dims::unknown(),
                           const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> placeholder_op::outputs(std::span<const tensor_type>) const { return {type}; }

RILL_INLINE endpoint detail::add_placeholder(const tensor_type& type, const std::string& name,
                                             const std::source_location& where) {
    ensure_registered<placeholder_op>();
    return {add_node(current_graph(), make_op(placeholder_op{type}), {}, name, false, where), 0};
}

RILL_INLINE any_tensor any_placeholder(const std::string& name, dtype type, const dims& shape,
                                       const std::source_location& where) {
    detail::require_catalogue(); // elements may be of any type
    return detail::add_placeholder({type, shape}, name, where);
}

}} // namespace rill::RILL_ABI
#endif
