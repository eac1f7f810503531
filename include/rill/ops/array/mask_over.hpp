// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns true if the mask's extents equal those of the first axes of x, as far as both are known.
constexpr bool masks_first_axes(const dims& x, const dims& mask) {
    if (!x.known_rank() || !mask.known_rank()) return true;
    bool fits = mask.rank <= x.rank;
    for (int i = 0; fits && i < mask.rank; ++i) fits = extents_compatible(x[i], mask[i]);
    return fits;
}

} // namespace rules

/// Returns a mask after a check of its extents against the first axes of another tensor. The values of that tensor are
/// not read.
struct mask_over_op {
    static constexpr auto name = "MaskOver", label = "boolean_mask"; // the function whose nodes it is part of
    static constexpr int inputs = 2;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr int alias = 0;
    static constexpr auto no_gradient = ""; // masks have none

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    static input_list shape_only_inputs() { return {1}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

/// True if the mask's extents equal those of the first axes of X.
template <class X, class Mask>
inline constexpr bool masks_first_axes = Mask::rank >= 1 && rules::masks_first_axes(static_dims<X>, static_dims<Mask>);

/// Returns the mask: mask_over(mask, x). The run throws if the extents differ.
template <graph_operand M, graph_operand X>
auto mask_over(const M& mask, const X& x, const std::source_location& where = std::source_location::current()) {
    return apply_node(mask_over_op{}, [](const dims& m, const dims&) { return shape_result{m}; }, where, mask, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> mask_over_op::outputs(std::span<const tensor_type> in) const {
    if (!rules::masks_first_axes(in[1].shape, in[0].shape))
        throw invalid_argument("the mask's extents are not those of the first axes");
    return {in[0]};
}

}} // namespace rill::RILL_ABI
#endif
