// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

/// The kernel of an op whose result shares its input's memory, for where it may not (a variable, a folded constant).
template <class D> kernel copy_of_input(const kernel_request& request) {
    const dtype type = request.inputs[0].type;
    const index_t n = request.inputs[0].shape.size();
    return kernel([=](const kernel_args& a) { D::copy(type, a.in<void>(0), a.out<void>(0), n); });
}

} // namespace detail

/// x itself, as a node of its own: of any element type. Gradient: g.
struct identity_op {
    static constexpr auto name = "Identity";
    static constexpr int alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    // moves elements, whatever they are: one kernel for all dtypes, registered as that of `void`
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const identity_op&, const identity_op&) = default;
};

/// identity(x): the same value under a name, a device or control dependencies of its own.
template <graph_operand X>
auto identity(const X& x, const std::source_location& where = std::source_location::current()) {
    require_kernel<identity_op, void>();
    const endpoint made = detail::make_node(identity_op{}, where, x);
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(detail::unchecked, any_tensor(made));
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/identity.ipp>
#endif
