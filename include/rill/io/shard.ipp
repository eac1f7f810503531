// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/shard.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include <rill/core/crc32c.hpp>
#include <rill/core/platform.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string shard_header::bytes() {
    wire_writer to;
    to.raw(shard_magic);
    to.fixed(checkpoint_version);
    to.fixed(checkpoint_endian);
    to.fixed(flags);
    to.fixed(shard);
    to.fixed(shards);
    to.fixed<std::uint16_t>(0);
    to.raw(id);
    to.fixed(index_length);
    to.fixed(index_offset);
    to.fixed(file_length);
    to.fixed(index_sum);
    sum = detail::crc32c(to.out);
    to.fixed(sum);
    return to.out;
}

RILL_COLD shard_header shard_header::read(std::string_view bytes) {
    wire_reader from(bytes);
    if (from.raw(shard_magic.size()) != shard_magic) throw data_loss("it does not begin as a checkpoint of rill does");
    const auto version = from.fixed<std::uint16_t>(), endian = from.fixed<std::uint16_t>();
    shard_header h;
    h.flags = from.fixed<std::uint16_t>();
    h.shard = from.fixed<std::uint16_t>();
    h.shards = from.fixed<std::uint16_t>();
    const auto zero = from.fixed<std::uint16_t>();
    h.id = from.raw(id_size);
    h.index_length = from.fixed<std::uint32_t>();
    h.index_offset = from.fixed<std::uint64_t>();
    h.file_length = from.fixed<std::uint64_t>();
    h.index_sum = from.fixed<std::uint32_t>();
    h.sum = from.fixed<std::uint32_t>();
    if (detail::crc32c(bytes.substr(0, shard_header_size - 4)) != h.sum)
        throw data_loss("the checksum of its header is wrong");
    if (version != checkpoint_version)
        throw invalid_argument("its format has the version " + std::to_string(version) + ", this program reads " +
                               std::to_string(checkpoint_version));
    if (endian != checkpoint_endian || zero != 0 || (h.flags & ~flag_manifest_follows) || h.shard >= h.shards ||
        h.shards > shard_limit)
        throw unimplemented("its header has marks that this program does not know");
    return h;
}

RILL_COLD tensor_type index_entry::own_type() const {
    tensor_type own = type;
    if (is_slice) own.shape[slice.axis] = slice.extent;
    return own;
}

RILL_COLD std::string shard_name(std::size_t i, std::size_t n) {
    return sharded_filename("shard", static_cast<int>(i), static_cast<int>(n)) + ".dat";
}

RILL_COLD std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += digits;
    }
    return text;
}

RILL_COLD std::string draw_checkpoint_id() {
    wire_writer id;
    id.fixed(random_bits());
    id.fixed(random_bits());
    return id.out;
}

inline std::uint64_t aligned(std::uint64_t at, std::uint64_t bytes) {
    const std::uint64_t step = bytes >= 65536 ? 4096 : 64;
    return (at + step - 1) / step * step;
}

inline std::string text_bytes(const any_array& a) {
    wire_writer to;
    for (const auto& s : a.elements<std::string>()) to.fixed(static_cast<std::uint64_t>(s.size()));
    for (const auto& s : a.elements<std::string>()) to.raw(s);
    return to.out;
}

/// Appends zeros up to an offset.
inline void pad_to(output_file& to, std::uint64_t& at, std::uint64_t wanted) {
    if (wanted == at) return;
    to.append(std::string(static_cast<std::size_t>(wanted - at), '\0'));
    at = wanted;
}

inline std::string index_bytes(const std::vector<index_entry>& entries) {
    wire_writer to;
    for (const auto& e : entries) {
        to.fixed(static_cast<std::uint16_t>(e.name.size()));
        to.raw(e.name);
        to.fixed(static_cast<std::uint8_t>(e.type.type));
        to.fixed(static_cast<std::uint8_t>(e.type.shape.rank));
        for (int i = 0; i < e.type.shape.rank; ++i) to.fixed(e.type.shape[i]);
        to.fixed(static_cast<std::uint8_t>(e.is_slice));
        if (e.is_slice) {
            to.fixed(static_cast<std::uint8_t>(e.slice.axis));
            for (const index_t n : {e.slice.start, e.slice.extent, e.slice.step}) to.fixed(n);
        }
        to.fixed(e.offset);
        to.fixed(e.length);
        for (const auto sum : e.sums) to.fixed(sum);
    }
    return to.out;
}

RILL_COLD const index_entry* find_repeated(std::vector<index_entry>& entries) {
    std::sort(entries.begin(), entries.end());
    const auto at = std::adjacent_find(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.name == b.name && !(a.is_slice && b.is_slice && a.type == b.type && a.slice.axis == b.slice.axis &&
                                     a.slice.start < b.slice.start);
    });
    return at == entries.end() ? nullptr : &*at + 1;
}

RILL_COLD index_entry entry_of(const named_array& a, const std::map<std::string, saved_slice>& slices) {
    index_entry e{.name = a.name, .type = a.value.type()};
    if (const auto at = slices.find(a.name); at != slices.end()) {
        const auto& part = at->second;
        if (part.axis < 0 || part.axis >= part.shape.rank || part.own_shape() != a.value.shape() ||
            part.shape.size() < 1)
            throw invalid_argument(of_tensor(a.name, "it is " + to_string(a.value.type()) + ", not a part of '" +
                                                         part.of + "' " + to_string(part.shape)));
        e.name = part.of;
        e.type.shape = part.shape;
        e.is_slice = true;
        e.slice = {{}, {}, part.axis, part.start, part.extent, part.step};
    }
    if (e.name.size() > checkpoint_name_limit)
        throw invalid_argument(of_tensor(e.name, "the name is longer than 1 KiB"));
    return e;
}

RILL_COLD shard_header write_shard(output_file& to, std::vector<named_array>& arrays, const shard_place& place) {
    std::vector<std::pair<index_entry, named_array*>> order;
    for (auto& a : arrays) order.emplace_back(entry_of(a, place.slices), &a);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<index_entry> entries;
    std::uint64_t at = 0;
    pad_to(to, at, shard_header_size);
    for (auto& [made, array] : order) {
        const auto& value = array->value;
        const std::string text = value.dtype() == dtype::string ? text_bytes(value) : std::string();
        const std::string_view bytes =
            value.dtype() == dtype::string ? std::string_view(text) : bytes_of_numbers(value);
        pad_to(to, at, aligned(at, bytes.size()));
        auto& e = entries.emplace_back(std::move(made));
        e.offset = at;
        e.length = bytes.size();
        for (std::size_t i = 0; i < bytes.size(); i += crc_chunk) {
            const auto chunk = bytes.substr(i, crc_chunk);
            e.sums.push_back(detail::crc32c(chunk));
            to.append(chunk);
        }
        at += bytes.size();
        array->value = {}; // releases a variable's version as soon as possible
    }
    pad_to(to, at, aligned(at, 0));
    const std::string index = index_bytes(entries);
    if (index.size() > index_limit) throw resource_exhausted("a shard's index takes 64 MiB at most");
    to.append(index);
    shard_header h{.flags = place.flags,
                   .shard = place.shard,
                   .shards = place.shards,
                   .id = place.id,
                   .index_length = static_cast<std::uint32_t>(index.size()),
                   .index_offset = at,
                   .file_length = at + index.size(),
                   .index_sum = detail::crc32c(index)};
    if (place.more) {
        const std::string last = place.more(h);
        to.append(last);
        h.file_length += last.size();
    }
    to.write_at(0, h.bytes());
    return h;
}

inline void append_shard(wire_writer& to, const committed_shard& s) {
    to.text(s.name);
    to.fixed(s.index_offset);
    to.fixed(s.index_length);
    to.fixed(s.index_sum);
}

inline committed_shard take_shard(wire_reader& from) {
    committed_shard s;
    s.name = from.text();
    s.index_offset = from.fixed<std::uint64_t>();
    s.index_length = from.fixed<std::uint32_t>();
    s.index_sum = from.fixed<std::uint32_t>();
    return s;
}

RILL_COLD std::string manifest_bytes(const checkpoint_write_options& how, const std::string& id, double time,
                                     const std::vector<committed_shard>& shards) {
    wire_writer payload;
    payload.raw(id);
    payload.fixed(how.step);
    payload.fixed(time);
    if (shards.size() > 1) payload.varint(shards.size());
    for (const auto& s : shards) append_shard(payload, s);
    payload.varint(how.metadata.size());
    for (const auto& [key, value] : how.metadata) {
        payload.text(key);
        payload.text(value);
    }
    if (payload.out.size() + manifest_header_size > manifest_limit)
        throw invalid_argument("a checkpoint's metadata takes 1 MiB at most");
    wire_writer to;
    to.raw(manifest_magic);
    to.fixed(shards.size() > 1 ? sharded_manifest : std::uint32_t(checkpoint_version));
    to.fixed(static_cast<std::uint32_t>(payload.out.size()));
    to.fixed(detail::crc32c(payload.out, detail::crc32c(to.out)));
    return to.out + payload.out;
}

RILL_COLD read_manifest::read_manifest(std::string_view bytes) {
    wire_reader from(bytes);
    if (from.left() < manifest_header_size || from.raw(manifest_magic.size()) != manifest_magic)
        throw data_loss("its manifest does not begin as one");
    const auto version = from.fixed<std::uint32_t>(), length = from.fixed<std::uint32_t>(),
               sum = from.fixed<std::uint32_t>();
    if (length != from.left() || detail::crc32c(bytes.substr(manifest_header_size),
                                                detail::crc32c(bytes.substr(0, manifest_header_size - 4))) != sum)
        throw data_loss("the checksum of its manifest is wrong");
    if (version != checkpoint_version && version != sharded_manifest)
        throw invalid_argument("its manifest has the version " + std::to_string(version));
    with_prefix("manifest", [&] {
        id = from.raw(id_size);
        info.id = hex_of(id);
        info.step = from.fixed<std::int64_t>();
        info.time = from.fixed<double>();
        const std::uint64_t count = version == sharded_manifest ? from.varint() : 1;
        if (count < 1 || count > shard_limit) from.refuse(std::to_string(count) + " shards");
        for (std::uint64_t i = 0; i < count; ++i) shards.push_back(take_shard(from));
        for (auto n = from.varint(); n > 0; --n) {
            std::string key(from.text());
            info.metadata[std::move(key)] = from.text();
        }
        if (!from.empty()) from.refuse("bytes follow");
    });
}

/// Reads the slice of an index entry whose type is known. Throws data_loss if it exceeds the array.
inline void read_slice_of(index_entry& e, wire_reader& from) {
    const int axis = from.fixed<std::uint8_t>();
    e.is_slice = true;
    e.slice.axis = axis;
    for (index_t* const n : {&e.slice.start, &e.slice.extent, &e.slice.step}) *n = from.fixed<index_t>();
    for (int i = 0; i < e.type.shape.rank; ++i)
        if (e.type.shape[i] < 1) throw data_loss(of_tensor(e.name, "a slice of " + to_string(e.type.shape)));
    if (axis >= e.type.shape.rank) throw data_loss(of_tensor(e.name, "a slice along axis " + std::to_string(axis)));
    const index_t all = e.type.shape[axis];
    const auto& s = e.slice;
    if (s.start < 0 || s.extent < 1 || s.step < 1 || s.start >= all || s.extent - 1 > (all - 1 - s.start) / s.step)
        throw data_loss(of_tensor(e.name, "a slice of " + std::to_string(s.extent) + " from " +
                                              std::to_string(s.start) + " on in steps of " + std::to_string(s.step) +
                                              ", of " + std::to_string(all)));
}

RILL_COLD std::vector<index_entry> read_index(std::string_view bytes, std::uint64_t end) {
    std::vector<index_entry> all;
    wire_reader from(bytes);
    std::uint64_t at = shard_header_size;
    while (!from.empty()) {
        if (all.size() == entry_limit) from.refuse("more than " + std::to_string(entry_limit) + " entries");
        index_entry e;
        e.name = from.raw(from.fixed<std::uint16_t>());
        const auto refuse = [&](const std::string& why) { throw data_loss(of_tensor(e.name, why)); };
        const auto type = from.fixed<std::uint8_t>(), rank = from.fixed<std::uint8_t>();
        if (type == 0 || type >= dtype_count || rank > max_rank) refuse("an unknown dtype or rank");
        e.type.type = static_cast<dtype>(type);
        for (int i = 0; i < rank; ++i) e.type.shape.push(from.fixed<std::int64_t>());
        const auto slice = from.fixed<std::uint8_t>();
        if (slice > 1) throw unimplemented(of_tensor(e.name, "a slice of the kind " + std::to_string(slice)));
        if (slice == 1) read_slice_of(e, from);
        if (e.name.size() > checkpoint_name_limit || (!all.empty() && !(all.back() < e)))
            refuse("the names are not sorted, or too long");
        e.offset = from.fixed<std::uint64_t>();
        e.length = from.fixed<std::uint64_t>();
        if (e.offset < at || e.offset > end || e.length > end - e.offset || e.offset != aligned(at, e.length))
            refuse("its place in the file is wrong: " + std::to_string(e.length) + " bytes from " +
                   std::to_string(e.offset) + " on");
        const auto own = e.own_type();
        const auto count = static_cast<std::uint64_t>(
            with_prefix("tensor '" + e.name + "'", [&] { return checked_count(own.type, own.shape, e.length); }));
        if (own.type == dtype::string ? count > e.length / 8 : count * size_of(own.type) != e.length)
            refuse(std::to_string(e.length) + " bytes of " + to_string(own));
        for (std::uint64_t i = 0; i < e.length; i += crc_chunk) e.sums.push_back(from.fixed<std::uint32_t>());
        at = e.offset + e.length;
        all.push_back(std::move(e));
    }
    if (aligned(at, 0) != end) throw data_loss("bytes follow the last tensor");
    return all;
}

/// Reads bytes of a tensor in chunks, and checks each.
inline void read_checked(const input_file& file, const index_entry& e, char* to) {
    for (std::uint64_t i = 0, k = 0; i < e.length; i += crc_chunk, ++k) {
        const auto n = static_cast<std::size_t>(std::min(crc_chunk, e.length - i));
        file.read_at(e.offset + i, to + i, n);
        if (detail::crc32c({to + i, n}) != e.sums[k])
            throw data_loss("the checksum of the bytes " + std::to_string(e.offset + i) + " to " +
                            std::to_string(e.offset + i + n) + " is wrong");
    }
}

RILL_COLD any_array read_tensor(const input_file& file, const index_entry& e) {
    return with_prefix("tensor '" + e.name + "'", [&] {
        const auto own = e.own_type();
        any_array value(own.type, own.shape);
        if (own.type != dtype::string) {
            read_checked(file, e, static_cast<char*>(value.mutable_data()));
            if (own.type == dtype::boolean) check_bools(bytes_of_numbers(value), e.offset);
            return value;
        }
        std::string bytes(static_cast<std::size_t>(e.length), '\0');
        read_checked(file, e, bytes.data());
        const auto n = static_cast<std::size_t>(value.size());
        return with_prefix(
            "text in bytes " + std::to_string(e.offset) + " to " + std::to_string(e.offset + e.length), [&] {
                wire_reader lengths(std::string_view(bytes).substr(0, 8 * n)),
                    characters(std::string_view(bytes).substr(8 * n));
                for (std::size_t i = 0; i < n; ++i)
                    static_cast<std::string*>(value.mutable_data())[i] = characters.raw(lengths.fixed<std::uint64_t>());
                if (!characters.empty()) throw data_loss("characters are left over");
                return std::move(value);
            });
    });
}

RILL_COLD double seconds_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}}} // namespace rill::RILL_ABI::detail
