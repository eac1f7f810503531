// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns true if a value of shape `from` can take the shape `to`, as far as is known.
constexpr bool sizes_compatible(const dims& from, const dims& to) {
    if (!from.known_rank() || !to.known_rank()) return true;
    const index_t a = known_size(from), b = known_size(to); // negative: the size overflows an index
    if (from.complete() && to.complete()) return a == b && a >= 0;
    // The unknown extents must account for the quotient of the sizes. If a size overflows, they must make it 0.
    const auto makes = [](index_t part, index_t all) { return part > 0 ? all >= 0 && all % part == 0 : all == 0; };
    if (to.complete()) return makes(a, b);
    if (from.complete()) return makes(b, a);
    return true;
}

} // namespace rules

/// Reshapes x to the shape of another tensor of the same size, whose values are not read. Gradient: g, reshaped back.
struct reshape_like_op {
    static constexpr auto name = "ReshapeLike";
    static constexpr int inputs = 2;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr int alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {1}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

/// True if shapes From and To can have the same size.
template <class From, class To> inline constexpr bool sizes_agree = rules::sizes_compatible(static_dims<From>, static_dims<To>);

/// Reshapes x to the shape of y: reshape_like(x, y). It supports shapes with several dynamic extents.
template <graph_operand X, graph_operand Y>
auto reshape_like(const X& x, const Y& like, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X> && typed_operand<Y>)
        static_assert(sizes_agree<extents_of<X>, extents_of<Y>>, "reshape_like: the sizes differ");
    return apply_node(reshape_like_op{}, [](const dims&, const dims& y) { return shape_result{y}; }, where, x, like);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> reshape_like_op::outputs(std::span<const tensor_type> in) const {
    if (!rules::sizes_compatible(in[0].shape, in[1].shape)) throw invalid_argument("the sizes differ");
    return {{in[0].type, in[1].shape}};
}

RILL_INLINE std::vector<endpoint> reshape_like_op::gradient(const gradient_request& r) const {
    return {r.add<reshape_like_op>(reshape_like_op{}, {r.gradient(), r.input(0)}), {}};
}

}} // namespace rill::RILL_ABI
#endif
