// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/image.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Decodes the bytes of a PNG or JPEG file to uint8 [height, width, channels]. The decoder libraries are loaded with the first
/// image.
struct decode_image_op {
    static constexpr auto name = "DecodeImage", label = "decode_image";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "bytes do not change smoothly";
    std::int32_t channels = 0; // 0: the channels of the file

    static void fields(auto& op, auto& visit) { visit("channels", op.channels); }
    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    kernel bound() const;
};

/// Decodes a string of rank 0: decode_image<3>(bytes) is [height, width, 3]. Without a number the result has the channels of
/// the file.
template <index_t Channels = dyn, graph_operand X>
tensor<std::uint8_t, dyn, dyn, Channels>
decode_image(const X& bytes, const std::source_location& where = std::source_location::current()) {
    static_assert(Channels == dyn || (Channels >= 1 && Channels <= 4), "decode_image: an image has 1 to 4 channels");
    return {detail::unchecked,
            apply_node(decode_image_op{Channels == dyn ? 0 : static_cast<std::int32_t>(Channels)}, where, bytes)};
}
template <index_t Channels = dyn, graph_operand X>
auto decode_png(const X& bytes, const std::source_location& where = std::source_location::current()) {
    return decode_image<Channels>(bytes, where);
}
template <index_t Channels = dyn, graph_operand X>
auto decode_jpeg(const X& bytes, const std::source_location& where = std::source_location::current()) {
    static_assert(Channels == dyn || Channels == 1 || Channels == 3, "decode_jpeg: a JPEG image has 1 or 3 channels");
    return decode_image<Channels>(bytes, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> decode_image_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the image");
    if (in[0].shape.known_rank() && in[0].shape.rank != 0)
        throw invalid_argument("the image must be a string of rank 0, not " + to_string(in[0]));
    if (channels < 0 || channels > 4)
        throw invalid_argument("an image has 1 to 4 channels, not " + std::to_string(channels));
    return {{dtype::uint8, dims{dyn, dyn, channels == 0 ? dyn : static_cast<index_t>(channels)}}};
}

RILL_INLINE kernel decode_image_op::bound() const {
    return kernel(
        [n = channels](const kernel_args& a) { a.sized[0] = detail::decode_image(*a.in<std::string>(0), n); });
}

}} // namespace rill::RILL_ABI
#endif
