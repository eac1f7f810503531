// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/split.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Each extent, so many times.
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

} // namespace rules

namespace detail {

/// The copies that repeat a tensor: one layout, from several places on.
struct tiling {
    strided_layout layout;
    vector<index_t> begins; // in the result
};
tiling tiling_of(const dims& x, const dims& multiples);

} // namespace detail

/// A tensor repeated along its axes. Gradient: the sum of what reaches the repetitions.
struct tile_op {
    static constexpr auto name = "Tile";
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<reshape_op, split_op, add_op, combining<combine::sum>>;
    dims multiples;

    static void fields(auto& op, auto& visit) { visit("multiples", op.multiples); }
    constexpr shape_result shape(const dims& x) const { return rules::tile(x, multiples); }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const bool empty = request.outputs[0].shape.size() == 0;
        return kernel([=, t = detail::tiling_of(request.inputs[0].shape, multiples)](const kernel_args& a) {
            if (empty) return;
            for (const index_t begin : t.begins) D::copy(a.in<T>(0), a.out<T>(0) + begin, t.layout);
        });
    }
};

template <class E, index_t... Multiples>
inline constexpr bool a_multiple_for_each_axis = rules::tile(E::value, dims{Multiples...}).ok();

/// tile<2, 1>(x): twice along the first axis.
template <index_t... Multiples, graph_operand X>
auto tile(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(a_multiple_for_each_axis<extents_of<X>, Multiples...>,
                      "tile: a multiple is expected for each axis, none of them negative");
    constexpr auto rule = [](const dims& shape) { return rules::tile(shape, dims{Multiples...}); };
    return apply_node(tile_op{dims{Multiples...}}, rule, where, x);
}
/// By multiples known at run time only.
template <graph_operand X>
any_tensor tile(const X& x, const dims& multiples,
                const std::source_location& where = std::source_location::current()) {
    return apply_node(tile_op{multiples}, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE tiling tiling_of(const dims& x, const dims& multiples) {
    tiling t;
    const auto from = dense_strides(x), to = dense_strides(rules::tile(x, multiples).shape);
    int room = max_rank - x.rank; // dimensions of the layout that are left for repetitions
    t.begins.push_back(0);
    for (int i = 0; i < x.rank; ++i) {
        const index_t step = x[i] * to[i];
        if (multiples[i] > 1 && room > 0) {
            t.layout.push(multiples[i], 0, step);
            --room;
        } else if (multiples[i] > 1) {
            vector<index_t> all;
            for (index_t k = 0; k < multiples[i]; ++k)
                for (const index_t begin : t.begins) all.push_back(begin + k * step);
            t.begins = std::move(all);
        }
        t.layout.push(x[i], from[i], to[i]);
    }
    t.layout.collapse();
    return t;
}

} // namespace detail

RILL_INLINE std::vector<endpoint> tile_op::gradient(const gradient_request& r) const {
    // along one axis after the other: its repetitions as an axis of their own, which is summed, where the shapes are known so
    // far; as parts, which are added, elsewhere
    endpoint g = r.gradient();
    const dims& x = type_of(r.input(0)).shape;
    for (int i = 0; i < multiples.rank; ++i) {
        if (multiples[i] == 1) continue;
        dims apart = type_of(g).shape;
        if (multiples[i] == 0) return {detail::filled_like(r.input(0), 0)};
        dims wide; // where it can be told
        if (x.known_rank() && x.rank < max_rank)
            for (int k = 0; k < x.rank; ++k) {
                if (k == i) wide.push(multiples[i]);
                wide.push(k == i ? x[k] : apart[k]);
            }
        bool empty = false;
        for (int k = 0; k < wide.rank; ++k) empty |= wide[k] == 0; // then no dyn can be worked out
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
