// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/core/any_array.hpp>

// TensorProto: a tensor in the format of protocol buffers.

namespace rill { inline namespace RILL_ABI {

/// Returns the bytes of an array as TensorFlow's TensorProto.
std::string tensor_bytes(const any_array& a);
/// Parses a serialized TensorProto. Throws data_loss for malformed bytes, and for a tensor of more than 2^31 bytes.
any_array parse_tensor_bytes(std::string_view bytes);

namespace detail {

/// Returns a shape as TensorFlow's TensorShapeProto, also one with unknown rank or extents.
std::string shape_bytes(const dims& shape);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/tensor_message.ipp>
#endif
