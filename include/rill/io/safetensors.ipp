// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/safetensors.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/text_file.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

// A file has the length of the header (8 bytes), the header (a JSON object), and the bytes of all tensors.

struct safetensors_type {
    dtype type;
    std::string_view name;
};
inline constexpr std::array<safetensors_type, 13> safetensors_types{{{dtype::float32, "F32"},
                                                                     {dtype::float64, "F64"},
                                                                     {dtype::half, "F16"},
                                                                     {dtype::bfloat16, "BF16"},
                                                                     {dtype::int8, "I8"},
                                                                     {dtype::int16, "I16"},
                                                                     {dtype::int32, "I32"},
                                                                     {dtype::int64, "I64"},
                                                                     {dtype::uint8, "U8"},
                                                                     {dtype::uint16, "U16"},
                                                                     {dtype::uint32, "U32"},
                                                                     {dtype::uint64, "U64"},
                                                                     {dtype::boolean, "BOOL"}}};
inline constexpr std::uint64_t safetensors_header_limit = 100'000'000;

/// A tensor's description in the header.
struct safetensors_entry {
    std::string name;
    dtype type = dtype::invalid;
    dims shape;
    std::uint64_t begin = 0, end = 0;
};

/// A parser of a header's JSON: an object of objects of texts and lists of numbers. It accepts no deeper nesting.
class safetensors_header {
public:
    explicit safetensors_header(std::string_view text) : rest_(text), size_(text.size()) {}

    std::vector<safetensors_entry> entries() {
        std::vector<safetensors_entry> all;
        std::set<std::string> names;
        members([&](const std::string& name) {
            if (!names.insert(name).second) refuse("the name '" + name + "' occurs twice");
            if (name == "__metadata__")
                members([&](const std::string&) { text(); });
            else
                all.push_back(entry(name));
        });
        blanks();
        if (!rest_.empty()) refuse("text follows the header's object");
        return all;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw data_loss("header, at byte " + std::to_string(8 + size_ - rest_.size()) + ": " + why);
    }
    void blanks() {
        while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos)
            rest_.remove_prefix(1);
    }
    bool take(char c) {
        blanks();
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void need(char c) {
        if (!take(c)) refuse(std::string("'") + c + "' is expected");
    }
    template <class F> void members(const F& member) {
        need('{');
        if (take('}')) return;
        do {
            const std::string name = text();
            need(':');
            member(name);
        } while (take(','));
        need('}');
    }
    template <class F> void list(const F& element) {
        need('[');
        if (take(']')) return;
        do element(number());
        while (take(','));
        need(']');
    }
    std::uint64_t number() {
        blanks();
        std::uint64_t v = 0;
        const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), v);
        if (problem != std::errc()) refuse("a whole number is expected");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return v;
    }
    unsigned hex4() {
        unsigned v = 0;
        if (rest_.size() < 4 || std::from_chars(rest_.data(), rest_.data() + 4, v, 16).ptr != rest_.data() + 4)
            refuse("four hexadecimal digits are expected");
        rest_.remove_prefix(4);
        return v;
    }
    void escaped(std::string& to) {
        if (rest_.empty()) refuse("the text does not end");
        const char c = rest_[0];
        rest_.remove_prefix(1);
        constexpr std::string_view marks = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        if (const auto at = marks.find(c); at != std::string_view::npos) {
            to.push_back(meant[at]);
            return;
        }
        if (c != 'u') refuse("an unknown escape");
        unsigned v = hex4();
        if (v >= 0xd800 && v < 0xdc00) { // the first of a pair
            if (!rest_.starts_with("\\u")) refuse("half a character");
            rest_.remove_prefix(2);
            const unsigned low = hex4();
            if (low < 0xdc00 || low >= 0xe000) refuse("half a character");
            v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
        } else if (v >= 0xdc00 && v < 0xe000) {
            refuse("half a character");
        }
        const auto put = [&](unsigned byte) { to.push_back(static_cast<char>(byte)); };
        if (v < 0x80) return put(v);
        if (v < 0x800) {
            put(0xc0 | v >> 6);
        } else {
            if (v < 0x10000) {
                put(0xe0 | v >> 12);
            } else {
                put(0xf0 | v >> 18);
                put(0x80 | (v >> 12 & 63));
            }
            put(0x80 | (v >> 6 & 63));
        }
        put(0x80 | (v & 63));
    }
    std::string text() {
        need('"');
        std::string made;
        for (;;) {
            if (rest_.empty()) refuse("the text does not end");
            const char c = rest_[0];
            if (static_cast<unsigned char>(c) < 32) refuse("a control character in a text");
            rest_.remove_prefix(1);
            if (c == '"') return made;
            if (c == '\\')
                escaped(made);
            else
                made.push_back(c);
        }
    }
    safetensors_entry entry(const std::string& name) {
        safetensors_entry e;
        e.name = name;
        bool typed = false, shaped = false, placed = false;
        const auto once = [&](bool& seen) {
            if (std::exchange(seen, true)) refuse("a member occurs twice in the entry of '" + name + "'");
        };
        members([&](const std::string& member) {
            if (member == "dtype") {
                once(typed);
                const std::string is = text();
                for (const auto& t : safetensors_types)
                    if (t.name == is) e.type = t.type;
                if (e.type == dtype::invalid) throw unimplemented(of_tensor(name, "elements of type '" + is + "'"));
            } else if (member == "shape") {
                once(shaped);
                list([&](std::uint64_t extent) {
                    if (e.shape.rank == max_rank)
                        refuse("'" + name + "' has more than " + std::to_string(max_rank) + " axes");
                    if (extent > std::uint64_t(1) << 62)
                        refuse("'" + name + "' has an extent of " + std::to_string(extent));
                    e.shape.push(static_cast<index_t>(extent));
                });
            } else if (member == "data_offsets") {
                once(placed);
                int n = 0;
                list([&](std::uint64_t at) {
                    if (n == 2) refuse("'" + name + "' has more than two offsets");
                    (n++ == 0 ? e.begin : e.end) = at;
                });
                if (n != 2) refuse("'" + name + "' has no two offsets");
            } else {
                refuse("'" + name + "' has the unknown member '" + member + "'");
            }
        });
        if (!typed || !shaped || !placed) refuse("'" + name + "' lacks dtype, shape or data_offsets");
        return e;
    }

    std::string_view rest_;
    std::size_t size_;
};

inline std::vector<named_array> safetensors_arrays(const input_file& file) {
    if (file.size() < 8) throw data_loss("it ends within the length of its header");
    std::uint64_t length = 0;
    file.read_at(0, &length, sizeof length);
    if (length > safetensors_header_limit || length > file.size() - 8)
        throw data_loss("its header should be " + std::to_string(length) + " bytes, of " +
                        std::to_string(file.size() - 8) + " that follow");
    std::string header(static_cast<std::size_t>(length), '\0');
    file.read_at(8, header.data(), header.size());
    auto entries = safetensors_header(header).entries();
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    const std::uint64_t first = 8 + length, there = file.size() - first;
    std::uint64_t at = 0;
    for (const auto& e : entries) { // all entries are checked before the first array is allocated
        if (e.begin != at || e.end < e.begin || e.end > there)
            throw data_loss(of_tensor(e.name, "its bytes are " + std::to_string(e.begin) + " to " +
                                                  std::to_string(e.end) + ", expected from " + std::to_string(at) +
                                                  " on, of " + std::to_string(there)));
        try {
            const auto count = static_cast<std::uint64_t>(checked_count(e.type, e.shape, e.end - e.begin));
            if (count * size_of(e.type) != e.end - e.begin)
                throw data_loss(std::to_string(e.end - e.begin) + " bytes of " +
                                to_string(tensor_type{e.type, e.shape}));
        } catch (const data_loss& why) {
            throw data_loss(of_tensor(e.name, why.what()));
        }
        at = e.end;
    }
    if (at != there) throw data_loss(std::to_string(there - at) + " bytes follow the last tensor");
    std::vector<named_array> all;
    for (auto& e : entries) {
        any_array value(e.type, e.shape);
        file.read_at(first + e.begin, value.mutable_data(), static_cast<std::size_t>(e.end - e.begin));
        if (e.type == dtype::boolean)
            with_prefix("tensor '" + e.name + "'", [&] { check_bools(bytes_of_numbers(value), first + e.begin); });
        all.push_back({std::move(e.name), std::move(value)});
    }
    return all;
}

} // namespace detail

RILL_COLD std::vector<named_array> read_safetensors(const std::string& path, file_system& files) {
    return detail::with_prefix("read_safetensors: '" + path + "'",
                               [&] { return detail::safetensors_arrays(*files.open(path)); });
}

RILL_COLD void write_safetensors(const std::string& path, const std::vector<named_array>& arrays,
                                 const std::map<std::string, std::string>& metadata, file_system& files) {
    std::string header = "{";
    const auto next = [&] { header += header.size() > 1 ? "," : ""; };
    if (!metadata.empty()) {
        header += "\"__metadata__\":{";
        for (const auto& [key, text] : metadata)
            header += (header.back() == '{' ? "" : ",") + detail::json_text(key) + ":" + detail::json_text(text);
        header += "}";
    }
    // Sorts by element size, the largest first, so that all elements are aligned.
    std::vector<const named_array*> order;
    std::set<std::string> names{"__metadata__"};
    for (const auto& a : arrays) {
        if (!names.insert(a.name).second)
            throw invalid_argument("write_safetensors: the name '" + a.name + "' is taken");
        order.push_back(&a);
    }
    detail::sort(order,
                 [](const auto* a, const auto* b) { return size_of(a->value.dtype()) > size_of(b->value.dtype()); });
    std::size_t at = 0;
    for (const auto* a : order) {
        const auto* type = std::find_if(detail::safetensors_types.begin(), detail::safetensors_types.end(),
                                        [&](const auto& t) { return t.type == a->value.dtype(); });
        if (type == detail::safetensors_types.end())
            throw invalid_argument(
                "write_safetensors: " +
                detail::of_tensor(a->name, "the format has no " + std::string(to_string(a->value.dtype()))));
        next();
        header += detail::json_text(a->name) + ":{\"dtype\":\"" + std::string(type->name) + "\",\"shape\":[";
        for (int i = 0; i < a->value.shape().rank; ++i) header += (i ? "," : "") + std::to_string(a->value.shape()[i]);
        const std::size_t end = at + detail::bytes_of_numbers(a->value).size();
        header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
        at = end;
    }
    header += "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    detail::replace_file(files, path, [&](output_file& to) {
        detail::wire_writer length;
        length.fixed(static_cast<std::uint64_t>(header.size()));
        to.append(length.out + header);
        for (const auto* a : order) to.append(detail::bytes_of_numbers(a->value));
    });
}

}} // namespace rill::RILL_ABI
