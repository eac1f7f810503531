// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/strided_layout.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/shape_input.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of x broadcast to `to`. Extents of 1 are repeated and axes are added in front.
constexpr shape_result broadcast_to(const dims& x, const dims& to) {
    if (!to.known_rank()) return {to, "the new rank must be known"};
    for (int i = 0; i < to.rank; ++i)
        if (to[i] < dyn) return {to, "an extent is negative"};
    if (!x.known_rank()) return {to};
    if (x.rank > to.rank) return {to, "the new rank is less than the tensor's"};
    for (int i = 0; i < to.rank - x.rank; ++i)
        if (to[i] == dyn) return {to, "a new axis has no extent"};
    dims r = to;
    for (int i = 0; i < x.rank; ++i) {
        index_t& at = r[to.rank - x.rank + i];
        if (at == dyn)
            at = x[i]; // keeps the extent of x
        else if (x[i] != dyn && x[i] != 1 && x[i] != at)
            return {to, "the tensor does not stretch to that shape"};
    }
    return {r};
}

} // namespace rules

namespace detail {

/// Returns g summed to the shape of x: the gradient of a broadcast.
endpoint summed_like(const endpoint& g, const endpoint& x);

} // namespace detail

/// Broadcasts a tensor to a shape. Extents of 1 are repeated, and axes are added in front. An extent of dyn keeps that of x. The
/// shape is a field, or the second input. Gradient: g, summed to the shape of x.
struct broadcast_to_op {
    static constexpr auto name = "BroadcastTo";
    static constexpr int least_inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<combining<combine::sum>>;
    dims to;

    static void fields(auto& op, auto& visit) { visit("shape", op.to); }
    static input_list shape_inputs() { return {1}; }
    constexpr shape_result shape(const dims& x) const { return rules::broadcast_to(x, to); }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.inputs[0].shape, &y = request.outputs[0].shape;
        const auto from = detail::dense_strides(x), into = detail::dense_strides(y);
        detail::strided_layout l;
        for (int i = 0, k = x.rank - y.rank; i < y.rank; ++i, ++k)
            l.push(y[i], k < 0 || x[k] == 1 ? 0 : from[k], into[i]);
        l.collapse();
        const bool empty = y.size() == 0;
        return kernel([=](const kernel_args& a) {
            if (!empty) D::copy(a.on, a.in<T>(0), a.out<T>(0), l);
        });
    }
};

/// True if a tensor of extents E broadcasts to the shape.
template <class E, index_t... To> inline constexpr bool stretches_to = rules::broadcast_to(static_dims<E>, dims{To...}).ok();

/// Broadcasts x: broadcast_to<4, 3>(x) of [3] or [1, 3] is four equal rows.
template <index_t... To, graph_operand X>
auto broadcast_to(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(stretches_to<extents_of<X>, To...>, "broadcast_to: the tensor does not stretch to that shape");
    constexpr auto rule = [](const dims& shape) { return rules::broadcast_to(shape, dims{To...}); };
    return apply_node(broadcast_to_op{dims{To...}}, rule, where, x);
}
/// Broadcasts x to a shape known only at run time.
template <graph_operand X>
any_tensor broadcast_to(const X& x, const dims& to,
                        const std::source_location& where = std::source_location::current()) {
    return apply_node(broadcast_to_op{to}, where, x);
}
/// Broadcasts x to the shape given by an integer tensor.
template <graph_operand X, graph_operand S>
auto broadcast_to(const X& x, const S& to, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<S>)
        static_assert(is_shape_tensor<extents_of<S>, value_type_of<S>>,
                      "broadcast_to: the new shape must be of rank 1, and of int or std::int64_t");
    constexpr auto rule = [](const dims&, const dims& s) { return shape_result{detail::rank_from(s)}; };
    detail::enable_dynamic_shapes();
    return apply_node(broadcast_to_op{}, rule, where, x, to);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> broadcast_to_op::outputs(const known_inputs& in) const {
    if (in.types.size() > 2) throw invalid_argument("a tensor, and a shape at most, are expected");
    const bool by_input = in.types.size() == 2;
    const dims asked = by_input ? detail::shape_from(in, 1) : to;
    if (by_input && (!asked.known_rank() || (asked.rank > 0 && !in.value(1))))
        return {{in.types[0].type, asked}}; // the run determines the rest
    const auto r = broadcast_to_op{asked}.shape(in.types[0].shape);
    if (!r.ok()) throw invalid_argument(r.reason() + " (asked for " + to_string(asked) + ")");
    return {{in.types[0].type, r.shape}};
}

RILL_INLINE std::vector<endpoint> broadcast_to_op::gradient(const gradient_request& r) const {
    std::vector<endpoint> d{detail::summed_like(r.gradient(), r.input(0))};
    d.resize(r.at.inputs.size());
    return d;
}

namespace detail {

RILL_INLINE endpoint summed_like(const endpoint& g, const endpoint& x) {
    const dtype type = type_of(g).type;
    tracer t({type, type}, {});
    fused_spec spec;
    spec.kind = fused_spec::form::program;
    spec.body = t.finish({t.leaf(0)});
    spec.leaves.push_back({0, {}});
    spec.leaves.push_back({1, {}});
    spec.results.resize(1);
    spec.results[0].like = 1;
    return {add_node(graph(*g.from->owner), make_op(fused_op{std::move(spec)}), {g, x}), 0};
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
