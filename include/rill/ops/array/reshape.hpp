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
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        const auto r = shape(in[0].shape);
        if (!r.ok()) throw invalid_argument(std::string(r.broken) + " (asked for " + to_string(to) + ")");
        return {{in[0].type, r.shape}};
    }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const reshape_op&, const reshape_op&) = default;
};

namespace detail {

/// The gradient of an op that only gives x another shape: g in the shape of x, which the run tells where it must.
inline endpoint in_shape_of(const endpoint& x, const endpoint& g) {
    const graph here(*g.from->owner);
    const dims& shape = type_of(x).shape;
    const auto end = shape.extent.begin() + std::max(shape.rank, 0);
    const bool empty = std::find(shape.extent.begin(), end, 0) != end; // then no dyn can be worked out
    if (shape.complete() || (shape.known_rank() && shape.dynamic_extents() == 1 && !empty))
        return {add_node(here, make_op(reshape_op{shape}), {g}), 0};
    return {add_node(here, make_op(reshape_like_op{}), {g, x}), 0};
}

inline void require_reshape() {
    require_kernel<reshape_op, void>();
    require_kernel<reshape_like_op, void>();
}

template <class E, index_t... D> struct reshape_rule {
    static constexpr dims value = reshape_op{dims{D...}}.shape(E::value).shape;
};

} // namespace detail

inline std::vector<endpoint> reshape_op::gradient(const gradient_request& r) const {
    return {detail::in_shape_of(r.input(0), r.gradient())};
}

template <index_t... D> inline constexpr bool one_dynamic_extent = extents<D...>::value.dynamic_extents() <= 1;

/// reshape<dyn, 4>(x): at most one extent is dyn, and worked out.
template <index_t... D, graph_operand X>
auto reshape(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(one_dynamic_extent<D...>, "reshape: at most one extent may be dyn");
    if constexpr (typed_operand<X>) static_assert(sizes_agree<extents_of<X>, extents<D...>>, "reshape: the sizes differ");
    detail::require_reshape();
    const endpoint made = detail::make_node(reshape_op{extents<D...>::value}, where, x);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, value_type_of<X>, detail::reshape_rule<extents_of<X>, D...>>(made);
    else return any_tensor(made);
}
/// To a shape known at run time only.
template <graph_operand X>
any_tensor reshape(const X& x, const dims& to, const std::source_location& where = std::source_location::current()) {
    detail::require_reshape();
    return detail::make_node(reshape_op{to}, where, x);
}

} // namespace rill::inline RILL_ABI
