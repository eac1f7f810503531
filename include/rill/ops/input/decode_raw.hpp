// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reinterprets the bytes of strings as numbers. Shape: that of the strings, then the number of elements. All strings must
/// have the same length.
struct decode_raw_op {
    static constexpr auto name = "DecodeRaw", label = "decode_raw";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "bytes do not change smoothly";
    dtype out_type = dtype::uint8;
    bool little_endian = true;

    static void fields(auto& op, auto& visit) {
        visit("out_type", op.out_type);
        visit("little_endian", op.little_endian);
    }
    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

namespace detail {

template <class T, class E> struct with_open_axis;
template <class T, index_t... D> struct with_open_axis<T, extents<D...>> {
    using type = tensor<T, D..., dyn>;
};

} // namespace detail

/// Reinterprets bytes as numbers: decode_raw<float>(bytes) of a string of rank 0 is [n].
template <element T, graph_operand X>
auto decode_raw(const X& bytes, bool little_endian = true,
                const std::source_location& where = std::source_location::current()) {
    static_assert(!std::is_same_v<T, std::string>, "decode_raw: the result is of numbers");
    const any_tensor made = apply_node(decode_raw_op{dtype_of<T>, little_endian}, where, bytes);
    if constexpr (typed_operand<X>)
        return typename detail::with_open_axis<T, extents_of<X>>::type(detail::unchecked, made);
    else
        return made;
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> decode_raw_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the bytes");
    if (out_type == dtype::string || out_type == dtype::invalid) throw invalid_argument("the result is of numbers");
    dims shape = in[0].shape;
    if (shape.known_rank()) {
        if (shape.rank == max_rank) throw invalid_argument("the result would have more than 8 dimensions");
        shape.push(dyn);
    }
    return {{out_type, shape}};
}

RILL_INLINE kernel decode_raw_op::bound(const kernel_request& r) const {
    return kernel([type = out_type, swap = little_endian != (std::endian::native == std::endian::little),
                   shape = r.inputs[0].shape](const kernel_args& a) {
        const auto* const texts = a.in<std::string>(0);
        const index_t count = shape.size();
        const auto size = size_of(type), bytes = count > 0 ? texts[0].size() : 0;
        if (bytes % size != 0)
            throw invalid_argument(std::to_string(bytes) + " bytes are not a whole number of " +
                                   std::string(to_string(type)));
        // The bytes of the real and the imaginary part are swapped separately.
        const auto part = type == dtype::complex64 || type == dtype::complex128 ? size / 2 : size;
        dims whole = shape;
        whole.push(static_cast<index_t>(bytes / size));
        any_array made(type, whole);
        auto* to = static_cast<char*>(made.mutable_data());
        for (index_t i = 0; i < count; ++i, to += bytes) {
            if (texts[i].size() != bytes)
                throw invalid_argument("the texts have " + std::to_string(bytes) + " and " +
                                       std::to_string(texts[i].size()) + " bytes; they must have one length");
            if (bytes == 0) continue;
            std::memcpy(to, texts[i].data(), bytes);
            for (std::size_t k = 0; swap && k < bytes; k += part) std::reverse(to + k, to + k + part);
            for (std::size_t k = 0; type == dtype::boolean && k < bytes; ++k) to[k] = to[k] != 0;
        }
        a.sized[0] = std::move(made);
    });
}

}} // namespace rill::RILL_ABI
#endif
