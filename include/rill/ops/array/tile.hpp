// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/shape_input.hpp>
#include <rill/ops/array/split.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape with each extent multiplied by its multiple.
constexpr shape_result tile(const dims& x, const dims& multiples) {
    if (!multiples.known_rank()) return {x, "a multiple is expected for each axis"};
    for (int i = 0; i < multiples.rank; ++i)
        if (multiples[i] < 0) return {x, "a multiple is negative"};
    if (!x.known_rank()) return {dims::unknown()};
    if (multiples.rank != x.rank) return {x, "a multiple is expected for each axis"};
    dims r = x;
    for (int i = 0; i < x.rank; ++i)
        if (multiples[i] == 0)
            r[i] = 0;
        else if (x[i] > std::numeric_limits<index_t>::max() / multiples[i])
            return {x, "there would be more elements than an index counts"};
        else if (x[i] != dyn)
            r[i] = x[i] * multiples[i];
    return {r};
}

/// Returns the partial shape that is known before the values of the multiples, a tensor of the given shape.
constexpr shape_result tile_later(const dims& x, const dims& multiples) {
    const index_t n = extent_along(multiples, 0);
    dims r = x;
    if (x.known_rank() && n != dyn && n != x.rank) return {x, "a multiple is expected for each axis"};
    if (!x.known_rank()) return {detail::rank_from(multiples)};
    for (int i = 0; i < x.rank; ++i) r[i] = dyn;
    return {r};
}

} // namespace rules

namespace detail {

/// The copies that repeat a tensor: one layout, applied at several offsets.
struct tiling {
    strided_layout layout;
    vector<index_t> begins; // offsets in the result
};
tiling tiling_of(const dims& x, const dims& tiled);

} // namespace detail

struct tile_grad_op;

/// Repeats a tensor along its axes. The multiples are a field, or the second input. Gradient: the sum of g over the repetitions.
struct tile_op {
    static constexpr auto name = "Tile";
    static constexpr int least_inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<reshape_op, split_op, add_op, tile_grad_op, combining<combine::sum>>;
    dims multiples;

    static void fields(auto& op, auto& visit) { visit("multiples", op.multiples); }
    constexpr shape_result shape(const dims& x) const { return rules::tile(x, multiples); }
    static input_list shape_inputs() { return {1}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const bool empty = request.outputs[0].shape.size() == 0;
        return kernel(
            [=, t = detail::tiling_of(request.inputs[0].shape, request.outputs[0].shape)](const kernel_args& a) {
                if (empty) return;
                for (const index_t begin : t.begins) D::copy(a.on, a.in<T>(0), a.out<T>(0) + begin, t.layout);
            });
    }
};

template <class E, index_t... Multiples>
inline constexpr bool a_multiple_for_each_axis = rules::tile(static_dims<E>, dims{Multiples...}).ok();

/// True if multiples of extents M have one number for each axis of E, as far as is known.
template <class E, class M> inline constexpr bool as_many_as_axes = rules::tile_later(static_dims<E>, static_dims<M>).ok();

/// Repeats x: tile<2, 1>(x) repeats it twice along the first axis.
template <index_t... Multiples, graph_operand X>
auto tile(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(a_multiple_for_each_axis<extents_of<X>, Multiples...>,
                      "tile: a multiple is expected for each axis, none of them negative");
    constexpr auto rule = [](const dims& shape) { return rules::tile(shape, dims{Multiples...}); };
    return apply_node(tile_op{dims{Multiples...}}, rule, where, x);
}
/// Repeats x by multiples known only at run time.
template <graph_operand X>
auto tile(const X& x, const dims& multiples, const std::source_location& where = std::source_location::current()) {
    return apply_node(tile_op{multiples}, detail::rank_of_first, where, x);
}
/// Repeats x by the multiples given by an integer tensor.
template <graph_operand X, graph_operand M>
auto tile(const X& x, const M& multiples, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<M>)
        static_assert(is_shape_tensor<extents_of<M>, value_type_of<M>>,
                      "tile: the multiples must be of rank 1, and of int or std::int64_t");
    if constexpr (typed_operand<X> && typed_operand<M>)
        static_assert(as_many_as_axes<extents_of<X>, extents_of<M>>, "tile: a multiple is expected for each axis");
    constexpr auto rule = [](const dims& shape, const dims& m) { return rules::tile_later(shape, m); };
    detail::enable_dynamic_shapes();
    return apply_node(tile_op{}, rule, where, x, multiples);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/tile_grad.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE tiling tiling_of(const dims& x, const dims& tiled) {
    tiling t;
    const auto from = dense_strides(x), to = dense_strides(tiled);
    int room = max_rank - x.rank; // dimensions of the layout that are free for repetitions
    t.begins.push_back(0);
    for (int i = 0; i < x.rank; ++i) {
        const index_t step = x[i] * to[i], times = x[i] > 0 ? tiled[i] / x[i] : 0;
        if (times > 1 && room > 0) {
            t.layout.push(times, 0, step);
            --room;
        } else if (times > 1) {
            vector<index_t> all;
            for (index_t k = 0; k < times; ++k)
                for (const index_t begin : t.begins) all.push_back(begin + k * step);
            t.begins = std::move(all);
        }
        t.layout.push(x[i], from[i], to[i]);
    }
    t.layout.collapse();
    return t;
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> tile_op::outputs(const known_inputs& in) const {
    if (in.types.size() > 2) throw invalid_argument("a tensor, and multiples at most, are expected");
    const bool by_input = in.types.size() == 2;
    const dims asked = by_input ? detail::shape_from(in, 1, "the list of multiples") : multiples;
    const dims& x = in.types[0].shape;
    const bool known = !by_input || (asked.known_rank() && (asked.rank == 0 || in.value(1)));
    const auto r = known ? rules::tile(x, asked) : rules::tile_later(x, in.types[1].shape);
    if (!r.ok()) throw invalid_argument(r.reason());
    return {{in.types[0].type, r.shape}};
}

RILL_INLINE std::vector<endpoint> tile_op::gradient(const gradient_request& r) const {
    if (r.at.inputs.size() == 2) return {r.add<tile_op>(tile_grad_op{}, {r.gradient(), r.input(0), r.input(1)}), {}};
    // Handles one axis after the other. With known shapes, a reshape makes the repetitions an axis, which is summed.
    // Otherwise g is split into its repetitions, which are added.
    endpoint g = r.gradient();
    const dims& x = type_of(r.input(0)).shape;
    for (int i = 0; i < multiples.rank; ++i) {
        if (multiples[i] == 1) continue;
        dims apart = type_of(g).shape;
        if (multiples[i] == 0) return {detail::filled_like(r.input(0), 0)};
        dims wide; // stays unknown if the rank is unknown or too high
        if (x.known_rank() && x.rank < max_rank)
            for (int k = 0; k < x.rank; ++k) {
                if (k == i) wide.push(multiples[i]);
                wide.push(k == i ? x[k] : apart[k]);
            }
        bool empty = false;
        for (int k = 0; k < wide.rank; ++k) empty |= wide[k] == 0; // an extent of 0 prevents the inference of dyn
        if (wide.rank > 0 && (wide.complete() || (wide.dynamic_extents() == 1 && !empty))) {
            const endpoint spread = r.add<tile_op>(reshape_op{wide}, {g});
            g = detail::add_reduction(any_tensor(spread), {combine::sum, axis_list{i}, false}, &detail::make_fused_op,
                                      {});
        } else {
            const endpoint first = r.add<tile_op>(split_op{i, multiples[i]}, {g});
            std::vector<endpoint> parts;
            for (int k = 0; k < static_cast<int>(multiples[i]); ++k) parts.push_back({first.from, k});
            g = r.ops.add_n(parts);
        }
    }
    return {g};
}

}} // namespace rill::RILL_ABI
#endif
