// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat_parts.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of several tensors concatenated along an axis.
constexpr shape_result concat(std::span<const dims> all, int axis) {
    shape_result r{all[0]};
    if (r.shape.known_rank() && normal_axis(axis, r.shape.rank) < 0) return shape_result::wrong_axis(r.shape, axis);
    for (std::size_t i = 1; i < all.size() && r.ok(); ++i) {
        if (!r.shape.known_rank()) return {dims::unknown()};
        r = concat(r.shape, all[i], axis);
    }
    return r;
}

} // namespace rules

struct concat_grad_op;

/// Concatenates tensors along an axis. All other extents must agree. Gradient: g, split into the parts.
struct concat_op {
    static constexpr auto name = "Concat";
    static constexpr int least_inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<concat_grad_op>;
    int axis = 0;

    static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        auto parts = detail::concat_parts(request.outputs[0].shape, request.inputs, axis, false);
        return kernel([parts = std::move(parts)](const kernel_args& a) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (!parts[i].empty)
                    D::copy(a.on, a.in<T>(static_cast<int>(i)), a.out<T>(0) + parts[i].begin, parts[i].layout);
        });
    }
};

template <class... E> inline constexpr bool ranks_agree = ((E::rank == std::max({E::rank...})) && ...);
/// True if all extents except those along the axis agree.
template <int Axis, class... E>
inline constexpr bool extents_beside_agree = rules::concat(std::array<dims, sizeof...(E)>{static_dims<E>...}, Axis).ok();

namespace detail {

template <int Axis, class... X> auto concat_at(const std::source_location& where, const X&... x) {
    using first = typename first_operand<X...>::type;
    if constexpr ((typed_operand<X> && ...)) {
        static_assert((dtypes_agree<rill::dtype_tag<first>, rill::dtype_tag<X>> && ...),
                      "concat: the dtypes differ; convert with cast<T>()");
        static_assert(ranks_agree<extents_of<X>...>, "concat: the ranks differ");
        static_assert(axes_exist<extents_of<first>, Axis>, "concat: the axis is out of range");
        if constexpr (ranks_agree<extents_of<X>...> && axes_exist<extents_of<first>, Axis>)
            static_assert(extents_beside_agree<Axis, extents_of<X>...>, "concat: the extents beside the axis differ");
    }
    return apply_node(
        concat_op{Axis},
        [](const auto&... shape) { return rules::concat(std::array<dims, sizeof...(shape)>{shape...}, Axis); }, where,
        x...);
}

} // namespace detail

/// Concatenates tensors: concat<0>(a, b, …). A negative axis counts from the end.
template <int Axis, graph_operand X>
auto concat(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::concat_at<Axis>(where, x);
}
template <int Axis, graph_operand A, graph_operand B>
auto concat(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    return detail::concat_at<Axis>(where, a, b);
}
template <int Axis, graph_operand A, graph_operand B, graph_operand C>
auto concat(const A& a, const B& b, const C& c, const std::source_location& where = std::source_location::current()) {
    return detail::concat_at<Axis>(where, a, b, c);
}
template <int Axis, graph_operand... X>
    requires(sizeof...(X) > 3)
auto concat(const X&... x) {
    // a default source location can't follow the pack; the operands give the place
    return detail::concat_at<Axis>(std::source_location{}, x...);
}
/// Concatenates tensors whose number or types are known only at run time: concat({x, z}, 0), concat(parts, 0).
template <tensor_list L = std::vector<any_tensor>>
auto concat(const L& all, int axis, const std::source_location& where = std::source_location::current()) {
    using X = typename L::value_type;
    detail::require_kernel_for<concat_op, X>();
    const auto inputs = detail::sealed_list("concat", all, where);
    const graph g(*inputs[0].from->owner);
    const endpoint made{detail::add_node(g, make_op(concat_op{axis}), inputs, {}, false, where), 0};
    return detail::typed_result<void, X>(detail::rank_of_first, any_tensor(made));
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/concat_grad.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> concat_op::outputs(std::span<const tensor_type> in) const {
    std::vector<dims> shapes;
    for (const auto& t : in) {
        if (t.type != in[0].type)
            throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(t));
        shapes.push_back(t.shape);
    }
    const auto joined = rules::concat(shapes, axis);
    if (!joined.ok()) throw invalid_argument(joined.reason());
    return {{in[0].type, joined.shape}};
}

RILL_INLINE std::vector<endpoint> concat_op::gradient(const gradient_request& r) const {
    endpoint_list inputs{r.gradient()};
    inputs.append(r.at.inputs);
    const endpoint cut = r.add<concat_op>(concat_grad_op{axis}, std::move(inputs));
    std::vector<endpoint> parts;
    for (std::size_t i = 0; i < r.at.inputs.size(); ++i) parts.push_back({cut.from, static_cast<int>(i)});
    return parts;
}

}} // namespace rill::RILL_ABI
#endif
