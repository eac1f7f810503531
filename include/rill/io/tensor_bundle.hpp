// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/core/named_array.hpp>
#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reads all tensors of a TensorFlow checkpoint by its prefix "model.ckpt". It is of version 2: "model.ckpt.index" and
/// "model.ckpt.data-00000-of-00001". The files are untrusted. Throws data_loss, with file, tensor and reason. Throws unimplemented for
/// compressed indexes, partitioned variables, and element types that rill lacks.
std::vector<named_array> read_tensor_bundle(const std::string& prefix, file_system& files = file_system::real());

/// Writes arrays as a TensorFlow checkpoint of version 2, which tf.train.Saver restores. Throws invalid_argument for duplicate names.
void write_tensor_bundle(const std::string& prefix, const std::vector<named_array>& arrays,
                         file_system& files = file_system::real());

namespace detail {

/// Returns TensorFlow's number of a dtype.
int tensorflow_type(dtype type);
/// Returns the dtype for TensorFlow's number, or `invalid`.
dtype dtype_of_tensorflow(std::uint64_t number);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/tensor_bundle.ipp>
#endif
