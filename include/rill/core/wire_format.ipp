// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/wire_format.hpp>

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include <rill/core/error.hpp>
#include <rill/core/half.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Writes the upper halves of n floats, rounded to even or cut. NaN stays NaN, by its quiet bit: cut, its payload could be that of infinity. Without
/// branches and apart from cold functions, so that compilers make vector code of the loop.
template <bool Rounds> RILL_NO_INLINE void pack_floats(const float* from, std::uint16_t* to, index_t n) {
    for (index_t i = 0; i < n; ++i) {
        if constexpr (Rounds) {
            to[i] = bfloat16(from[i]).bits;
        } else {
            const auto bits = std::bit_cast<std::uint32_t>(from[i]);
            to[i] = static_cast<std::uint16_t>((bits | ((bits & 0x7fffffffu) > 0x7f800000u ? 0x400000u : 0u)) >> 16);
        }
    }
}

/// Writes n floats whose upper halves are given.
RILL_NO_INLINE inline void unpack_floats(const std::uint16_t* from, float* to, index_t n) {
    for (index_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16);
}

RILL_COLD any_array packed(const any_array& a, wire_format form) {
    if (form == wire_format::as_is || a.dtype() != dtype::float32) return owned_copy(a);
    const any_array host = a.space() ? owned_copy(a) : a;
    any_array halves(dtype::uint16, a.shape());
    const auto* from = static_cast<const float*>(host.data());
    auto* to = static_cast<std::uint16_t*>(halves.mutable_data());
    form == wire_format::upper16 ? pack_floats<false>(from, to, a.size()) : pack_floats<true>(from, to, a.size());
    return halves;
}

RILL_COLD any_array unpacked(any_array a, const tensor_type& type, wire_format form) {
    if (form == wire_format::as_is || type.type != dtype::float32) return a;
    if (a.dtype() != dtype::uint16)
        throw invalid_argument("a 16-bit edge has brought " + to_string(a.type()) + ", not 16-bit halves");
    any_array whole(dtype::float32, a.shape());
    unpack_floats(static_cast<const std::uint16_t*>(a.data()), static_cast<float*>(whole.mutable_data()), a.size());
    return whole;
}

/// Returns the type in which a value is sent.
inline tensor_type packed_type(const tensor_type& type, wire_format form) {
    const bool halves = form != wire_format::as_is && type.type == dtype::float32;
    return {halves ? dtype::uint16 : type.type, type.shape};
}
/// Rounds a size up to the start of the next array in a bundle.
inline std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

RILL_COLD std::size_t bundle_bytes(std::span<const tensor_type> types, wire_format form) {
    std::size_t all = 0;
    for (const auto& t : types) all += aligned(packed_type(t, form).bytes());
    return all;
}

RILL_COLD any_array bundled(std::span<const any_array> all, wire_format form) {
    std::vector<tensor_type> types;
    for (const auto& a : all) types.push_back(a.type());
    any_array made(dtype::uint8, dims{static_cast<index_t>(bundle_bytes(types, form))});
    auto* to = static_cast<std::byte*>(made.mutable_data());
    for (const auto& a : all) {
        const auto bytes = packed_type(a.type(), form).bytes();
        if (bytes > 0) std::memcpy(to, packed(a, form).data(), bytes);
        std::memset(to + bytes, 0, aligned(bytes) - bytes);
        to += aligned(bytes);
    }
    return made;
}

RILL_COLD std::vector<any_array> unbundled(const any_array& bundle, std::span<const tensor_type> types,
                                           wire_format form) {
    const auto bytes = bundle_bytes(types, form);
    if (bundle.dtype() != dtype::uint8 || static_cast<std::size_t>(bundle.size()) != bytes)
        throw invalid_argument("a bundle has brought " + to_string(bundle.type()) + ", not " + std::to_string(bytes) +
                               " bytes");
    std::vector<any_array> all;
    const auto* from = static_cast<const std::byte*>(bundle.data());
    for (const auto& t : types) {
        const auto as = packed_type(t, form);
        any_array a(as.type, as.shape);
        if (as.bytes() > 0) std::memcpy(a.mutable_data(), from, as.bytes());
        from += aligned(as.bytes());
        all.push_back(unpacked(std::move(a), t, form));
    }
    return all;
}

}}} // namespace rill::RILL_ABI::detail
