// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/idx.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <type_traits>

#include <rill/core/text_file.hpp>
#include <rill/io/byte_stream.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// An element type of IDX: its code, and rill's dtype.
struct idx_type {
    unsigned char code;
    dtype type;
};
inline constexpr idx_type idx_types[] = {{0x08, dtype::uint8}, {0x09, dtype::int8},    {0x0B, dtype::int16},
                                         {0x0C, dtype::int32}, {0x0D, dtype::float32}, {0x0E, dtype::float64}};

/// Copies elements of `size` bytes, and reverses the bytes of each unless the host is big-endian.
RILL_INLINE void copy_big_endian(const char* from, char* to, std::size_t count, std::size_t size) {
    if constexpr (std::endian::native == std::endian::big)
        std::memcpy(to, from, count * size);
    else
        for (std::size_t i = 0; i < count; ++i)
            std::reverse_copy(from + i * size, from + (i + 1) * size, to + i * size);
}

RILL_INLINE std::uint32_t idx_extent(std::string_view bytes, std::size_t at) {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(bytes[at + i]);
    return n;
}

RILL_INLINE double idx_element(const any_array& a, index_t i) {
    const auto at = [&]<class T>(std::type_identity<T>) {
        return static_cast<double>(static_cast<const T*>(a.data())[i]);
    };
    switch (a.dtype()) {
    case dtype::uint8: return at(std::type_identity<std::uint8_t>{});
    case dtype::int8: return at(std::type_identity<std::int8_t>{});
    case dtype::int16: return at(std::type_identity<std::int16_t>{});
    case dtype::int32: return at(std::type_identity<std::int32_t>{});
    case dtype::float32: return at(std::type_identity<float>{});
    default: return at(std::type_identity<double>{});
    }
}

RILL_COLD void check_idx_rank(const any_array& a, int rank, const std::string& path) {
    if (a.shape().rank != rank)
        throw invalid_argument("idx: " + path + " holds an array of the shape " + to_string(a.shape()) +
                               ", not of rank " + std::to_string(rank));
}

} // namespace detail

RILL_COLD any_array parse_idx(std::string_view bytes, const std::string& path) {
    const auto refuse = [&](const std::string& why) { throw data_loss("idx: " + path + ": " + why); };
    if (bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b')
        refuse("the file is compressed; unpack it with gunzip first");
    if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) refuse("it does not begin as an IDX file");
    const auto* const type =
        std::ranges::find(detail::idx_types, static_cast<unsigned char>(bytes[2]), &detail::idx_type::code);
    if (type == std::end(detail::idx_types))
        refuse("the element type " + std::to_string(static_cast<unsigned char>(bytes[2])) + " is unknown");
    const auto rank = static_cast<std::size_t>(static_cast<unsigned char>(bytes[3]));
    if (rank > static_cast<std::size_t>(max_rank)) refuse("there are more than 8 dimensions");
    const std::size_t begin = 4 + 4 * rank, width = size_of(type->type);
    if (bytes.size() < begin) refuse("it ends within the extents");
    dims shape;
    for (std::size_t i = 0; i < rank; ++i) shape.push(detail::idx_extent(bytes, 4 + 4 * i));
    const tensor_type made{type->type, shape};
    if (!made.countable() || made.bytes() != bytes.size() - begin)
        refuse("it holds " + std::to_string(bytes.size() - begin) + " bytes of elements, and its extents are " +
               to_string(shape));
    any_array all(made.type, shape);
    if (made.bytes() > 0)
        detail::copy_big_endian(bytes.data() + begin, static_cast<char*>(all.mutable_data()),
                                static_cast<std::size_t>(shape.size()), width);
    return all;
}

RILL_COLD any_array read_idx(const std::string& path) {
    detail::byte_stream file(path);
    std::string bytes;
    while (file.append_some(bytes)) {}
    return parse_idx(bytes, path);
}

RILL_COLD std::string to_idx(const any_array& array) {
    const auto* const type = std::ranges::find(detail::idx_types, array.dtype(), &detail::idx_type::type);
    if (type == std::end(detail::idx_types))
        throw invalid_argument("idx: the element type " + std::string(to_string(array.dtype())) +
                               " is not one of uint8, int8, int16, int32, float32, float64");
    std::string bytes{'\0', '\0', static_cast<char>(type->code), static_cast<char>(array.shape().rank)};
    for (int i = 0; i < array.shape().rank; ++i) {
        if (array.shape()[i] > std::int64_t(0xffffffff))
            throw invalid_argument("idx: an extent is larger than 32 bits");
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(array.shape()[i]) >> shift & 0xff));
    }
    const std::size_t begin = bytes.size(), width = size_of(type->type), count = static_cast<std::size_t>(array.size());
    bytes.resize(begin + count * width);
    if (count > 0) detail::copy_big_endian(static_cast<const char*>(array.data()), bytes.data() + begin, count, width);
    return bytes;
}

RILL_COLD void write_idx(const std::string& path, const any_array& array) {
    const std::string bytes = to_idx(array);
    std::ofstream file(path, std::ios::binary);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
        throw unavailable("idx: cannot write " + path);
}

}} // namespace rill::RILL_ABI
