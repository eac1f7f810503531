// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/wire_format.hpp>

#include <bit>
#include <cstddef>
#include <string>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD any_array packed(const any_array& a, wire_format form) {
    if (form == wire_format::as_is || a.dtype() != dtype::float32) return owned_copy(a);
    const any_array host = a.space() ? owned_copy(a) : a;
    any_array halves(dtype::uint16, a.shape());
    const auto* from = static_cast<const float*>(host.data());
    auto* to = static_cast<std::uint16_t*>(halves.mutable_data());
    for (index_t i = 0; i < a.size(); ++i) {
        auto bits = std::bit_cast<std::uint32_t>(from[i]);
        if (from[i] != from[i])
            bits |= 0x00400000u; // a NaN whose upper half alone would be infinite
        else if (form == wire_format::bfloat16)
            bits += 0x7fffu + (bits >> 16 & 1u);
        to[i] = static_cast<std::uint16_t>(bits >> 16);
    }
    return halves;
}

RILL_COLD any_array unpacked(any_array a, const tensor_type& type, wire_format form) {
    if (form == wire_format::as_is || type.type != dtype::float32) return a;
    if (a.dtype() != dtype::uint16)
        throw invalid_argument("a 16-bit edge has brought " + to_string(a.type()) + ", not 16-bit halves");
    any_array whole(dtype::float32, a.shape());
    const auto* from = static_cast<const std::uint16_t*>(a.data());
    auto* to = static_cast<float*>(whole.mutable_data());
    for (index_t i = 0; i < a.size(); ++i) to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16);
    return whole;
}

}}} // namespace rill::RILL_ABI::detail
