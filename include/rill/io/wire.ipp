// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/wire.hpp>

#include <algorithm>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void wire_writer::varint(std::uint64_t v) {
    for (; v >= 128; v >>= 7) out.push_back(static_cast<char>(v | 128));
    out.push_back(static_cast<char>(v));
}

RILL_COLD void wire_reader::refuse(const std::string& why) const {
    throw data_loss("at byte " + std::to_string(offset()) + ": " + why);
}

RILL_INLINE std::string_view wire_reader::raw(std::uint64_t size) {
    if (size > rest_.size())
        refuse("a length of " + std::to_string(size) + " where " + std::to_string(rest_.size()) + " bytes are left");
    const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
}

RILL_INLINE std::uint64_t wire_reader::varint() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(raw(1)[0]);
        v |= std::uint64_t(byte & 127) << shift;
        if (byte < 128) return v;
    }
    refuse("a varint of more than ten bytes");
}

RILL_INLINE wire_reader::field wire_reader::next_field() {
    const std::uint64_t key = varint();
    field f{.number = static_cast<int>(key >> 3 & 0x1fffffff), .wire_type = static_cast<int>(key & 7)};
    if (f.number == 0) refuse("a field without a number");
    switch (f.wire_type) {
    case 0: f.value = varint(); break;
    case 1: f.value = fixed<std::uint64_t>(); break;
    case 2: f.bytes = text(); break;
    case 5: f.value = fixed<std::uint32_t>(); break;
    default: refuse("the wire type " + std::to_string(f.wire_type));
    }
    return f;
}

RILL_COLD index_t checked_count(dtype type, const dims& shape, std::uint64_t most) {
    std::uint64_t count = 1;
    const std::uint64_t bytes = std::max<std::uint64_t>(type == dtype::string ? 1 : size_of(type), 1);
    for (int i = 0; i < shape.rank; ++i)
        if (shape[i] < 0) throw data_loss("the extent " + std::to_string(shape[i]) + " is negative");
    for (int i = 0; i < shape.rank; ++i)
        if (shape[i] == 0) return 0;
    for (int i = 0; i < shape.rank; ++i) {
        const auto n = static_cast<std::uint64_t>(shape[i]);
        if (n > most / bytes / count)
            throw data_loss("the shape " + to_string(shape) + " is more than the bytes that are there");
        count *= n;
    }
    if (count * bytes > most)
        throw data_loss("the shape " + to_string(shape) + " is more than the bytes that are there");
    return static_cast<index_t>(count);
}

RILL_COLD void check_bools(std::string_view bytes, std::uint64_t offset) {
    if (const auto at = bytes.find_first_not_of(std::string_view("\0\1", 2)); at != std::string_view::npos)
        throw data_loss("the bool at byte " + std::to_string(offset + at) + " is neither 0 nor 1");
}

RILL_COLD std::string of_tensor(std::string_view name, const std::string& why) {
    return "tensor '" + std::string(name) + "': " + why;
}

}}} // namespace rill::RILL_ABI::detail
