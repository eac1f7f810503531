// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/shape_rules.hpp>
#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns x after a check of its shape in each run. Elements may be of any type. Gradient: g.
struct ensure_shape_op {
    static constexpr auto name = "EnsureShape", label = "ensure_shape";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr int alias = 0;
    dims wanted = dims::unknown();

    static void fields(auto& op, auto& visit) { visit("shape", op.wanted); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const { return {r.gradient()}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

/// Returns x as a tensor of the given shape: ensure_shape<2, dyn>(x). A mismatch throws when the graph is built, or else when it runs.
template <index_t... D, graph_operand X>
auto ensure_shape(const X& x, const std::source_location& where = std::source_location::current()) {
    const any_tensor made = apply_node(ensure_shape_op{dims{D...}}, where, x);
    if constexpr (typed_operand<X>) {
        static_assert(!extents_of<X>::value.known_rank() || rules::compatible(extents_of<X>::value, dims{D...}),
                      "ensure_shape: the tensor has another shape");
        return tensor<value_type_of<X>, D...>(detail::unchecked, made);
    } else {
        return made;
    }
}
/// Returns x after a check against a shape known only at run time.
template <graph_operand X>
any_tensor ensure_shape(const X& x, const dims& shape,
                        const std::source_location& where = std::source_location::current()) {
    return apply_node(ensure_shape_op{shape}, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> ensure_shape_op::outputs(std::span<const tensor_type> in) const {
    const dims& is = in[0].shape;
    if (!is.known_rank()) return {{in[0].type, wanted}};
    if (!wanted.known_rank()) return {in[0]};
    if (!rules::compatible(is, wanted))
        throw invalid_argument("the shape is " + to_string(is) + ", not " + to_string(wanted));
    return {{in[0].type, rules::merge(is, wanted)}};
}

}} // namespace rill::RILL_ABI
#endif
