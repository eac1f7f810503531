// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/core/any_array.hpp>
#include <rill/core/error.hpp>
#include <rill/core/host_array.hpp>

// IDX files, the format of MNIST: two zero bytes, the element type, the rank, the extents and the elements, all big-endian.

namespace rill { inline namespace RILL_ABI {

/// Parses the bytes of an IDX file: uint8, int8, int16, int32, float32 or float64. Errors name `path`. Throws data_loss for bytes that are
/// not an IDX file, or whose number differs from the extents.
any_array parse_idx(std::string_view bytes, const std::string& path);

/// Reads an IDX file: read_idx("train-images-idx3-ubyte.gz"). Decompresses a gzip file where zlib is found. Throws not_found,
/// permission_denied, data_loss, or unimplemented without zlib.
any_array read_idx(const std::string& path);

/// Reads an IDX file whose rank is known, and converts its elements: read_idx<float, 3>("train-images-idx3-ubyte", 1. / 255). Throws
/// invalid_argument for another rank.
template <class T, int Rank> host_array<T, Rank> read_idx(const std::string& path, double scale = 1);

/// Returns the bytes of an IDX file that holds an array; throws invalid_argument for an element type that IDX does not have.
std::string to_idx(const any_array& array);

/// Writes an IDX file; throws unavailable if that fails.
void write_idx(const std::string& path, const any_array& array);

namespace detail {

/// Returns element i of an array of any IDX type.
double idx_element(const any_array& a, index_t i);
/// Throws invalid_argument if the array has another rank.
void check_idx_rank(const any_array& a, int rank, const std::string& path);

} // namespace detail

template <class T, int Rank> host_array<T, Rank> read_idx(const std::string& path, double scale) {
    const any_array all = read_idx(path);
    detail::check_idx_rank(all, Rank, path);
    typename host_array<T, Rank>::shape_type shape;
    for (int i = 0; i < Rank; ++i) shape[static_cast<std::size_t>(i)] = static_cast<std::size_t>(all.shape()[i]);
    host_array<T, Rank> made(shape);
    for (index_t i = 0; i < all.size(); ++i) made.data()[i] = static_cast<T>(detail::idx_element(all, i) * scale);
    return made;
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/idx.ipp>
#endif
