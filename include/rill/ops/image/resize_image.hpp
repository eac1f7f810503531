// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/ops/math/cast.hpp>

namespace rill { inline namespace RILL_ABI {

struct resize_image_grad_op;

/// Resizes images [.., height, width, channels] in float. "bilinear" and "nearest" sample as in TensorFlow 1: target y lies at source y *
/// height / new height. "area" averages the source pixels that a target pixel covers.
struct resize_image_op {
    static constexpr auto name = "ResizeImage", label = "resize";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    using brings = op_list<resize_image_grad_op>;
    std::string method = "bilinear";
    index_t height = 1, width = 1;

    static void fields(auto& op, auto& visit) {
        visit("method", op.method);
        visit("height", op.height);
        visit("width", op.width);
    }
    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

/// Computes the gradient of ResizeImage. Each pixel of the gradient is distributed to its source pixels. Inputs: a tensor of the images'
/// shape, whose values are not read, and the gradient of the resized images.
struct resize_image_grad_op {
    static constexpr auto name = "ResizeImageGrad", label = "resize_grad";
    static constexpr int inputs = 2;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    using brings = op_list<resize_image_op>;
    std::string method = "bilinear";
    index_t height = 1, width = 1;

    static void fields(auto& op, auto& visit) { resize_image_op::fields(op, visit); }
    static input_list shape_only_inputs() { return {0}; }
    input_list host_inputs() const { return {1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

namespace detail {

template <class E, index_t H, index_t W> struct resized;
template <index_t... D, index_t H, index_t W> struct resized<extents<D...>, H, W> {
    static constexpr dims value = [] {
        dims all{D...};
        all.extent[all.rank - 3] = H;
        all.extent[all.rank - 2] = W;
        return all;
    }();
};

template <index_t H, index_t W, class X>
auto add_resize(const char* method, const X& images, const std::source_location& where) {
    static_assert(typed_operand<X> && extents_of<X>::rank >= 3, "resize: images are [.., height, width, channels]");
    static_assert(H > 0 && W > 0, "resize: height and width are 1 or more");
    resize_image_op op;
    op.method = method;
    op.height = H;
    op.width = W;
    const any_tensor made = apply_node(op, where, sealed(cast<float>(images)));
    return tensor_of<float, extents_of_rule<resized<extents_of<X>, H, W>>>(unchecked, made);
}

} // namespace detail

/// Resizes images: resize_bilinear<28, 28>(images) is [.., 28, 28, channels] in float. Differentiable, as the other methods are.
template <index_t H, index_t W, graph_operand X>
auto resize_bilinear(const X& images, const std::source_location& where = std::source_location::current()) {
    return detail::add_resize<H, W>("bilinear", images, where);
}
template <index_t H, index_t W, graph_operand X>
auto resize_nearest_neighbor(const X& images, const std::source_location& where = std::source_location::current()) {
    return detail::add_resize<H, W>("nearest", images, where);
}
template <index_t H, index_t W, graph_operand X>
auto resize_area(const X& images, const std::source_location& where = std::source_location::current()) {
    return detail::add_resize<H, W>("area", images, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <algorithm>
#include <cmath>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The source pixels of each target pixel along one axis, with their weights.
struct resize_taps {
    struct tap {
        index_t from;
        float weight;
    };
    std::vector<std::vector<tap>> of;

    resize_taps(const std::string& method, index_t in, index_t out) {
        const double scale = static_cast<double>(in) / static_cast<double>(out);
        for (index_t y = 0; y < out; ++y) {
            auto& taps = of.emplace_back();
            const double at = static_cast<double>(y) * scale;
            const auto first = std::min(static_cast<index_t>(std::floor(at)), in - 1);
            if (method == "nearest") {
                taps.push_back({first, 1});
            } else if (method == "bilinear") {
                const auto part = static_cast<float>(at - static_cast<double>(first));
                taps.push_back({first, 1 - part});
                taps.push_back({std::min(first + 1, in - 1), part});
            } else {
                const double end = std::min(at + scale, static_cast<double>(in));
                for (index_t k = first; k < in && static_cast<double>(k) < end; ++k) {
                    const double covered =
                        std::min(end, static_cast<double>(k + 1)) - std::max(at, static_cast<double>(k));
                    taps.push_back({k, static_cast<float>(covered / scale)});
                }
            }
        }
    }
};

} // namespace detail

RILL_COLD std::vector<tensor_type> resize_image_op::outputs(std::span<const tensor_type> in) const {
    if (method != "bilinear" && method != "nearest" && method != "area")
        throw invalid_argument("the method is '" + method + R"('; accepted are "bilinear", "nearest" and "area")");
    if (height < 1 || width < 1)
        throw invalid_argument("the new size is " + std::to_string(height) + " x " + std::to_string(width) +
                               "; both are 1 or more");
    if (in[0].type != dtype::float32 || (in[0].shape.known_rank() && in[0].shape.rank < 3))
        throw invalid_argument("images are float32 [.., height, width, channels], not " + to_string(in[0]));
    dims shape = in[0].shape;
    if (shape.known_rank()) {
        shape[shape.rank - 3] = height;
        shape[shape.rank - 2] = width;
    }
    return {{dtype::float32, shape}};
}

RILL_COLD std::vector<endpoint> resize_image_op::gradient(const gradient_request& r) const {
    return {r.add<resize_image_op>(resize_image_grad_op{method, height, width}, {r.input(0), r.gradient()})};
}

RILL_COLD std::vector<tensor_type> resize_image_grad_op::outputs(std::span<const tensor_type> in) const {
    const auto resized = resize_image_op{method, height, width}.outputs(in.first(1))[0];
    if (in[1].type != resized.type || !rules::compatible(in[1].shape, resized.shape))
        throw invalid_argument("the gradient is " + to_string(in[1]) + ", the resized images are " +
                               to_string(resized));
    return {in[0]};
}

RILL_COLD std::vector<endpoint> resize_image_grad_op::gradient(const gradient_request& r) const {
    return {{}, r.add<resize_image_grad_op>(resize_image_op{method, height, width}, {r.gradient()})};
}

namespace detail {

/// The plan of a batch resize: images [count, h, w, c], and the source pixels of each target pixel.
struct resize_plan {
    resize_taps rows, columns;
    index_t count, h, w, c;
    tensor_type result;
    const memory_space* space;

    resize_plan(const std::string& method, const dims& images, index_t height, index_t width, const kernel_request& r)
        : rows(method, images[images.rank - 3], height), columns(method, images[images.rank - 2], width),
          h(images[images.rank - 3]), w(images[images.rank - 2]), c(images[images.rank - 1]), result(r.outputs[0]),
          space(r.space) {
        count = h * w * c == 0 ? 0 : images.size() / (h * w * c);
    }

    /// Calls f(source offset, target offset, weight) for each pair of a source element and a target element.
    template <class F> void each_pair(const F& f) const {
        index_t at = 0;
        for (index_t n = 0; n < count; ++n)
            for (const auto& row : rows.of)
                for (const auto& column : columns.of)
                    for (index_t k = 0; k < c; ++k, ++at)
                        for (const auto& y : row)
                            for (const auto& x : column)
                                f(((n * h + y.from) * w + x.from) * c + k, at, y.weight * x.weight);
    }
    /// Accumulates the result in host memory, starting from zeros, and copies it to the output.
    template <class F> void write(float* out, const F& add) const {
        any_array made; // used if the device has memory of its own
        if (space) made = any_array(result.type, result.shape);
        auto* const to = space ? static_cast<float*>(made.mutable_data()) : out;
        std::fill_n(to, result.shape.size(), 0.f);
        add(to);
        if (space) detail::copy_between(nullptr, made.data(), space, out, result.type, result.shape.size());
    }
};

} // namespace detail

RILL_INLINE kernel resize_image_op::bound(const kernel_request& r) const {
    const dims shape = r.inputs[0].shape;
    if ((shape[shape.rank - 3] == 0 || shape[shape.rank - 2] == 0) && r.outputs[0].shape.size() != 0)
        throw invalid_argument("an image without pixels can't be resized");
    return kernel([plan = detail::resize_plan(method, shape, height, width, r)](const kernel_args& a) {
        const auto* const from = a.in<float>(0);
        plan.write(a.out<float>(0), [&](float* to) {
            plan.each_pair([&](index_t source, index_t target, float weight) { to[target] += weight * from[source]; });
        });
    });
}

RILL_INLINE kernel resize_image_grad_op::bound(const kernel_request& r) const {
    return kernel([plan = detail::resize_plan(method, r.inputs[0].shape, height, width, r)](const kernel_args& a) {
        const auto* const from = a.in<float>(1);
        plan.write(a.out<float>(0), [&](float* to) {
            plan.each_pair([&](index_t source, index_t target, float weight) { to[source] += weight * from[target]; });
        });
    });
}

}} // namespace rill::RILL_ABI
#endif
