// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill::inline RILL_ABI {

namespace rules {

/// A value of shape `from` may take the shape `to`, as far as is known.
constexpr bool sizes_compatible(const dims& from, const dims& to) {
    if (!from.known_rank() || !to.known_rank()) return true;
    const auto known = [](const dims& d) {
        index_t n = 1;
        for (int i = 0; i < d.rank; ++i)
            if (d[i] != dyn) n *= d[i];
        return n;
    };
    const index_t a = known(from), b = known(to);
    if (from.complete() && to.complete()) return a == b;
    // the unknown extents are to make up for the difference
    if (to.complete()) return a == 0 ? b == 0 : b % a == 0;
    if (from.complete()) return b == 0 ? a == 0 : a % b == 0;
    return true;
}

} // namespace rules

/// x in the shape of another tensor of the same size, whose values don't matter. Gradient: reshaped back.
struct reshape_like_op {
    static constexpr auto name = "ReshapeLike";
    static constexpr int alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const reshape_like_op&, const reshape_like_op&) = default;
};

/// Shapes From and To can have one size.
template <class From, class To> inline constexpr bool sizes_agree = rules::sizes_compatible(From::value, To::value);

/// reshape_like(x, y): for shapes with several dynamic extents.
template <graph_operand X, graph_operand Y>
auto reshape_like(const X& x, const Y& like, const std::source_location& where = std::source_location::current()) {
    constexpr bool typed = typed_operand<X> && typed_operand<Y>;
    if constexpr (typed) static_assert(sizes_agree<extents_of<X>, extents_of<Y>>, "reshape_like: the sizes differ");
    require_kernel<reshape_like_op, void>();
    const endpoint made = detail::make_node(reshape_like_op{}, where, x, like);
    if constexpr (typed)
        return tensor_of<value_type_of<X>, extents_of<Y>>(detail::unchecked, any_tensor(made));
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/reshape_like.ipp>
#endif
