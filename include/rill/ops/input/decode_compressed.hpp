// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/io/zlib.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Decompresses each string. Shape: that of the strings. zlib is loaded with the first string.
struct decode_compressed_op {
    static constexpr auto name = "DecodeCompressed", label = "decode_compressed";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "bytes do not change smoothly";
    std::string compression; // "", "GZIP" or "ZLIB"

    static void fields(auto& op, auto& visit) { visit("compression_type", op.compression); }
    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

/// Decompresses strings: decode_compressed(bytes, "GZIP"), or "ZLIB". With "" the strings stay unchanged. The result may have
/// up to 2^32 bytes.
template <graph_operand X>
auto decode_compressed(const X& bytes, const std::string& compression = {},
                       const std::source_location& where = std::source_location::current()) {
    constexpr auto rule = [](const dims& shape) { return shape_result{shape}; };
    return apply_node<std::string>(decode_compressed_op{compression}, rule, where, bytes);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> decode_compressed_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the bytes");
    if (!compression.empty() && compression != "GZIP" && compression != "ZLIB")
        throw invalid_argument("the compression is '" + compression + R"('; accepted are "", "GZIP" and "ZLIB")");
    return {in[0]};
}

RILL_COLD kernel decode_compressed_op::bound(const kernel_request& r) const {
    return kernel([how = compression, n = r.inputs[0].shape.size()](const kernel_args& a) {
        const auto* const from = a.in<std::string>(0);
        auto* const to = a.out<std::string>(0);
        for (index_t i = 0; i < n; ++i)
            to[i] = how.empty() ? from[i] : detail::decompressed(from[i], how == "GZIP", std::uint64_t(1) << 32);
    });
}

}} // namespace rill::RILL_ABI
#endif
