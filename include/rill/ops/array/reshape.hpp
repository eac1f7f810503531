// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape_like.hpp>

namespace rill::inline RILL_ABI {

/// Another shape of the same size; one extent may be dyn and is worked out. Shares the memory of x. Gradient: reshaped
/// back.
struct reshape_op {
    static constexpr auto name = "Reshape";
    static constexpr int alias = 0;
    dims to;

    template <class V> void attributes(V& v) const { v("shape", to); }
    constexpr shape_result shape(const dims& x) const {
        if (!to.known_rank()) return {dims::unknown(), "the new rank must be known"};
        for (int i = 0; i < to.rank; ++i)
            if (to[i] < dyn) return {to, "an extent is negative"};
        if (to.dynamic_extents() > 1) return {to, "at most one extent may be dyn"};
        if (!rules::sizes_compatible(x, to)) return {to, "the sizes differ"};
        return rules::reshape(x, to);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const reshape_op&, const reshape_op&) = default;
};

namespace detail {

/// The gradient of an op that only gives x another shape: g in the shape of x, which the run tells where it must.
endpoint in_shape_of(const endpoint& x, const endpoint& g);

inline void require_reshape() {
    require_kernel<reshape_op, void>();
    require_kernel<reshape_like_op, void>();
}

template <class E, index_t... D> struct reshape_rule {
    static constexpr dims value = reshape_op{dims{D...}}.shape(E::value).shape;
};

} // namespace detail

template <index_t... D> inline constexpr bool one_dynamic_extent = extents<D...>::value.dynamic_extents() <= 1;

/// reshape<dyn, 4>(x): at most one extent is dyn, and worked out.
template <index_t... D, graph_operand X>
auto reshape(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(one_dynamic_extent<D...>, "reshape: at most one extent may be dyn");
    if constexpr (typed_operand<X>)
        static_assert(sizes_agree<extents_of<X>, extents<D...>>, "reshape: the sizes differ");
    detail::require_reshape();
    const endpoint made = detail::make_node(reshape_op{extents<D...>::value}, where, x);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, value_type_of<X>, detail::reshape_rule<extents_of<X>, D...>>(made);
    else
        return any_tensor(made);
}
/// To a shape known at run time only.
template <graph_operand X>
any_tensor reshape(const X& x, const dims& to, const std::source_location& where = std::source_location::current()) {
    detail::require_reshape();
    return detail::make_node(reshape_op{to}, where, x);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/reshape.ipp>
#endif
