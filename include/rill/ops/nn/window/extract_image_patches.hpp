// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/pool_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of the elements under each window. [batch, in.., channels] gives [batch, out.., size * channels].
constexpr shape_result image_patches(const dims& x, const window& w, window_shape* made = nullptr) {
    if (!x.known_rank()) return {dims::unknown()};
    const int axes = x.rank - 2;
    const auto refuse = [&](const char* why) { return shape_result{of_rank(x.rank < 1 ? 1 : x.rank), why}; };
    if (axes < 1 || axes > max_window_axes) return refuse("the image must have 1 to 3 axes between batch and channels");
    if (const char* broken = checked_window(w, axes)) return refuse(broken);
    if (w.size.count == 0) return refuse("the window has no size");
    dims r = x;
    index_t positions = 1;
    for (int i = 0; i < axes; ++i) {
        const index_t size = w.size.along(i, 1);
        if (size < 1) return refuse("the window is empty");
        const auto placed = place_window(x[i + 1], size, w, i, 1);
        if (placed.broken) return refuse(placed.broken);
        if (positions > std::numeric_limits<std::int32_t>::max() / size)
            return refuse("there would be more elements than an index counts");
        positions *= size;
        r[i + 1] = placed.axis.out;
        if (made) made->axis[max_window_axes - axes + i] = placed.axis;
    }
    if (made) made->batch = r[0];
    const index_t channels = x[x.rank - 1];
    if (channels > std::numeric_limits<index_t>::max() / positions)
        return refuse("there would be more elements than an index counts");
    r[x.rank - 1] = channels == dyn ? dyn : channels * positions;
    return {r};
}

} // namespace rules

struct extract_image_patches_grad_op;

/// Copies the patch under each window to one row, with zeros outside the image. [batch, in.., channels] gives [batch, out.., size *
/// channels]. Gradient: each element of g is added to its source pixel.
struct extract_image_patches_op : detail::window_op {
    static constexpr auto name = "ExtractImagePatches", label = "extract_image_patches";
    using domain_type = domains::real;
    using compiled_types = types::floats;
    using brings = op_list<extract_image_patches_grad_op>;
    using window_op::window_op;

    shape_result shape(const dims& x) const { return rules::image_patches(x, at()); }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& x = request.inputs[0].shape;
        window_shape w;
        (void)rules::image_patches(x, at(), &w);
        request.shared = request.on.pool && windows_are_shared(w, x[x.rank - 1]);
        return kernel(
            [w, channels = x[x.rank - 1], empty = request.outputs[0].shape.size() == 0](const kernel_args& a) {
                if (!empty) D::image_patches(a.on, w, channels, a.in<T>(0), a.out<T>(0));
            });
    }
};

/// Computes the gradient of ExtractImagePatches. Inputs: a tensor of the image's shape, whose values are not read, and the gradient of the
/// patches. Gradient: the patches of g.
struct extract_image_patches_grad_op : detail::window_op {
    static constexpr auto name = "ExtractImagePatchesGrad", label = "extract_image_patches_grad";
    static constexpr int inputs = 2;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<extract_image_patches_op>;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {0}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& x = request.inputs[0].shape;
        window_shape w;
        (void)rules::image_patches(x, at(), &w);
        request.shared = request.on.pool && windows_are_shared(w, x[x.rank - 1]);
        return kernel(
            [w, channels = x[x.rank - 1], empty = request.outputs[0].shape.size() == 0](const kernel_args& a) {
                if (!empty) D::image_patches_gradient(a.on, w, channels, a.in<T>(1), a.out<T>(0));
            });
    }
};

/// True if the window W fits the image X.
template <class X, window W> inline constexpr bool patches_fit = rules::image_patches(static_dims<X>, W).ok();

/// Extracts patches of x [batch, height, width, channels]: extract_image_patches<window{.size = {3, 3}}>(x). The default strides
/// are 1.
template <window W, graph_operand X>
auto extract_image_patches(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(detail::is_pooled<extents_of<X>::rank>,
                      "extract_image_patches: the image must have the dimensions [batch, height, width, channels]");
        if constexpr (detail::is_pooled<extents_of<X>::rank>)
            static_assert(patches_fit<extents_of<X>, W>,
                          "extract_image_patches: the window is larger than the image, or "
                          "a number of the window is wrong");
        static_assert(domains::real::has<value_type_of<X>>, "extract_image_patches: the element type is not real");
    }
    constexpr auto rule = [](const dims& image) { return rules::image_patches(image, W); };
    return apply_node(extract_image_patches_op(W), rule, where, x);
}
/// Extracts patches with a window known only at run time.
template <graph_operand X>
any_tensor extract_image_patches(const X& x, const window& w,
                                 const std::source_location& where = std::source_location::current()) {
    return apply_node(extract_image_patches_op(w), where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> extract_image_patches_op::gradient(const gradient_request& r) const {
    return {r.add<extract_image_patches_op>(with_window<extract_image_patches_grad_op>(), {r.input(0), r.gradient()})};
}

RILL_INLINE std::vector<tensor_type> extract_image_patches_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_same_types(in);
    const auto result = detail::checked_window_result(in[0].type, rules::image_patches(in[0].shape, at()));
    detail::check_gradient_of_window(in[1], result.shape);
    return {in[0]};
}

RILL_INLINE std::vector<endpoint> extract_image_patches_grad_op::gradient(const gradient_request& r) const {
    return {{}, r.add<extract_image_patches_grad_op>(with_window<extract_image_patches_op>(), {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
