// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <rill/core/named_array.hpp>
#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reads an array from NumPy's .npy file: numbers and bools, of either byte order, in C or Fortran order. The file is untrusted. Throws
/// data_loss for damage and for trailing bytes, and unimplemented for (pickled) objects, text and records.
any_array read_npy(const std::string& path, file_system& files = file_system::real());
/// Writes an array as an .npy file. Throws invalid_argument for dtypes that the format lacks (text, bfloat16, quantized numbers).
void write_npy(const std::string& path, const any_array& value, file_system& files = file_system::real());

/// Reads all arrays of an .npz file, in the order of the archive: stored members, and compressed ones if zlib is available. Names omit
/// ".npy". Throws as read_npy does, and data_loss for a wrong checksum.
std::vector<named_array> read_npz(const std::string& path, file_system& files = file_system::real());
/// Writes arrays as an .npz file with stored members, as numpy.savez does. The limit is 4 GiB in total.
void write_npz(const std::string& path, const std::vector<named_array>& arrays,
               file_system& files = file_system::real());

namespace detail {

/// Reads an .npy file. Its elements are read to where the array holds them.
any_array npy_array(const input_file& file);
/// Reads the bytes of an .npy file.
any_array npy_array(std::string_view bytes);
/// Returns the bytes of an .npy file before the elements.
std::string npy_header(const any_array& value);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/npy.ipp>
#endif
