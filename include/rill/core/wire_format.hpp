// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// The format of values sent between parts of a run. The 16-bit formats halve the bytes of float32 values; other dtypes are
/// sent unchanged.
enum class wire_format : std::uint8_t {
    as_is,
    bfloat16, // rounded to the nearest, ties to even; NaN stays NaN
    upper16,  // the upper half of each float, as the white paper of TensorFlow describes
};

namespace detail {

/// Returns the array in this format, in host memory that it owns.
any_array packed(const any_array& a, wire_format form);
/// Unpacks an array to the given type. Throws invalid_argument if `a` can't be its packed form.
any_array unpacked(any_array a, const tensor_type& type, wire_format form);

/// Packs several arrays in this format into one byte array. Strings are not supported.
any_array bundled(std::span<const any_array> all, wire_format form);
/// Unpacks the arrays of a bundle. Throws invalid_argument unless its size matches arrays of these types.
std::vector<any_array> unbundled(const any_array& bundle, std::span<const tensor_type> types, wire_format form);
/// Returns the size in bytes of a bundle of arrays of these types, which must be complete.
std::size_t bundle_bytes(std::span<const tensor_type> types, wire_format form);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/wire_format.ipp>
#endif
