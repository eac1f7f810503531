// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/npy.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <rill/io/wire.hpp>
#include <rill/io/zlib.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct npy_type {
    dtype type;
    std::string_view name; // without the byte order
};
inline constexpr std::array<npy_type, 14> npy_types{{{dtype::float32, "f4"},
                                                     {dtype::float64, "f8"},
                                                     {dtype::half, "f2"},
                                                     {dtype::int8, "i1"},
                                                     {dtype::int16, "i2"},
                                                     {dtype::int32, "i4"},
                                                     {dtype::int64, "i8"},
                                                     {dtype::uint8, "u1"},
                                                     {dtype::uint16, "u2"},
                                                     {dtype::uint32, "u4"},
                                                     {dtype::uint64, "u8"},
                                                     {dtype::boolean, "b1"},
                                                     {dtype::complex64, "c8"},
                                                     {dtype::complex128, "c16"}}};

/// The header of an .npy file: a Python dictionary with three members.
struct npy_description {
    std::string descr;
    bool fortran = false;
    dims shape;
};

class npy_dictionary {
public:
    /// Creates a parser. `offset` is that of the text in the file, for messages.
    npy_dictionary(std::string_view text, std::size_t offset) : rest_(text), end_(offset + text.size()) {}

    npy_description read() {
        npy_description d;
        unsigned seen = 0;
        need('{');
        while (!take('}')) {
            const std::string key = text();
            need(':');
            const unsigned member = key == "descr" ? 1u : key == "fortran_order" ? 2u : key == "shape" ? 4u : 0u;
            if (member == 0 || seen & member) refuse("the member '" + key + "'");
            seen |= member;
            if (member == 1) {
                if (take('[')) throw unimplemented("its elements are records");
                d.descr = text();
            } else if (member == 2) {
                d.fortran = word();
            } else {
                shape(d.shape);
            }
            if (!take(',') && !next_is('}')) refuse("',' is expected");
        }
        blanks();
        if (seen != 7 || !rest_.empty()) refuse(seen != 7 ? "a member is missing" : "text follows the dictionary");
        return d;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw data_loss("its header, at byte " + std::to_string(end_ - rest_.size()) + ": " + why);
    }
    void blanks() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
    }
    bool next_is(char c) {
        blanks();
        return !rest_.empty() && rest_[0] == c;
    }
    bool take(char c) {
        if (!next_is(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void need(char c) {
        if (!take(c)) refuse(std::string("'") + c + "' is expected");
    }
    std::string text() {
        const char quote = next_is('"') ? '"' : '\'';
        need(quote);
        const auto end = rest_.find(quote);
        if (end == std::string_view::npos) refuse("a text does not end");
        const std::string made(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return made;
    }
    bool word() {
        blanks();
        const bool yes = rest_.starts_with("True");
        if (!yes && !rest_.starts_with("False")) refuse("True or False is expected");
        rest_.remove_prefix(yes ? 4 : 5);
        return yes;
    }
    void shape(dims& to) {
        need('(');
        while (!take(')')) {
            blanks();
            index_t extent = 0;
            const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
            if (problem != std::errc() || extent < 0) refuse("an extent is expected");
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1); // a suffix of Python 2
            if (to.rank == max_rank) refuse("more than " + std::to_string(max_rank) + " axes");
            to.push(extent);
            if (!take(',') && !next_is(')')) refuse("',' is expected");
        }
    }

    std::string_view rest_;
    std::size_t end_;
};

/// Converts elements in Fortran order, of `size` bytes each, to C order.
inline void copy_from_fortran(const char* from, char* to, const dims& shape, std::size_t size) {
    index_list at;
    at.rank = shape.rank;
    const index_t count = shape.size();
    for (index_t flat = 0; flat < count; ++flat, to += size) {
        index_t place = 0;
        for (int i = shape.rank - 1; i >= 0; --i) place = place * shape[i] + at[i];
        std::copy_n(from + static_cast<std::size_t>(place) * size, size, to);
        for (int i = shape.rank - 1; i >= 0 && ++at[i] == shape[i]; --i) at[i] = 0;
    }
}

/// Returns the beginning of an .npy file: at least its header, unless the file ends before.
inline std::string npy_head(const input_file& file) {
    constexpr std::size_t before = 12, first = 1 << 12; // bytes before a header; bytes that hold most headers
    std::string head;
    const auto read = [&](std::uint64_t bytes) {
        head.resize(static_cast<std::size_t>(std::min(bytes, file.size())));
        if (!head.empty()) file.read_at(0, head.data(), head.size());
    };
    read(first);
    if (head.size() < before) return head;
    wire_reader from(std::string_view(head).substr(8));
    read(before + (head[6] == 1 ? from.fixed<std::uint16_t>() : from.fixed<std::uint32_t>()));
    return head;
}

RILL_COLD any_array npy_array(std::string_view bytes) { return npy_array(memory_input(bytes)); }

RILL_COLD any_array npy_array(const input_file& file) {
    const std::string head = npy_head(file);
    wire_reader from(head);
    if (from.left() < 10 || from.raw(6) != "\x93NUMPY") throw data_loss("it does not begin as an .npy file does");
    const int major = from.fixed<std::uint8_t>(), minor = from.fixed<std::uint8_t>();
    if (major < 1 || major > 3 || minor != 0)
        throw unimplemented("its format has the version " + std::to_string(major) + "." + std::to_string(minor));
    const std::uint64_t length = major == 1 ? from.fixed<std::uint16_t>() : from.fixed<std::uint32_t>();
    const auto dictionary = from.raw(length);
    const std::size_t begin = from.offset(); // of the elements
    const auto is = npy_dictionary(dictionary, begin - dictionary.size()).read();
    if (is.descr.size() < 2) throw data_loss("its header: the type '" + is.descr + "'");
    const char order = is.descr[0];
    const std::string_view name = std::string_view(is.descr).substr(1);
    if (name.starts_with("O"))
        throw unimplemented("its elements are Python objects, which are not read: they are pickled code");
    const auto* type = std::find_if(npy_types.begin(), npy_types.end(), [&](const auto& t) { return t.name == name; });
    if (type == npy_types.end() || std::string_view("<>|=").find(order) == std::string_view::npos)
        throw unimplemented("elements of type '" + is.descr + "'");
    const std::size_t size = size_of(type->type);
    const std::string place = "from byte " + std::to_string(begin) + " on";
    const std::uint64_t left = file.size() - begin;
    const auto count =
        static_cast<std::uint64_t>(with_prefix(place, [&] { return checked_count(type->type, is.shape, left); }));
    if (count * size != left)
        throw data_loss(place + ": " + std::to_string(left) + " bytes of " +
                        to_string(tensor_type{type->type, is.shape}));
    any_array value(type->type, is.shape);
    auto* to = static_cast<char*>(value.mutable_data());
    const bool in_columns = is.fortran && is.shape.rank > 1;
    std::string columns(in_columns ? static_cast<std::size_t>(left) : 0, '\0');
    const std::string_view data(in_columns ? columns.data() : to, static_cast<std::size_t>(left));
    if (left > 0) file.read_at(begin, in_columns ? columns.data() : to, data.size());
    if (type->type == dtype::boolean) check_bools(data, begin);
    if (in_columns) copy_from_fortran(columns.data(), to, is.shape, size);
    const std::size_t part = is_differentiable(type->type) && name[0] == 'c' ? size / 2 : size;
    if (order == '>' && part > 1)
        for (std::size_t i = 0; i < data.size(); i += part) std::reverse(to + i, to + i + part);
    return value;
}

RILL_COLD std::string npy_header(const any_array& value) {
    const auto* type =
        std::find_if(npy_types.begin(), npy_types.end(), [&](const auto& t) { return t.type == value.dtype(); });
    if (type == npy_types.end()) throw invalid_argument("the format has no " + std::string(to_string(value.dtype())));
    std::string shape;
    for (int i = 0; i < value.shape().rank; ++i)
        shape += std::to_string(value.shape()[i]) + (i + 1 < value.shape().rank ? ", " : "");
    if (value.shape().rank == 1) shape += ",";
    std::string text = "{'descr': '" + std::string(size_of(type->type) == 1 ? "|" : "<") + std::string(type->name) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
    constexpr std::size_t before = 10; // magic, version and length
    text.append((64 - (before + text.size() + 1) % 64) % 64, ' ');
    text += '\n';
    wire_writer to;
    to.raw(std::string_view("\x93NUMPY\x01\x00", 8));
    to.fixed(static_cast<std::uint16_t>(text.size()));
    return to.out + text;
}

// A zip archive has a local header and bytes for each member, then the central directory and the end record. Numbers of more than 32 bits
// have extra fields, which npz writers add to local headers only.

inline constexpr std::uint32_t zip_local = 0x04034b50, zip_central = 0x02014b50, zip_end = 0x06054b50;

struct zip_member {
    std::string name;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, at = 0;
    std::uint64_t end = 0; // the upper bound of its bytes: the beginning of the next member
};

/// Reads the entries of an archive's directory.
inline std::vector<zip_member> zip_directory(std::string_view directory, unsigned count) {
    wire_reader from(directory);
    std::vector<zip_member> all;
    for (unsigned i = 0; i < count; ++i) {
        if (from.fixed<std::uint32_t>() != zip_central) from.refuse("no entry of the archive's directory");
        from.raw(4); // versions
        const auto flags = from.fixed<std::uint16_t>();
        zip_member m{.name = {}, .method = from.fixed<std::uint16_t>()};
        from.raw(4); // time
        m.crc = from.fixed<std::uint32_t>();
        m.packed = from.fixed<std::uint32_t>();
        m.size = from.fixed<std::uint32_t>();
        const std::uint64_t name = from.fixed<std::uint16_t>(), extra = from.fixed<std::uint16_t>(),
                            text = from.fixed<std::uint16_t>();
        from.raw(8); // disk, attributes
        m.at = from.fixed<std::uint32_t>();
        m.name = from.raw(name);
        from.raw(extra + text);
        if (flags & 1) throw unimplemented("'" + m.name + "' is encrypted");
        all.push_back(std::move(m));
    }
    if (!from.empty()) from.refuse("bytes follow the archive's directory");
    return all;
}

inline std::vector<zip_member> zip_members(const input_file& file) {
    constexpr std::uint64_t end_size = 22, tail_limit = end_size + 65535;
    const std::uint64_t tail_size = std::min(file.size(), tail_limit);
    std::string tail(static_cast<std::size_t>(tail_size), '\0');
    file.read_at(file.size() - tail_size, tail.data(), tail.size());
    const auto found = tail.rfind("PK\x05\x06");
    if (found == std::string::npos || tail.size() - found < end_size)
        throw data_loss("it does not end as a zip archive does");
    wire_reader end(std::string_view(tail).substr(found + 4));
    const auto disk = end.fixed<std::uint16_t>(), first_disk = end.fixed<std::uint16_t>(),
               here = end.fixed<std::uint16_t>(), count = end.fixed<std::uint16_t>();
    const std::uint64_t length = end.fixed<std::uint32_t>(), at = end.fixed<std::uint32_t>();
    const std::size_t comment = end.fixed<std::uint16_t>();
    const std::uint64_t end_at = file.size() - tail_size + found;
    if (count == 0xffff || at == 0xffffffff) throw unimplemented("archives of more than 4 GiB or 65,534 arrays");
    if (disk != 0 || first_disk != 0 || here != count || at + length != end_at || comment != end.left())
        throw data_loss("the end record of the archive is damaged");
    std::string directory(static_cast<std::size_t>(length), '\0');
    file.read_at(at, directory.data(), directory.size());
    std::vector<zip_member> all = with_prefix("its directory, which begins at byte " + std::to_string(at),
                                              [&] { return zip_directory(directory, count); });
    // Each member is limited to the bytes up to the next one. So no two share bytes, and the file bounds all memory.
    std::vector<zip_member*> order;
    for (auto& m : all) order.push_back(&m);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->at < b->at; });
    for (std::size_t i = 0; i < order.size(); ++i) order[i]->end = i + 1 < order.size() ? order[i + 1]->at : at;
    return all;
}

/// Returns the bytes of a member. Throws data_loss if they overlap the next one.
inline std::string zip_bytes(const input_file& file, const zip_member& m) {
    constexpr std::uint64_t local_size = 30;
    if (m.at > m.end || m.end - m.at < local_size)
        throw data_loss("its header, from byte " + std::to_string(m.at) + " on, reaches beyond byte " +
                        std::to_string(m.end) + ", where something else begins");
    std::string header(local_size, '\0');
    file.read_at(m.at, header.data(), header.size());
    wire_reader from(header);
    if (from.fixed<std::uint32_t>() != zip_local) throw data_loss("it has no header at byte " + std::to_string(m.at));
    from.raw(22);
    const std::uint64_t first = m.at + local_size + from.fixed<std::uint16_t>() + from.fixed<std::uint16_t>();
    if (first > m.end || m.packed > m.end - first)
        throw data_loss(std::to_string(m.packed) + " bytes from " + std::to_string(first) + " on reach beyond byte " +
                        std::to_string(m.end) + ", where something else begins");
    if (m.method != 0 && m.method != 8) throw unimplemented("the compression method " + std::to_string(m.method));
    if (m.method == 0 && m.packed != m.size) throw data_loss("its two sizes differ");
    std::string bytes(static_cast<std::size_t>(m.packed), '\0');
    file.read_at(first, bytes.data(), bytes.size());
    return with_prefix("bytes " + std::to_string(first) + " to " + std::to_string(first + m.packed), [&] {
        if (m.method == 8) bytes = inflated(bytes, m.size);
        if (crc32(bytes) != m.crc) throw data_loss("its checksum is wrong");
        return std::move(bytes);
    });
}

} // namespace detail

RILL_COLD any_array read_npy(const std::string& path, file_system& files) {
    return detail::with_prefix("read_npy: '" + path + "'", [&] { return detail::npy_array(*files.open(path)); });
}

RILL_COLD void write_npy(const std::string& path, const any_array& value, file_system& files) {
    const auto header = detail::with_prefix("write_npy: '" + path + "'", [&] { return detail::npy_header(value); });
    detail::replace_file(files, path, [&](output_file& to) {
        to.append(header);
        to.append(detail::bytes_of_numbers(value));
    });
}

RILL_COLD std::vector<named_array> read_npz(const std::string& path, file_system& files) {
    return detail::with_prefix("read_npz: '" + path + "'", [&] {
        const auto file = files.open(path);
        std::vector<named_array> all;
        std::set<std::string> names;
        for (const auto& m : detail::zip_members(*file)) {
            const std::string name = m.name.ends_with(".npy") ? m.name.substr(0, m.name.size() - 4) : m.name;
            all.push_back(detail::with_prefix("array '" + name + "'", [&] {
                if (!names.insert(name).second) throw data_loss("the name occurs twice");
                return named_array{name, detail::npy_array(detail::zip_bytes(*file, m))};
            }));
        }
        return all;
    });
}

RILL_COLD void write_npz(const std::string& path, const std::vector<named_array>& arrays, file_system& files) {
    std::set<std::string> names;
    std::uint64_t total = 0;
    for (const auto& a : arrays) {
        if (!names.insert(a.name).second) throw invalid_argument("write_npz: the name '" + a.name + "' is taken");
        total += detail::bytes_of_numbers(a.value).size() + 512 + 2 * a.name.size();
    }
    if (total >= 0xffffffff || arrays.size() >= 0xffff)
        throw unimplemented("write_npz: '" + path + "': archives of more than 4 GiB or 65,534 arrays");
    detail::replace_file(files, path, [&](output_file& to) {
        std::string directory;
        std::uint32_t at = 0;
        for (const auto& a : arrays) {
            const auto header =
                detail::with_prefix("write_npz: array '" + a.name + "'", [&] { return detail::npy_header(a.value); });
            const auto data = detail::bytes_of_numbers(a.value);
            const auto size = static_cast<std::uint32_t>(header.size() + data.size());
            const std::uint32_t crc = detail::crc32(data, detail::crc32(header));
            const std::string name = a.name + ".npy";
            detail::wire_writer common;              // shared by local header and directory
            common.fixed<std::uint16_t>(20);         // version needed
            common.fixed<std::uint16_t>(0x0800);     // names are UTF-8
            common.fixed<std::uint16_t>(0);          // stored
            common.fixed<std::uint32_t>(0x00210000); // the first of January 1980
            common.fixed(crc);
            common.fixed(size);
            common.fixed(size);
            common.fixed(static_cast<std::uint16_t>(name.size()));
            common.fixed<std::uint16_t>(0);
            detail::wire_writer local, central;
            local.fixed(detail::zip_local);
            local.raw(common.out + name + header);
            to.append(local.out);
            to.append(data);
            central.fixed(detail::zip_central);
            central.fixed<std::uint16_t>(20);
            central.raw(common.out);
            central.raw(std::string(10, '\0')); // comment, disk, attributes
            central.fixed(at);
            central.raw(name);
            directory += central.out;
            at += static_cast<std::uint32_t>(local.out.size()) + static_cast<std::uint32_t>(data.size());
        }
        detail::wire_writer end;
        end.fixed(detail::zip_end);
        end.fixed<std::uint32_t>(0);
        end.fixed(static_cast<std::uint16_t>(arrays.size()));
        end.fixed(static_cast<std::uint16_t>(arrays.size()));
        end.fixed(static_cast<std::uint32_t>(directory.size()));
        end.fixed(at);
        end.fixed<std::uint16_t>(0);
        to.append(directory + end.out);
    });
}

}} // namespace rill::RILL_ABI
