// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat_grad.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill::inline RILL_ABI {

namespace rules {

/// Joins several shapes along an axis.
constexpr shape_result concat(std::span<const dims> all, int axis) {
    shape_result r{all[0]};
    if (r.shape.known_rank() && normal_axis(axis, r.shape.rank) < 0) return {r.shape, "the axis is out of range"};
    for (std::size_t i = 1; i < all.size() && r.ok(); ++i) {
        if (!r.shape.known_rank()) return {dims::unknown()};
        r = concat(r.shape, all[i], axis);
    }
    return r;
}

} // namespace rules

/// Joins tensors along an axis. All other extents agree. Gradient: g, cut into parts.
struct concat_op {
    static constexpr auto name = "Concat";
    int axis = 0;

    template <class V> void attributes(V& v) const { v("axis", axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        auto parts = detail::concat_parts(request.outputs[0].shape, request.inputs, axis, false);
        return kernel([parts = std::move(parts)](const kernel_args& a) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (!parts[i].empty)
                    D::copy(a.in<T>(static_cast<int>(i)), a.out<T>(0) + parts[i].begin, parts[i].layout);
        });
    }
    friend bool operator==(const concat_op&, const concat_op&) = default;
};

template <class... E> inline constexpr bool ranks_agree = ((E::rank == std::max({E::rank...})) && ...);
/// All extents but those along the axis agree.
template <int Axis, class... E>
inline constexpr bool extents_beside_agree = rules::concat(std::array<dims, sizeof...(E)>{E::value...}, Axis).ok();

namespace detail {

template <class X> void require_concat() {
    require_kernel_for<concat_op, X>();
    require_fused(); // zeros, in second derivatives
    const auto for_gradient = []<class T>(std::type_identity<T>) {
        if constexpr (is_differentiable(dtype_of<T>)) require_kernel<concat_grad_op, T>();
    };
    if constexpr (typed_operand<X>) {
        for_gradient(std::type_identity<value_type_of<X>>{});
    } else {
        for_gradient(std::type_identity<float>{});
        for_gradient(std::type_identity<double>{});
    }
}

template <int Axis, class... E> struct concat_rule {
    static constexpr dims value = rules::concat(std::array<dims, sizeof...(E)>{E::value...}, Axis).shape;
};

template <class First, class... Rest> struct first_of {
    using type = First;
};

} // namespace detail

/// concat<0>(a, b, …); a negative axis counts from the end.
template <int Axis, graph_operand... X>
    requires(sizeof...(X) > 0)
auto concat(const X&... x) {
    constexpr bool typed = (typed_operand<X> && ...);
    using first = typename detail::first_of<X...>::type;
    if constexpr (typed) {
        static_assert((dtypes_agree<dtype_tag<first>, dtype_tag<X>> && ...),
                      "concat: the dtypes differ; convert with cast<T>()");
        static_assert(ranks_agree<extents_of<X>...>, "concat: the ranks differ");
        static_assert(axes_exist<extents_of<first>, Axis>, "concat: the axis is out of range");
        if constexpr (ranks_agree<extents_of<X>...> && axes_exist<extents_of<first>, Axis>)
            static_assert(extents_beside_agree<Axis, extents_of<X>...>, "concat: the extents beside the axis differ");
    }
    (detail::require_concat<X>(), ...);
    const endpoint made = detail::make_node(concat_op{Axis}, {}, x...);
    if constexpr (typed)
        return detail::typed_result<true, value_type_of<first>, detail::concat_rule<Axis, extents_of<X>...>>(made);
    else
        return any_tensor(made);
}
/// Of tensors whose number or types are known at run time only.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor concat(const std::vector<any_tensor>& all, int axis,
                  const std::source_location& where = std::source_location::current()) {
    if (all.empty()) throw invalid_argument("concat: no tensors were given");
    detail::require_concat<any_tensor>();
    std::vector<endpoint> inputs;
    for (const auto& x : all) inputs.push_back(detail::seal(x));
    return endpoint{detail::add_node(all[0].graph(), make_op(concat_op{axis}), std::move(inputs), {}, false, where), 0};
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/concat.ipp>
#endif
