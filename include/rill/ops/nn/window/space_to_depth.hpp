// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/pad.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/strided_slice.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/nn/window/window_op.hpp>

// Ops that move pixels between the height and width of images [batch, height, width, channels] and their channels or batch. They consist of
// reshape and transpose.

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Blocks of height and width. The pads are added around the image before, or cropped from it afterwards.
struct image_blocks {
    index_t height = 1, width = 1;
    padding vertical = {}, horizontal = {};
};

constexpr const char* checked_blocks(const dims& x, const image_blocks& b) {
    if (x.known_rank() && x.rank != 4) return "the image must have 4 dimensions: [batch, height, width, channels]";
    if (b.height < 1 || b.width < 1) return "a block must be at least 1";
    return nullptr;
}

constexpr index_t divided(index_t a, index_t by) { return a == dyn ? dyn : a / by; }
constexpr index_t times(index_t a, index_t by) { return a == dyn ? dyn : a * by; }

constexpr shape_result space_to_depth(const dims& x, index_t block) {
    if (const char* broken = checked_blocks(x, {block, block})) return {of_rank(4), broken};
    if (!x.known_rank()) return {of_rank(4)};
    if ((x[1] != dyn && x[1] % block != 0) || (x[2] != dyn && x[2] % block != 0))
        return {of_rank(4), "the block does not divide height and width"};
    return {dims{x[0], divided(x[1], block), divided(x[2], block), times(x[3], block * block)}};
}

constexpr shape_result depth_to_space(const dims& x, index_t block) {
    if (const char* broken = checked_blocks(x, {block, block})) return {of_rank(4), broken};
    if (!x.known_rank()) return {of_rank(4)};
    if (x[3] != dyn && x[3] % (block * block) != 0)
        return {of_rank(4), "the square of the block does not divide the channels"};
    return {dims{x[0], times(x[1], block), times(x[2], block), divided(x[3], block * block)}};
}

constexpr shape_result space_to_batch(const dims& x, const image_blocks& b) {
    if (const char* broken = checked_blocks(x, b)) return {of_rank(4), broken};
    const auto padded =
        pad(x, dims{0, b.vertical.before, b.horizontal.before, 0}, dims{0, b.vertical.after, b.horizontal.after, 0});
    if (!padded.ok()) return {of_rank(4), padded.broken};
    const dims& p = padded.shape;
    if (!p.known_rank()) return {of_rank(4)};
    if ((p[1] != dyn && p[1] % b.height != 0) || (p[2] != dyn && p[2] % b.width != 0))
        return {of_rank(4), "the blocks do not divide the padded height and width"};
    return {dims{times(p[0], b.height * b.width), divided(p[1], b.height), divided(p[2], b.width), p[3]}};
}

constexpr shape_result batch_to_space(const dims& x, const image_blocks& b) {
    if (const char* broken = checked_blocks(x, b)) return {of_rank(4), broken};
    if (!x.known_rank()) return {of_rank(4)};
    if (x[0] != dyn && x[0] % (b.height * b.width) != 0)
        return {of_rank(4), "the product of the blocks does not divide the batch"};
    const auto cropped = [](index_t n, const padding& p) { return n == dyn ? dyn : n - p.before - p.after; };
    const index_t height = cropped(times(x[1], b.height), b.vertical),
                  width = cropped(times(x[2], b.width), b.horizontal);
    const bool fits = (height == dyn || height >= 0) && (width == dyn || width >= 0) && b.vertical.before >= 0 &&
                      b.vertical.after >= 0 && b.horizontal.before >= 0 && b.horizontal.after >= 0;
    if (!fits) return {of_rank(4), "the crops are larger than the image"};
    return {dims{divided(x[0], b.height * b.width), height, width, x[3]}};
}

} // namespace rules

namespace detail {

/// The shapes and the axis order of a move, which consists of reshape, transpose and reshape.
struct image_move {
    dims apart;
    axis_list order;
    dims together;
};
image_move move_space_to_depth(const dims& x, index_t block);
image_move move_depth_to_space(const dims& x, index_t block);
image_move move_space_to_batch(const dims& x, const rules::image_blocks& b);
image_move move_batch_to_space(const dims& x, const rules::image_blocks& b);

/// Throws invalid_argument if a shape rule is broken. Height, width and channels must be known when the node is built.
void check_image_move(const char* op, const tensor_type& x, const shape_result& made,
                      const std::source_location& where);

/// Returns a handle of the given rank, typed if X is typed.
template <int Rank, class X> auto with_rank(const any_tensor& made) {
    constexpr auto rule = [](const dims&) { return shape_result{rules::of_rank(Rank)}; };
    return typed_result<void, X>(rule, made);
}

template <class X> any_tensor moved_image(const X& x, const image_move& m, const std::source_location& where) {
    const auto apart = with_rank<6, X>(reshape(x, m.apart, where));
    return reshape(transpose(apart, m.order, where), m.together, where);
}

} // namespace detail

/// Moves each block of 2 x 2 pixels to one pixel with four times the channels: space_to_depth<2>(x).
template <index_t Block, graph_operand X>
auto space_to_depth(const X& x, const std::source_location& where = std::source_location::current()) {
    constexpr auto rule = [](const dims& shape) { return rules::space_to_depth(shape, Block); };
    if constexpr (typed_operand<X>)
        static_assert(rule(extents_of<X>::value).ok(),
                      "space_to_depth: the block does not divide height and width of [batch, height, width, channels]");
    const auto type = detail::operand_type(x);
    detail::check_image_move("space_to_depth", type, rule(type.shape), where);
    return detail::typed_result<void, X>(rule,
                                         detail::moved_image(x, detail::move_space_to_depth(type.shape, Block), where));
}

/// Moves each pixel to a block of 2 x 2 pixels: depth_to_space<2>(x). It is the inverse of space_to_depth.
template <index_t Block, graph_operand X>
auto depth_to_space(const X& x, const std::source_location& where = std::source_location::current()) {
    constexpr auto rule = [](const dims& shape) { return rules::depth_to_space(shape, Block); };
    if constexpr (typed_operand<X>)
        static_assert(
            rule(extents_of<X>::value).ok(),
            "depth_to_space: the square of the block does not divide the channels of [batch, height, width, channels]");
    const auto type = detail::operand_type(x);
    detail::check_image_move("depth_to_space", type, rule(type.shape), where);
    return detail::typed_result<void, X>(rule,
                                         detail::moved_image(x, detail::move_depth_to_space(type.shape, Block), where));
}

/// Moves every second row and column to an image of its own in the batch: space_to_batch<2, 2>(x). The images are first padded with zeros.
template <index_t Height, index_t Width, padding Vertical = padding{}, padding Horizontal = padding{}, graph_operand X>
auto space_to_batch(const X& x, const std::source_location& where = std::source_location::current()) {
    constexpr rules::image_blocks blocks{Height, Width, Vertical, Horizontal};
    constexpr auto rule = [](const dims& shape) {
        return rules::space_to_batch(shape, {Height, Width, Vertical, Horizontal});
    };
    if constexpr (typed_operand<X>)
        static_assert(
            rule(extents_of<X>::value).ok(),
            "space_to_batch: the blocks do not divide the padded height and width of [batch, height, width, channels]");
    const auto type = detail::operand_type(x);
    detail::check_image_move("space_to_batch", type, rule(type.shape), where);
    const auto padded = pad<padding{}, Vertical, Horizontal, padding{}>(x, pad_constant{}, where);
    const auto move = detail::move_space_to_batch(detail::operand_type(padded).shape, blocks);
    return detail::typed_result<void, X>(rule, detail::moved_image(padded, move, where));
}

/// Moves images of the batch back to rows and columns, then crops them: batch_to_space<2, 2>(x). It is the inverse of
/// space_to_batch.
template <index_t Height, index_t Width, padding Vertical = padding{}, padding Horizontal = padding{}, graph_operand X>
auto batch_to_space(const X& x, const std::source_location& where = std::source_location::current()) {
    constexpr rules::image_blocks blocks{Height, Width, Vertical, Horizontal};
    constexpr auto rule = [](const dims& shape) {
        return rules::batch_to_space(shape, {Height, Width, Vertical, Horizontal});
    };
    if constexpr (typed_operand<X>)
        static_assert(rule(extents_of<X>::value).ok(),
                      "batch_to_space: the blocks do not divide the batch, or the crops are larger than the image");
    const auto type = detail::operand_type(x);
    const auto made = rule(type.shape);
    detail::check_image_move("batch_to_space", type, made, where);
    const auto whole =
        detail::with_rank<4, X>(detail::moved_image(x, detail::move_batch_to_space(type.shape, blocks), where));
    if constexpr (Vertical == padding{} && Horizontal == padding{}) {
        return detail::typed_result<void, X>(rule, any_tensor(detail::seal(whole)));
    } else {
        strided_slice_op crop;
        crop.ranges = {slice_range{}, slice_range{Vertical.before, Vertical.before + made.shape[1]},
                       slice_range{Horizontal.before, Horizontal.before + made.shape[2]}};
        return detail::typed_result<void, X>(rule, any_tensor(apply_node(crop, where, whole)));
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE image_move move_space_to_depth(const dims& x, index_t b) {
    return {{x[0], x[1] / b, b, x[2] / b, b, x[3]}, {0, 1, 3, 2, 4, 5}, {x[0], x[1] / b, x[2] / b, b * b * x[3]}};
}

RILL_INLINE image_move move_depth_to_space(const dims& x, index_t b) {
    const index_t channels = x[3] / (b * b);
    return {{x[0], x[1], x[2], b, b, channels}, {0, 1, 3, 2, 4, 5}, {x[0], x[1] * b, x[2] * b, channels}};
}

RILL_INLINE image_move move_space_to_batch(const dims& x, const rules::image_blocks& b) {
    const index_t height = x[1] / b.height, width = x[2] / b.width;
    return {{x[0], height, b.height, width, b.width, x[3]},
            {2, 4, 0, 1, 3, 5},
            {rules::times(x[0], b.height * b.width), height, width, x[3]}};
}

RILL_INLINE image_move move_batch_to_space(const dims& x, const rules::image_blocks& b) {
    const index_t batch = rules::divided(x[0], b.height * b.width);
    return {{b.height, b.width, batch, x[1], x[2], x[3]},
            {2, 3, 0, 4, 1, 5},
            {batch, x[1] * b.height, x[2] * b.width, x[3]}};
}

RILL_COLD void check_image_move(const char* op, const tensor_type& x, const shape_result& made,
                                const std::source_location& where) {
    const auto refuse = [&](const std::string& why) {
        throw invalid_argument(std::string(op) + ": " + why + "; the image is " + to_string(x) + at_place(where));
    };
    if (!made.ok()) refuse(made.reason());
    for (int i = 1; i < 4; ++i)
        if (rules::extent_along(x.shape, i) == dyn)
            refuse("height, width and channels must be known when the node is made");
}

}}} // namespace rill::RILL_ABI::detail
#endif
