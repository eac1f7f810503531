// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/window.hpp>
#include <rill/expr/node_op.hpp>

// The common fields of ops with windows.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A window as the fields of an op. Empty lists stand for defaults.
struct window_op {
    index_list ksize, strides, dilations, before, after;
    std::int32_t padding = rill::padding::valid;

    window_op() = default;
    explicit window_op(const rill::window& w);

    /// Returns the window. A graph file may hold lists of invalid lengths. They give a window that the shape rules refuse.
    rill::window at() const;

    static void fields(auto& op, auto& visit) {
        visit("ksize", op.ksize);
        visit("strides", op.strides);
        visit("dilations", op.dilations);
        visit("padding", op.padding);
        visit("pads_before", op.before);
        visit("pads_after", op.after);
    }
    /// Returns another op with the same window.
    template <class Op> Op with_window() const {
        Op other;
        static_cast<window_op&>(other) = *this;
        return other;
    }
};

/// Returns the result type of a window's shape rule. Throws its reason if the rule is broken.
tensor_type checked_window_result(dtype type, const shape_result& made);

/// Throws invalid_argument if dtypes differ.
void check_same_types(std::span<const tensor_type> in);

/// Throws invalid_argument if a gradient's shape cannot be that of the result.
void check_gradient_of_window(const tensor_type& g, const dims& result);

template <class X> int image_axes_of(const X& x) {
    if constexpr (typed_operand<X>)
        return extents_of<X>::rank - 2;
    else
        return rank_of(x) - 2;
}

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE window_op::window_op(const rill::window& w) : padding(w.padding) {
    const auto list = [](const window_numbers& n) {
        index_list all;
        for (int i = 0; i < n.count; ++i) all.push(n.number[i]);
        return all;
    };
    ksize = list(w.size);
    strides = list(w.strides);
    dilations = list(w.dilations);
    for (int i = 0; i < w.pads.count; ++i) {
        before.push(w.pads.pads[i].before);
        after.push(w.pads.pads[i].after);
    }
    if (w.pads.count != 0) padding = rill::padding::explicit_pads;
}

RILL_INLINE rill::window window_op::at() const {
    constexpr int impossible = max_window_axes + 1;
    const auto count = [](const index_list& all) {
        return all.rank < 0 || all.rank > max_window_axes ? impossible : all.rank;
    };
    const auto numbers = [&](const index_list& all) {
        window_numbers n;
        n.count = count(all);
        for (int i = 0; i < std::min(n.count, max_window_axes); ++i) n.number[i] = all[i];
        return n;
    };
    rill::window w{numbers(ksize), numbers(strides), numbers(dilations)};
    w.padding = static_cast<rill::padding::kind>(padding);
    w.pads.count = before.rank == after.rank ? count(before) : impossible;
    for (int i = 0; i < std::min(w.pads.count, max_window_axes); ++i) w.pads.pads[i] = {before[i], after[i]};
    if (padding < rill::padding::valid || padding > rill::padding::explicit_pads) w.pads.count = impossible;
    return w;
}

RILL_INLINE tensor_type checked_window_result(dtype type, const shape_result& made) {
    if (!made.ok()) throw invalid_argument(made.reason());
    return {type, made.shape};
}

RILL_INLINE void check_same_types(std::span<const tensor_type> in) {
    for (const auto& t : in)
        if (t.type != in[0].type)
            throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(t));
}

RILL_INLINE void check_gradient_of_window(const tensor_type& g, const dims& result) {
    if (!rules::compatible(g.shape, result))
        throw invalid_argument("a gradient of the shape " + to_string(result) + " is expected, not " +
                               to_string(g.shape));
}

}}} // namespace rill::RILL_ABI::detail
#endif
