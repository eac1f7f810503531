// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include <rill/core/named_array.hpp>
#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reads all arrays of a safetensors file, in the order of their bytes. The file is untrusted. Throws data_loss, with file, tensor and
/// reason, if the header is longer than 100 MB or nested. The same holds for duplicate names, overlapping ranges, holes, trailing bytes,
/// and sizes that do not match shape and dtype. Throws unimplemented for element types that rill lacks (8-bit floats).
std::vector<named_array> read_safetensors(const std::string& path, file_system& files = file_system::real());

/// Writes arrays as a safetensors file, which replaces an old one once it is complete. Throws invalid_argument for duplicate names and for
/// dtypes that the format lacks (text, complex and quantized numbers).
void write_safetensors(const std::string& path, const std::vector<named_array>& arrays,
                       const std::map<std::string, std::string>& metadata = {},
                       file_system& files = file_system::real());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/safetensors.ipp>
#endif
