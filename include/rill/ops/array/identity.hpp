// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns a copy kernel for an op whose result usually shares its input's memory. It is used where sharing is not
/// allowed, as for a variable or a folded constant.
template <class D> kernel copy_of_input(const kernel_request& request) {
    const dtype type = request.inputs[0].type;
    const index_t n = request.inputs[0].shape.size();
    return kernel([=](const kernel_args& a) { D::copy(a.on, type, a.in<void>(0), a.out<void>(0), n); });
}

} // namespace detail

/// Returns x as a node of its own, of any element type. Gradient: g.
struct identity_op {
    static constexpr auto name = "Identity";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr int alias = 0;

    constexpr shape_result shape(const dims& x) const { return {x}; }
    std::vector<endpoint> gradient(const gradient_request& r) const { return {r.gradient()}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

/// Returns the same value under its own name, device or control dependencies: identity(x).
template <graph_operand X>
auto identity(const X& x, const std::source_location& where = std::source_location::current()) {
    return apply_node(identity_op{}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE endpoint detail::named_edge(const endpoint& e, const std::string& name, const std::source_location& where) {
    require_kernel<identity_op, void>();
    return {add_node(graph(*checked(e).from->owner), make_op(identity_op{}), {e}, name, false, where), 0};
}

}} // namespace rill::RILL_ABI
#endif
