// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/tensor_bundle.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <rill/core/crc32c.hpp>
#include <rill/io/checkpoint.hpp>
#include <rill/io/tensor_message.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

// The index is a LevelDB table of blocks, an index block, and a footer of 48 bytes. A block has entries (shared prefix, rest of the key,
// value) and a list of restarts. A byte (0: uncompressed) and a masked crc32c follow each block. Keys are tensor names, values are
// BundleEntryProtos. The empty key has the BundleHeaderProto.

inline constexpr std::uint64_t table_magic = 0xdb4775248b80fb57u, table_footer = 48,
                               table_limit = std::uint64_t(1) << 30;

/// TensorFlow's dtype numbers, in the order of rill's dtypes.
inline constexpr std::array<int, dtype_count> tensorflow_types{0,  1,  2, 6, 5,  3,  9,  4,  17, 22,
                                                               23, 10, 7, 8, 18, 14, 19, 11, 12, 13};

RILL_COLD int tensorflow_type(dtype type) { return tensorflow_types[static_cast<std::size_t>(type)]; }

RILL_COLD dtype dtype_of_tensorflow(std::uint64_t number) {
    for (std::size_t i = 1; i < tensorflow_types.size(); ++i)
        if (static_cast<std::uint64_t>(tensorflow_types[i]) == number) return static_cast<dtype>(i);
    return dtype::invalid;
}

struct block_handle {
    std::uint64_t offset = 0, size = 0;

    static block_handle read(wire_reader& from) {
        block_handle h;
        h.offset = from.varint();
        h.size = from.varint();
        return h;
    }
    std::string bytes() const {
        wire_writer to;
        to.varint(offset);
        to.varint(size);
        return to.out;
    }
};

/// A writer of a table's block. It writes full keys: every entry is a restart.
class block_writer {
public:
    void add(std::string_view key, std::string_view value) {
        restarts_.push_back(static_cast<std::uint32_t>(to_.out.size()));
        to_.varint(0);
        to_.varint(key.size());
        to_.varint(value.size());
        to_.raw(key);
        to_.raw(value);
    }
    std::size_t size() const { return to_.out.size(); }
    std::string finished() {
        if (restarts_.empty()) restarts_.push_back(0);
        for (const auto at : restarts_) to_.fixed(at);
        to_.fixed(static_cast<std::uint32_t>(restarts_.size()));
        restarts_.clear();
        return std::exchange(to_.out, {});
    }

private:
    wire_writer to_;
    std::vector<std::uint32_t> restarts_;
};

/// Appends a block and its trailer to a table.
inline block_handle append_block(std::string& table, const std::string& block) {
    const block_handle h{table.size(), block.size()};
    table += block;
    table += '\0';
    wire_writer sum;
    sum.fixed(masked_crc(detail::crc32c(std::string(1, '\0'), detail::crc32c(block))));
    table += sum.out;
    return h;
}

inline std::string written_table(const std::vector<std::pair<std::string, std::string>>& entries) {
    constexpr std::size_t block_size = 256 << 10;
    std::string table;
    block_writer block, index;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        block.add(entries[i].first, entries[i].second);
        if (block.size() < block_size && i + 1 < entries.size()) continue;
        const auto h = append_block(table, block.finished());
        index.add(entries[i].first, h.bytes());
    }
    const auto meta = append_block(table, block_writer().finished());
    const auto at = append_block(table, index.finished());
    std::string footer = meta.bytes() + at.bytes();
    footer.resize(table_footer - 8);
    wire_writer magic;
    magic.fixed(table_magic);
    return table + footer + magic.out;
}

inline std::string_view checked_block(std::string_view table, const block_handle& h) {
    constexpr std::uint64_t trailer = 5;
    if (h.offset > table.size() || h.size > table.size() - h.offset || table.size() - h.offset - h.size < trailer)
        throw data_loss("a block lies behind the end of the file");
    const auto with_type = table.substr(static_cast<std::size_t>(h.offset), static_cast<std::size_t>(h.size) + 1);
    wire_reader sum(table.substr(static_cast<std::size_t>(h.offset + h.size) + 1, 4));
    if (masked_crc(detail::crc32c(with_type)) != sum.fixed<std::uint32_t>())
        throw data_loss("the checksum of the block at byte " + std::to_string(h.offset) + " is wrong");
    if (with_type.back() != 0) throw unimplemented("its index is compressed");
    return with_type.substr(0, with_type.size() - 1);
}

/// Calls f(key, value) for each entry of a block.
template <class F> void each_entry(std::string_view block, const F& f) {
    if (block.size() < 4) throw data_loss("a block without restarts");
    const std::uint64_t restarts = wire_reader(block.substr(block.size() - 4)).fixed<std::uint32_t>();
    if (restarts > (block.size() - 4) / 4) throw data_loss("a block with " + std::to_string(restarts) + " restarts");
    wire_reader from(block.substr(0, block.size() - 4 - static_cast<std::size_t>(restarts) * 4));
    std::string key;
    while (!from.empty()) {
        const auto shared = from.varint(), rest = from.varint(), size = from.varint();
        if (shared > key.size()) from.refuse("a key that shares more than there is");
        key.resize(static_cast<std::size_t>(shared));
        key += from.raw(rest);
        f(key, from.raw(size));
    }
}

inline std::vector<std::pair<std::string, std::string>> read_table(std::string_view table) {
    if (table.size() < table_footer) throw data_loss("it ends within its footer");
    wire_reader footer(table.substr(table.size() - table_footer));
    block_handle::read(footer); // of meta blocks
    const auto index = block_handle::read(footer);
    if (wire_reader(table.substr(table.size() - 8)).fixed<std::uint64_t>() != table_magic)
        throw data_loss("it does not end as a table does");
    std::vector<std::pair<std::string, std::string>> all;
    constexpr std::uint64_t most_ratio = 16; // LevelDB writes a key in full after 16 that share its beginning
    std::uint64_t read = 0, named = 0;       // blocks may be listed twice, and a key may share all of a long one
    each_entry(checked_block(table, index), [&](const std::string&, std::string_view at) {
        wire_reader handle(at);
        const auto block = checked_block(table, block_handle::read(handle));
        read += block.size();
        if (read > table.size()) throw data_loss("its blocks overlap");
        each_entry(block, [&](const std::string& key, std::string_view value) {
            if (!all.empty() && all.back().first >= key) throw data_loss("its names are not sorted");
            named += key.size();
            if (named > most_ratio * table.size())
                throw data_loss("its names take more than " + std::to_string(most_ratio) + " times its bytes");
            all.emplace_back(key, value);
        });
    });
    return all;
}

struct bundle_entry {
    dtype type = dtype::invalid;
    dims shape;
    std::uint64_t shard = 0, offset = 0, size = 0;
    std::uint32_t crc = 0;

    static bundle_entry read(std::string_view bytes) {
        bundle_entry e;
        for (wire_reader from(bytes); !from.empty();) {
            const auto f = from.next_field();
            if (f.number == 1) {
                e.type = dtype_of_tensorflow(f.value);
                if (e.type == dtype::invalid)
                    throw unimplemented("elements of TensorFlow's type " + std::to_string(f.value));
            } else if (f.number == 2) {
                for (wire_reader axes(f.bytes); !axes.empty();) {
                    const auto axis = axes.next_field();
                    if (axis.number != 2) continue;
                    std::int64_t extent = 0;
                    for (wire_reader dim(axis.bytes); !dim.empty();)
                        if (const auto size = dim.next_field(); size.number == 1)
                            extent = static_cast<std::int64_t>(size.value);
                    if (e.shape.rank == max_rank)
                        throw unimplemented("more than " + std::to_string(max_rank) + " axes");
                    e.shape.push(extent);
                }
            } else if (f.number == 3) {
                e.shard = f.value;
            } else if (f.number == 4) {
                e.offset = f.value;
            } else if (f.number == 5) {
                e.size = f.value;
            } else if (f.number == 6) {
                e.crc = static_cast<std::uint32_t>(f.value);
            } else if (f.number == 7) {
                throw unimplemented("it is partitioned into slices");
            }
        }
        return e;
    }
    std::string bytes() const {
        wire_writer to;
        to.field(1, static_cast<std::uint64_t>(tensorflow_type(type)));
        to.field(2, shape_bytes(shape));
        if (offset != 0) to.field(4, offset);
        to.field(5, size);
        to.field_fixed32(6, crc);
        return to.out;
    }
};

/// Returns the bytes of text in a bundle, and their checksum. The bytes are the lengths as varints, a masked checksum of the lengths, and
/// the characters. The checksum covers each length as 32 bits, or 64 if needed.
inline std::pair<std::string, std::uint32_t> bundle_text(const any_array& a) {
    wire_writer to;
    std::uint32_t crc = 0;
    const auto add = [&](std::string_view bytes) { crc = detail::crc32c(bytes, crc); };
    for (const auto& s : a.elements<std::string>()) {
        to.varint(s.size());
        wire_writer length;
        if (s.size() <= 0xffffffffu)
            length.fixed(static_cast<std::uint32_t>(s.size()));
        else
            length.fixed(static_cast<std::uint64_t>(s.size()));
        add(length.out);
    }
    wire_writer sum;
    sum.fixed(masked_crc(crc));
    add(sum.out);
    to.raw(sum.out);
    for (const auto& s : a.elements<std::string>()) {
        add(s);
        to.raw(s);
    }
    return {to.out, crc};
}

inline any_array read_bundle_text(std::string_view bytes, const dims& shape) {
    any_array value(dtype::string, shape);
    const auto n = static_cast<std::size_t>(value.size());
    wire_reader from(bytes);
    std::vector<std::uint64_t> lengths;
    for (std::size_t i = 0; i < n; ++i) lengths.push_back(from.varint());
    from.raw(4); // the checksum of the lengths; only the total one is checked
    for (std::size_t i = 0; i < n; ++i) static_cast<std::string*>(value.mutable_data())[i] = from.raw(lengths[i]);
    if (!from.empty()) from.refuse("characters are left over");
    return value;
}

inline std::string bundle_shard_path(const std::string& prefix, std::uint64_t shard, std::uint64_t shards) {
    return sharded_filename(prefix + ".data", static_cast<int>(shard), static_cast<int>(shards));
}

/// Returns the place of an entry for messages: "bytes 8 to 16 of 'model.ckpt.data-00000-of-00001'".
inline std::string bundle_place(const bundle_entry& e, const std::string& path) {
    return "bytes " + std::to_string(e.offset) + " to " + std::to_string(e.offset + e.size) + " of '" + path + "'";
}

/// Throws data_loss for bytes beyond the end of a file, or of two tensors. So the files bound all memory.
inline void check_bundle_places(const std::vector<std::pair<std::string, bundle_entry>>& all,
                                const std::function<std::uint64_t(std::uint64_t shard)>& size_of_shard) {
    std::vector<const std::pair<std::string, bundle_entry>*> order;
    for (const auto& each : all) {
        const auto& e = each.second;
        const auto size = size_of_shard(e.shard);
        if (e.offset > size || e.size > size - e.offset)
            throw data_loss(of_tensor(each.first, std::to_string(e.size) + " bytes from " + std::to_string(e.offset) +
                                                      " on lie behind the end of its shard, which has " +
                                                      std::to_string(size)));
        if (e.size > 0) order.push_back(&each);
    }
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return std::tie(a->second.shard, a->second.offset, a->first) <
               std::tie(b->second.shard, b->second.offset, b->first);
    });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (const auto& a = order[i - 1]->second, &b = order[i]->second;
            a.shard == b.shard && b.offset - a.offset < a.size)
            throw data_loss(of_tensor(order[i]->first, "its bytes, from " + std::to_string(b.offset) +
                                                           " on, are also those of tensor '" + order[i - 1]->first +
                                                           "'"));
}

inline any_array read_bundle_entry(const input_file& file, const bundle_entry& e) {
    const auto count = static_cast<std::uint64_t>(checked_count(e.type, e.shape, e.size));
    const auto check = [&](std::uint32_t crc) {
        if (masked_crc(crc) != e.crc) throw data_loss("its checksum is wrong");
    };
    if (e.type == dtype::string) {
        std::string bytes(static_cast<std::size_t>(e.size), '\0');
        file.read_at(e.offset, bytes.data(), bytes.size());
        any_array value = read_bundle_text(bytes, e.shape);
        const auto [again, crc] = bundle_text(value);
        if (again != bytes) throw data_loss("its lengths are damaged");
        check(crc);
        return value;
    }
    if (count * size_of(e.type) != e.size)
        throw data_loss(std::to_string(e.size) + " bytes of " + to_string(tensor_type{e.type, e.shape}));
    any_array value(e.type, e.shape);
    file.read_at(e.offset, value.mutable_data(), static_cast<std::size_t>(e.size));
    check(detail::crc32c(bytes_of_numbers(value)));
    if (e.type == dtype::boolean) check_bools(bytes_of_numbers(value), e.offset);
    return value;
}

} // namespace detail

RILL_COLD std::vector<named_array> read_tensor_bundle(const std::string& prefix, file_system& files) {
    const std::string index_path = prefix + ".index";
    const auto table = detail::with_prefix("read_tensor_bundle: '" + index_path + "'", [&] {
        return detail::read_table(detail::read_whole(files, index_path, detail::table_limit));
    });
    return detail::with_prefix("read_tensor_bundle: '" + prefix + "'", [&] {
        if (table.empty() || !table[0].first.empty()) throw data_loss("its index has no header");
        std::uint64_t shards = 1;
        for (detail::wire_reader from(table[0].second); !from.empty();) {
            const auto f = from.next_field();
            if (f.number == 1) shards = f.value;
            if (f.number == 2 && f.value != 0) throw unimplemented("its numbers are big-endian");
        }
        if (shards < 1 || shards > 99999) throw data_loss("it has " + std::to_string(shards) + " shards");
        std::vector<std::pair<std::string, detail::bundle_entry>> entries;
        for (const auto& [name, bytes] : table) {
            if (name.empty()) continue;
            const auto e = detail::with_prefix("tensor '" + name + "': its entry in '" + index_path + "'",
                                               [&] { return detail::bundle_entry::read(bytes); });
            if (e.shard >= shards)
                throw data_loss(detail::of_tensor(name, "it lies in shard " + std::to_string(e.shard) + " of " +
                                                            std::to_string(shards)));
            entries.emplace_back(name, e);
        }
        std::map<std::uint64_t, std::unique_ptr<input_file>> open;
        const auto shard = [&](std::uint64_t i) -> const input_file& {
            auto& file = open[i];
            if (!file) file = files.open(detail::bundle_shard_path(prefix, i, shards));
            return *file;
        };
        detail::check_bundle_places(entries, [&](std::uint64_t i) { return shard(i).size(); });
        std::vector<named_array> all;
        for (const auto& [name, e] : entries)
            all.push_back(detail::with_prefix(
                "tensor '" + name + "', " + detail::bundle_place(e, detail::bundle_shard_path(prefix, e.shard, shards)),
                [&] {
                    return named_array{name, detail::read_bundle_entry(shard(e.shard), e)};
                }));
        return all;
    });
}

RILL_COLD void write_tensor_bundle(const std::string& prefix, const std::vector<named_array>& arrays,
                                   file_system& files) {
    std::vector<const named_array*> order;
    for (const auto& a : arrays) order.push_back(&a);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i]->name.empty() || (i > 0 && order[i - 1]->name == order[i]->name))
            throw invalid_argument("write_tensor_bundle: the name '" + order[i]->name + "' is empty or taken");
    detail::wire_writer header, version;
    version.field(1, std::uint64_t(1));
    header.field(1, std::uint64_t(1)); // shards
    header.field(3, version.out);
    std::vector<std::pair<std::string, std::string>> entries{{"", header.out}};
    detail::replace_file(files, detail::bundle_shard_path(prefix, 0, 1), [&](output_file& to) {
        std::uint64_t at = 0;
        for (const auto* a : order) {
            detail::bundle_entry e{.type = a->value.dtype(), .shape = a->value.shape(), .offset = at};
            std::string text;
            std::string_view bytes;
            if (e.type == dtype::string) {
                std::tie(text, e.crc) = detail::bundle_text(a->value);
                bytes = text;
            } else {
                bytes = detail::bytes_of_numbers(a->value);
                e.crc = detail::crc32c(bytes);
            }
            e.crc = detail::masked_crc(e.crc);
            e.size = bytes.size();
            to.append(bytes);
            at += bytes.size();
            entries.emplace_back(a->name, e.bytes());
        }
    });
    detail::replace_file(files, prefix + ".index",
                         [&](output_file& to) { to.append(detail::written_table(entries)); }); // last: it commits
}

}} // namespace rill::RILL_ABI
