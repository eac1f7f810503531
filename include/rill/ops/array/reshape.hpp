// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape_like.hpp>
#include <rill/ops/array/shape_input.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reshapes a tensor to a shape of the same size. One extent may be dyn; it is inferred. The shape is a field, or the second
/// input. Shares the memory of x. Gradient: g, reshaped back.
struct reshape_op {
    static constexpr auto name = "Reshape";
    static constexpr int least_inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    using brings = op_list<reshape_op, reshape_like_op>;
    static constexpr int alias = 0;
    dims to;

    static void fields(auto& op, auto& visit) { visit("shape", op.to); }
    static input_list shape_inputs() { return {1}; }
    constexpr shape_result shape(const dims& x) const {
        if (!to.known_rank()) return {dims::unknown(), "the new rank must be known"};
        for (int i = 0; i < to.rank; ++i)
            if (to[i] < dyn) return {to, "an extent is negative"};
        if (to.dynamic_extents() > 1) return {to, "at most one extent may be dyn"};
        if (!rules::sizes_compatible(x, to)) return {to, "the sizes differ"};
        return rules::reshape(x, to);
    }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

namespace detail {

/// Returns the gradient of an op that only reshapes x: g in the shape of x. The run provides the shape if it is not static.
/// The op must bring reshape.
template <class Op> std::vector<endpoint> reshaped_back(const gradient_request& r) {
    const dims& shape = type_of(r.input(0)).shape;
    const bool empty = std::find(shape.extent.begin(), shape.extent.begin() + std::max(shape.rank, 0), 0) !=
                       shape.extent.begin() + std::max(shape.rank, 0); // with an extent of 0, dyn can't be inferred
    if (shape.complete() || (shape.known_rank() && shape.dynamic_extents() == 1 && !empty))
        return {r.add<Op>(reshape_op{shape}, {r.gradient()})};
    return {r.add<Op>(reshape_like_op{}, {r.gradient(), r.input(0)})};
}

/// The base of ops that change a tensor's rank. The result shares the input's memory.
struct rank_change {
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    using brings = op_list<reshape_op, reshape_like_op>;
    static constexpr int alias = 0;

    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return copy_of_input<D>(request); }
};

} // namespace detail

template <index_t... D> inline constexpr bool one_dynamic_extent = static_dims<extents<D...>>.dynamic_extents() <= 1;

/// Reshapes x: reshape<dyn, 4>(x). At most one extent is dyn; it is inferred.
template <index_t... D, graph_operand X>
auto reshape(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(one_dynamic_extent<D...>, "reshape: at most one extent may be dyn");
    if constexpr (typed_operand<X>)
        static_assert(sizes_agree<extents_of<X>, extents<D...>>, "reshape: the sizes differ");
    constexpr auto rule = [](const dims& shape) { return reshape_op{dims{D...}}.shape(shape); };
    return apply_node(reshape_op{extents<D...>::value}, rule, where, x);
}
/// Reshapes x to a shape known only at run time.
template <graph_operand X>
any_tensor reshape(const X& x, const dims& to, const std::source_location& where = std::source_location::current()) {
    return apply_node(reshape_op{to}, where, x);
}
/// Reshapes x to the shape given by an integer tensor: a constant, shape(y), or a computed value.
template <graph_operand X, graph_operand S>
auto reshape(const X& x, const S& to, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<S>)
        static_assert(is_shape_tensor<extents_of<S>, value_type_of<S>>,
                      "reshape: the new shape must be of rank 1, and of int or std::int64_t");
    constexpr auto rule = [](const dims&, const dims& s) { return shape_result{detail::rank_from(s)}; };
    detail::enable_dynamic_shapes();
    return apply_node(reshape_op{}, rule, where, x, to);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> reshape_op::outputs(const known_inputs& in) const {
    if (in.types.size() > 2) throw invalid_argument("a tensor, and a shape at most, are expected");
    const dims asked = in.types.size() == 2 ? detail::shape_from(in, 1) : to;
    if (in.types.size() == 2 && (!asked.known_rank() || (asked.rank > 0 && !in.value(1))))
        return {{in.types[0].type, asked}}; // the run determines the rest
    const auto r = reshape_op{asked}.shape(in.types[0].shape);
    if (!r.ok()) throw invalid_argument(r.reason() + " (asked for " + to_string(asked) + ")");
    return {{in.types[0].type, r.shape}};
}

RILL_INLINE std::vector<endpoint> reshape_op::gradient(const gradient_request& r) const {
    auto d = detail::reshaped_back<reshape_op>(r);
    d.resize(r.at.inputs.size());
    return d;
}

RILL_INLINE std::vector<endpoint> detail::rank_change::gradient(const gradient_request& r) const {
    return reshaped_back<rank_change>(r);
}

}} // namespace rill::RILL_ABI
#endif
