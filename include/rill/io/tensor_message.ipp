// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/tensor_message.hpp>

#include <algorithm>
#include <cstring>

#include <rill/io/tensor_bundle.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The fields of a TensorProto. TensorFlow writes either all elements as bytes, or a list of numbers by type. The last element of a
/// short list is repeated.
struct tensor_message {
    enum : int {
        type = 1,
        shape = 2,
        content = 4,
        floats = 5,
        doubles = 6,
        ints = 7,
        texts = 8,
        complexes = 9,
        longs = 10,
        bools = 11,
        double_complexes = 12,
        halves = 13,
        unsigned_ints = 16,
        unsigned_longs = 17
    };

    /// Returns the field that lists elements of a dtype.
    static int list_of(dtype of) {
        switch (of) {
        case dtype::float32: return floats;
        case dtype::float64: return doubles;
        case dtype::int64: return longs;
        case dtype::boolean: return bools;
        case dtype::complex64: return complexes;
        case dtype::complex128: return double_complexes;
        case dtype::half:
        case dtype::bfloat16: return halves;
        case dtype::uint32: return unsigned_ints;
        case dtype::uint64: return unsigned_longs;
        default: return ints;
        }
    }
};

inline dims shape_of_message(std::string_view bytes) {
    dims shape;
    for (wire_reader from(bytes); !from.empty();) {
        const auto f = from.next_field();
        if (f.number == 3 && f.value != 0) from.refuse("the rank of the tensor is unknown");
        if (f.number != 2) continue;
        if (f.wire_type != 2) from.refuse("an extent is not a message");
        std::int64_t extent = 0;
        for (wire_reader dim(f.bytes); !dim.empty();)
            if (const auto e = dim.next_field(); e.number == 1) extent = static_cast<std::int64_t>(e.value);
        if (extent < 0) from.refuse("an extent of the tensor is unknown");
        if (shape.rank == max_rank) from.refuse("the tensor has more than 8 dimensions");
        shape.push(extent);
    }
    return shape;
}

/// The elements of a list, as bytes of the array's dtype.
class message_elements {
public:
    message_elements(dtype type, std::size_t most) : type_(type), most_(most) {}

    void add(const wire_reader::field& f, const wire_reader& from) {
        const bool is_fixed = type_ == dtype::float32 || type_ == dtype::float64 || type_ == dtype::complex64 ||
                              type_ == dtype::complex128;
        if (f.wire_type == 2 && is_fixed) {
            append(f.bytes.data(), f.bytes.size(), from);
        } else if (f.wire_type == 2) {
            for (wire_reader packed(f.bytes); !packed.empty();) add_number(packed.varint(), from);
        } else if (is_fixed) {
            append(&f.value, f.wire_type == 5 ? 4 : 8, from);
        } else {
            add_number(f.value, from);
        }
    }
    const std::string& bytes() const { return bytes_; }

private:
    void add_number(std::uint64_t v, const wire_reader& from) { // little-endian: the first bytes are the number
        if (type_ == dtype::boolean) v = v != 0;
        append(&v, size_of(type_), from);
    }
    void append(const void* bytes, std::size_t size, const wire_reader& from) {
        if (size > most_ - bytes_.size()) from.refuse("it has more elements than its shape");
        bytes_.append(static_cast<const char*>(bytes), size);
    }

    const dtype type_;
    const std::size_t most_;
    std::string bytes_;
};

/// Makes the array of a message whose type and shape are known.
inline any_array array_of_message(const wire_reader& from, dtype type, const dims& shape, std::string_view content,
                                  const std::vector<wire_reader::field>& list) {
    // repeated elements take no bytes in the message, so that their memory needs a limit of its own
    constexpr std::uint64_t most_bytes = std::uint64_t(1) << 31;
    const auto count = static_cast<std::size_t>(checked_count(type, shape, most_bytes));
    if (type == dtype::string) {
        if (list.size() != count)
            from.refuse("it has " + std::to_string(list.size()) + " texts, its shape " + std::to_string(count));
        any_array made(type, shape);
        auto* to = static_cast<std::string*>(made.mutable_data());
        for (const auto& f : list) *to++ = f.bytes;
        return made;
    }
    const auto size = size_of(type), bytes = count * size;
    message_elements elements(type, bytes);
    if (content.empty())
        for (const auto& f : list) elements.add(f, from);
    const std::string_view given = content.empty() ? std::string_view(elements.bytes()) : content;
    if (given.size() % size != 0 || given.size() > bytes || (!content.empty() && given.size() != bytes))
        from.refuse("it has " + std::to_string(given.size()) + " bytes of elements, its shape " +
                    std::to_string(bytes));
    any_array made(type, shape);
    auto* const to = static_cast<char*>(made.mutable_data());
    std::copy(given.begin(), given.end(), to);
    if (given.empty()) std::fill_n(to, bytes, '\0');
    for (std::size_t at = given.size(); !given.empty() && at < bytes; at += size)
        std::memcpy(to + at, to + given.size() - size, size);
    if (type == dtype::boolean) std::transform(to, to + bytes, to, [](char b) { return static_cast<char>(b != 0); });
    return made;
}

RILL_COLD std::string shape_bytes(const dims& shape) {
    wire_writer message;
    for (int i = 0; i < shape.rank; ++i) {
        wire_writer extent;
        extent.field(1, static_cast<std::uint64_t>(shape[i])); // TensorFlow's value for an unknown extent is -1, too
        message.field(2, extent.out);
    }
    if (!shape.known_rank()) message.field(3, std::uint64_t(1));
    return std::move(message.out);
}

} // namespace detail

RILL_COLD std::string tensor_bytes(const any_array& a) {
    using detail::tensor_message;
    detail::wire_writer message;
    message.field(tensor_message::type, static_cast<std::uint64_t>(detail::tensorflow_type(a.dtype())));
    message.field(tensor_message::shape, detail::shape_bytes(a.shape()));
    if (a.dtype() == dtype::string)
        for (const auto& text : a.elements<std::string>()) message.field(tensor_message::texts, std::string_view(text));
    else if (a.size() > 0)
        message.field(tensor_message::content, detail::bytes_of_numbers(a));
    return std::move(message.out);
}

RILL_COLD any_array parse_tensor_bytes(std::string_view bytes) {
    using detail::tensor_message;
    using detail::wire_reader;
    dtype type = dtype::invalid;
    dims shape;
    std::string_view content;
    for (wire_reader from(bytes); !from.empty();) {
        const auto f = from.next_field();
        if (f.number == tensor_message::type) {
            type = detail::dtype_of_tensorflow(f.value);
        } else if (f.number == tensor_message::shape || f.number == tensor_message::content) {
            if (f.wire_type != 2) from.refuse("it is not a TensorProto");
            if (f.number == tensor_message::content)
                content = f.bytes;
            else
                shape = detail::shape_of_message(f.bytes);
        }
    }
    wire_reader from(bytes);
    if (type == dtype::invalid) from.refuse("the tensor has no type that can be read");
    const int listed = type == dtype::string ? int(tensor_message::texts) : tensor_message::list_of(type);
    std::vector<wire_reader::field> list;
    while (!from.empty()) {
        const auto f = from.next_field();
        if (f.number != listed) continue;
        if (type == dtype::string && f.wire_type != 2) from.refuse("a text is not a list of bytes");
        list.push_back(f);
    }
    return detail::array_of_message(from, type, shape, content, list);
}

}} // namespace rill::RILL_ABI
