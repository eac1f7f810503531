// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/any_array.hpp>

// Numbers as little-endian bytes, varints, and the wire format of protocol buffers: a field is a key (number and wire type) and a value.

namespace rill { inline namespace RILL_ABI { namespace detail {

class wire_writer {
public:
    std::string out;

    template <class T> void fixed(T v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); }
    void raw(std::string_view bytes) { out.append(bytes); }
    void varint(std::uint64_t v);
    /// Writes a length, as a varint, and the bytes.
    void text(std::string_view bytes) {
        varint(bytes.size());
        out.append(bytes);
    }

    // Fields of a protobuf message. Zeros and empty texts are written too, as a member of a `oneof` requires.
    void field(int number, std::uint64_t v) {
        varint(static_cast<std::uint64_t>(number) << 3);
        varint(v);
    }
    void field_fixed64(int number, double v) {
        varint(static_cast<std::uint64_t>(number) << 3 | 1);
        fixed(v);
    }
    template <class T> void field_fixed32(int number, T v) {
        static_assert(sizeof(T) == 4);
        varint(static_cast<std::uint64_t>(number) << 3 | 5);
        fixed(v);
    }
    void field(int number, std::string_view bytes) {
        varint(static_cast<std::uint64_t>(number) << 3 | 2);
        text(bytes);
    }
};

/// A reader of untrusted bytes. It checks each length against the bytes left, and throws data_loss with the offset.
class wire_reader {
public:
    explicit wire_reader(std::string_view bytes) : all_(bytes), rest_(bytes) {}

    bool empty() const { return rest_.empty(); }
    std::size_t left() const { return rest_.size(); }
    std::size_t offset() const { return all_.size() - rest_.size(); }

    std::string_view raw(std::uint64_t size);
    template <class T> T fixed() {
        T v;
        std::memcpy(&v, raw(sizeof v).data(), sizeof v);
        return v;
    }
    std::uint64_t varint();
    std::string_view text() { return raw(varint()); }

    /// A field of a protobuf message: `number` holds values of wire types 0, 1 and 5, `bytes` those of wire type 2.
    struct field {
        int number = 0, wire_type = 0;
        std::uint64_t value = 0;
        std::string_view bytes = {};
    };
    field next_field();

    [[noreturn]] void refuse(const std::string& why) const;

private:
    std::string_view all_, rest_;
};

/// Returns the numbers of an array as bytes, in row-major order. Precondition: it holds no strings and lies in the host's memory.
inline std::string_view bytes_of_numbers(const any_array& a) {
    return {static_cast<const char*>(a.data()), static_cast<std::size_t>(a.size()) * size_of(a.dtype())};
}

/// Returns the number of elements of a shape. Throws data_loss if an extent is negative or the bytes exceed `most`.
index_t checked_count(dtype type, const dims& shape, std::uint64_t most);

/// Throws data_loss if bytes of bools, at an offset in the file, have values other than 0 and 1.
void check_bools(std::string_view bytes, std::uint64_t offset);

/// Returns "tensor 'w': why", for messages.
std::string of_tensor(std::string_view name, const std::string& why);

/// Runs f() and prefixes the messages of its errors with `who`.
template <class F> auto with_prefix(const std::string& who, const F& f) {
    try {
        return f();
    } catch (const error& problem) {
        throw_error(problem.code(), who + ": " + problem.what());
    }
}

/// Returns a checksum in masked form, for bytes that have a checksum of their own. TensorFlow and LevelDB store it rotated, plus a
/// constant.
constexpr std::uint32_t masked_crc(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/wire.ipp>
#endif
