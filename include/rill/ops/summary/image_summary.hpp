// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <rill/ops/summary/summary.hpp>

namespace rill { inline namespace RILL_ABI {

/// Serializes images as a summary. Shape: []. Images are [n, h, w, channels], or a single one [h, w, channels] or [h, w]. uint8 samples are
/// unchanged; others are scaled.
struct image_summary_op {
    static constexpr auto name = "ImageSummary", label = "image_summary";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    static constexpr auto no_gradient = "a summary does not change smoothly";
    std::string tag;
    std::int64_t max_images = 3;

    static void fields(auto& op, auto& visit) {
        visit("tag", op.tag);
        visit("max_images", op.max_images);
    }
    static input_list host_inputs() { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

/// Returns the bytes of a summary as a tensor<std::string>: image_summary("x", images, 5). It joins the collection
/// "summaries".
template <graph_operand X>
tensor<std::string> image_summary(const std::string& tag, const X& x, std::int64_t max_images = 3,
                                  const std::source_location& where = std::source_location::current()) {
    return detail::add_summary(image_summary_op{tag, max_images}, x, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> image_summary_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type == dtype::string || in[0].type == dtype::complex64 || in[0].type == dtype::complex128)
        throw invalid_argument("the elements are " + std::string(to_string(in[0].type)) +
                               ", which are not real numbers");
    if (in[0].shape.known_rank() && (in[0].shape.rank < 2 || in[0].shape.rank > 4))
        throw invalid_argument("the shape is " + to_string(in[0].shape) +
                               "; accepted are [h, w], [h, w, channels] and [n, h, w, channels]");
    if (max_images < 1)
        throw invalid_argument("max_images is " + std::to_string(max_images) + "; it must be at least 1");
    return {{dtype::string, dims{}}};
}

RILL_COLD kernel image_summary_op::bound(const kernel_request& r) const {
    return kernel([type = r.inputs[0], tag = tag, max_images = max_images](const kernel_args& a) {
        const any_array x = a.array(type, 0);
        *a.out<std::string>(0) = detail::image_summary_bytes(tag, x, max_images);
    });
}

}} // namespace rill::RILL_ABI
#endif
