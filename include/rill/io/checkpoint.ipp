// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/checkpoint.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include <rill/core/crc32c.hpp>
#include <rill/core/log.hpp>
#include <rill/core/platform.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

// ---- format, version 1 -----------------------------------------------------------------------------------------------------
// A shard: header (64 bytes) | arrays, each aligned to 64 bytes (4096 if it has 64 KiB or more), zeros between | index.
// The header: magic 8 | version 2 | endian mark 2 | flags 2 | shard 2 | shards 2 | zero 2 | id 16 | index length 4 | index offset 8 |
// file length 8 | index checksum 4 | checksum of the 60 bytes before 4. It is written last, so that a torn file has no magic.
// An index entry, sorted by name: name | dtype 1 | rank 1 | extents 8 each | slice 1 (0) | offset 8 | length 8 | a checksum for each MiB.
// Text is the length of each element (8 bytes), then all characters.
// A manifest: magic 8 | version 4 | payload length 4 | checksum 4 | payload.

inline constexpr std::string_view shard_magic{"\x89rillck\n", 8}, manifest_magic{"\x89rillmf\n", 8};
inline constexpr std::uint16_t checkpoint_version = 1, checkpoint_endian = 0x0102;
inline constexpr std::uint16_t flag_manifest_follows = 1; // in the file itself
inline constexpr std::uint64_t shard_header_size = 64, crc_chunk = 1 << 20, index_limit = 64 << 20, manifest_limit = 1 << 20;
inline constexpr std::size_t manifest_header_size = 20, id_size = 16, checkpoint_name_limit = 1024;
inline constexpr const char* manifest_name = "MANIFEST";
inline constexpr const char* unfinished_prefix = ".tmp-";

struct index_entry {
    std::string name;
    tensor_type type;
    std::uint64_t offset = 0, length = 0;
    std::vector<std::uint32_t> sums; // one for each MiB
};

struct shard_header {
    std::uint16_t flags = 0, shard = 0, shards = 1;
    std::string id;
    std::uint32_t index_length = 0;
    std::uint64_t index_offset = 0, file_length = 0;
    std::uint32_t index_sum = 0, sum = 0;

    std::string bytes() {
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

    static shard_header read(std::string_view bytes) {
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
        if (detail::crc32c(bytes.substr(0, shard_header_size - 4)) != h.sum) throw data_loss("the checksum of its header is wrong");
        if (version != checkpoint_version)
            throw invalid_argument("its format has the version " + std::to_string(version) + ", this program reads " +
                                   std::to_string(checkpoint_version));
        if (endian != checkpoint_endian || zero != 0 || (h.flags & ~flag_manifest_follows) || h.shards != 1 || h.shard != 0)
            throw unimplemented("its header has marks that this program does not know");
        return h;
    }
};

inline std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += digits;
    }
    return text;
}

inline std::string draw_checkpoint_id() {
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
        to.fixed<std::uint8_t>(0);
        to.fixed(e.offset);
        to.fixed(e.length);
        for (const auto sum : e.sums) to.fixed(sum);
    }
    return to.out;
}

/// Writes a shard without its header's bytes, which come last. `more` is appended behind the index.
template <class More>
shard_header write_shard(output_file& to, const std::string& id, std::vector<named_array>& arrays, std::uint16_t flags, const More& more) {
    std::sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::vector<index_entry> entries;
    std::uint64_t at = 0;
    pad_to(to, at, shard_header_size);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        auto& a = arrays[k];
        if (a.name.size() > checkpoint_name_limit) throw invalid_argument(of_tensor(a.name, "the name is longer than 1 KiB"));
        if (k > 0 && arrays[k - 1].name == a.name) throw invalid_argument(of_tensor(a.name, "the name is taken"));
        const std::string text = a.value.dtype() == dtype::string ? text_bytes(a.value) : std::string();
        const std::string_view bytes = a.value.dtype() == dtype::string ? std::string_view(text) : bytes_of_numbers(a.value);
        pad_to(to, at, aligned(at, bytes.size()));
        auto& e = entries.emplace_back(index_entry{a.name, a.value.type(), at, bytes.size(), {}});
        for (std::size_t i = 0; i < bytes.size(); i += crc_chunk) {
            const auto chunk = bytes.substr(i, crc_chunk);
            e.sums.push_back(detail::crc32c(chunk));
            to.append(chunk);
        }
        at += bytes.size();
        a.value = {}; // a version of a variable is held no longer than needed
    }
    pad_to(to, at, aligned(at, 0));
    const std::string index = index_bytes(entries);
    if (index.size() > index_limit) throw resource_exhausted("a checkpoint's index takes 64 MiB at most");
    to.append(index);
    shard_header h{.flags = flags, .id = id, .index_length = static_cast<std::uint32_t>(index.size()), .index_offset = at,
                   .file_length = at + index.size(), .index_sum = detail::crc32c(index)};
    const std::string last = more(h);
    to.append(last);
    h.file_length += last.size();
    to.write_at(0, h.bytes());
    return h;
}

inline std::string manifest_bytes(const checkpoint_write_options& how, const std::string& id, double time, const std::string& shard_name,
                                  const shard_header& shard) {
    wire_writer payload;
    payload.raw(id);
    payload.fixed(how.step);
    payload.fixed(time);
    payload.text(shard_name);
    payload.fixed(shard.index_offset);
    payload.fixed(shard.index_length);
    payload.fixed(shard.index_sum);
    payload.varint(how.metadata.size());
    for (const auto& [key, value] : how.metadata) {
        payload.text(key);
        payload.text(value);
    }
    if (payload.out.size() + manifest_header_size > manifest_limit) throw invalid_argument("a checkpoint's metadata takes 1 MiB at most");
    wire_writer to;
    to.raw(manifest_magic);
    to.fixed<std::uint32_t>(checkpoint_version);
    to.fixed(static_cast<std::uint32_t>(payload.out.size()));
    to.fixed(detail::crc32c(payload.out, detail::crc32c(to.out)));
    return to.out + payload.out;
}

/// A manifest, and the index of the shard that it commits.
struct read_manifest {
    checkpoint_info info;
    std::string id, shard_name;
    std::uint64_t index_offset = 0;
    std::uint32_t index_length = 0, index_sum = 0;

    explicit read_manifest(std::string_view bytes) {
        wire_reader from(bytes);
        if (from.left() < manifest_header_size || from.raw(manifest_magic.size()) != manifest_magic)
            throw data_loss("its manifest does not begin as one");
        const auto version = from.fixed<std::uint32_t>(), length = from.fixed<std::uint32_t>(), sum = from.fixed<std::uint32_t>();
        if (length != from.left() || detail::crc32c(bytes.substr(manifest_header_size), detail::crc32c(bytes.substr(0, manifest_header_size - 4))) != sum)
            throw data_loss("the checksum of its manifest is wrong");
        if (version != checkpoint_version) throw invalid_argument("its manifest has the version " + std::to_string(version));
        id = from.raw(id_size);
        info.id = hex_of(id);
        info.step = from.fixed<std::int64_t>();
        info.time = from.fixed<double>();
        shard_name = from.text();
        index_offset = from.fixed<std::uint64_t>();
        index_length = from.fixed<std::uint32_t>();
        index_sum = from.fixed<std::uint32_t>();
        for (auto n = from.varint(); n > 0; --n) {
            std::string key(from.text());
            info.metadata[std::move(key)] = from.text();
        }
        if (!from.empty()) throw data_loss("bytes follow its manifest");
    }
};

inline std::vector<index_entry> read_index(std::string_view bytes, std::uint64_t end) {
    std::vector<index_entry> all;
    wire_reader from(bytes);
    std::uint64_t at = shard_header_size;
    while (!from.empty()) {
        index_entry e;
        e.name = from.raw(from.fixed<std::uint16_t>());
        const auto refuse = [&](const std::string& why) { throw data_loss(of_tensor(e.name, why)); };
        if (e.name.size() > checkpoint_name_limit || (!all.empty() && all.back().name >= e.name)) refuse("the names are not sorted, or too long");
        const auto type = from.fixed<std::uint8_t>(), rank = from.fixed<std::uint8_t>();
        if (type == 0 || type >= dtype_count || rank > max_rank) refuse("an unknown dtype or rank");
        e.type.type = static_cast<dtype>(type);
        for (int i = 0; i < rank; ++i) e.type.shape.push(from.fixed<std::int64_t>());
        if (from.fixed<std::uint8_t>() != 0) throw unimplemented(of_tensor(e.name, "it is a slice"));
        e.offset = from.fixed<std::uint64_t>();
        e.length = from.fixed<std::uint64_t>();
        if (e.offset < at || e.offset > end || e.length > end - e.offset || e.offset != aligned(at, e.length)) refuse("its place in the file is wrong");
        const auto count = static_cast<std::uint64_t>(checked_count(e.type.type, e.type.shape, e.length));
        if (e.type.type == dtype::string ? count > e.length / 8 : count * size_of(e.type.type) != e.length)
            refuse(std::to_string(e.length) + " bytes of " + to_string(e.type));
        for (std::uint64_t i = 0; i < e.length; i += crc_chunk) e.sums.push_back(from.fixed<std::uint32_t>());
        at = e.offset + e.length;
        all.push_back(std::move(e));
    }
    if (aligned(at, 0) != end) throw data_loss("bytes follow the last tensor");
    return all;
}

/// Reads bytes of a tensor, a chunk at a time, and checks each.
inline void read_checked(const input_file& file, const index_entry& e, char* to) {
    for (std::uint64_t i = 0, k = 0; i < e.length; i += crc_chunk, ++k) {
        const auto n = static_cast<std::size_t>(std::min(crc_chunk, e.length - i));
        file.read_at(e.offset + i, to + i, n);
        if (detail::crc32c({to + i, n}) != e.sums[k])
            throw data_loss(of_tensor(e.name, "the checksum of its bytes " + std::to_string(i) + " to " + std::to_string(i + n) + " is wrong"));
    }
}

inline any_array read_tensor(const input_file& file, const index_entry& e) {
    if (e.type.type != dtype::string) {
        any_array value(e.type.type, e.type.shape);
        read_checked(file, e, static_cast<char*>(value.mutable_data()));
        return value;
    }
    std::string bytes(static_cast<std::size_t>(e.length), '\0');
    read_checked(file, e, bytes.data());
    any_array value(dtype::string, e.type.shape);
    const auto n = static_cast<std::size_t>(value.size());
    wire_reader lengths(std::string_view(bytes).substr(0, 8 * n)), characters(std::string_view(bytes).substr(8 * n));
    for (std::size_t i = 0; i < n; ++i)
        static_cast<std::string*>(value.mutable_data())[i] = characters.raw(lengths.fixed<std::uint64_t>());
    if (!characters.empty()) throw data_loss(of_tensor(e.name, "characters are left over"));
    return value;
}

inline double seconds_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Calls f and drops its error: for clean-up, where an earlier error is the one to report.
template <class F> void try_to(const F& f) noexcept {
    try {
        f();
    } catch (...) {
    }
}

inline file_system& files_of(const checkpoint_write_options& how) { return how.files ? *how.files : file_system::real(); }

inline void write_all(file_system& files, const std::string& path, std::string_view bytes) {
    const auto to = files.create(path);
    to->append(bytes);
    to->sync();
    to->close();
}

RILL_COLD std::string write_checkpoint(const std::string& prefix, std::vector<named_array> arrays, const checkpoint_write_options& how) {
    auto& files = files_of(how);
    const std::string directory = directory_of(prefix), id = draw_checkpoint_id();
    make_directories(files, directory);
    char step[32];
    std::snprintf(step, sizeof step, "-%010lld-", static_cast<long long>(how.step));
    const std::string name = base_of(prefix) + step + hex_of(id).substr(0, 8);
    const std::string unfinished = joined_path(directory, unfinished_prefix + name), path = joined_path(directory, name);
    const std::string shard_name = "shard-00000-of-00001.dat", shard_path = joined_path(unfinished, shard_name);
    const std::string manifest_path = joined_path(unfinished, manifest_name), manifest_beside = manifest_path + ".tmp";
    bool renamed = false;
    try {
        files.make_directory(unfinished);
        const auto to = files.create(shard_path);
        const auto shard = write_shard(*to, id, arrays, 0, [](const shard_header&) { return std::string(); });
        to->sync();
        to->close();
        write_all(files, manifest_beside, manifest_bytes(how, id, seconds_now(), shard_name, shard));
        files.rename(manifest_beside, manifest_path);
        files.sync_directory(unfinished);
        files.rename(unfinished, path);
        renamed = true;
        files.sync_directory(directory);
    } catch (...) {
        const std::string& there = renamed ? path : unfinished;
        for (const auto& file : {joined_path(there, manifest_name), joined_path(there, std::string(manifest_name) + ".tmp"),
                                 joined_path(there, shard_name), there})
            try_to([&] { files.remove(file); });
        throw;
    }
    try_to([&] { // a hint for people and for programs that list no directories; it may be stale
        replace_file(files, joined_path(directory, "LATEST"), [&](output_file& to) { to.append(name + "\n"); });
    });
    return path;
}

RILL_COLD void write_checkpoint_file(const std::string& path, std::vector<named_array> arrays, const checkpoint_write_options& how) {
    auto& files = files_of(how);
    const std::string id = draw_checkpoint_id();
    make_directories(files, directory_of(path));
    replace_file(files, path, [&](output_file& to) {
        write_shard(to, id, arrays, flag_manifest_follows,
                    [&](const shard_header& h) { return manifest_bytes(how, id, seconds_now(), "", h); });
    });
}

RILL_COLD std::string checkpoint_bytes(std::vector<named_array> arrays, const checkpoint_write_options& how) {
    memory_output to;
    const std::string id = draw_checkpoint_id();
    write_shard(to, id, arrays, flag_manifest_follows, [&](const shard_header& h) { return manifest_bytes(how, id, seconds_now(), "", h); });
    return std::move(to.all);
}

RILL_COLD void remove_checkpoint(const std::string& path, file_system& files) {
    if (const auto manifest = joined_path(path, manifest_name); files.exists(manifest)) {
        files.remove(manifest);
        files.sync_directory(path);
    }
    for (const auto& name : files.list(path)) files.remove(joined_path(path, name));
    files.remove(path);
}

RILL_COLD void remove_unfinished(const std::string& directory, file_system& files) {
    if (!files.exists(directory)) return;
    for (const auto& name : files.list(directory))
        if (name.starts_with(unfinished_prefix)) {
            const auto path = joined_path(directory, name);
            try_to([&] { // a directory, or the file of a single-file checkpoint
                for (const auto& part : files.list(path)) files.remove(joined_path(path, part));
            });
            try_to([&] { files.remove(path); });
        }
}

} // namespace detail

struct checkpoint_reader::state {
    checkpoint_info info;
    std::string path;
    std::unique_ptr<input_file> file;
    std::vector<detail::index_entry> entries;
    std::uint64_t end = 0; // of the arrays

    const detail::index_entry* find(const std::string& name) const {
        const auto at = std::lower_bound(entries.begin(), entries.end(), name, [](const auto& e, const auto& n) { return e.name < n; });
        return at == entries.end() || at->name != name ? nullptr : &*at;
    }
    /// Checks header, index and manifest. `manifest_text` is empty if the manifest is in the file itself.
    void open(std::string manifest_text) {
        if (file->size() < detail::shard_header_size) throw data_loss("it ends within its header");
        std::string header(detail::shard_header_size, '\0');
        file->read_at(0, header.data(), header.size());
        const auto h = detail::shard_header::read(header);
        const bool follows = h.flags & detail::flag_manifest_follows;
        if (h.file_length != file->size())
            throw data_loss("it should be " + std::to_string(h.file_length) + " bytes, and is " + std::to_string(file->size()));
        if (h.index_length > detail::index_limit || h.index_offset > h.file_length || h.index_length > h.file_length - h.index_offset ||
            follows == !manifest_text.empty())
            throw data_loss("its header is inconsistent");
        const std::uint64_t behind = h.index_offset + h.index_length, rest = h.file_length - behind;
        if (follows ? rest > detail::manifest_limit : rest != 0) throw data_loss("bytes follow its index");
        if (follows) {
            manifest_text.resize(static_cast<std::size_t>(rest));
            file->read_at(behind, manifest_text.data(), manifest_text.size());
        }
        const detail::read_manifest m(manifest_text);
        if (m.id != h.id || m.index_offset != h.index_offset || m.index_length != h.index_length || m.index_sum != h.index_sum)
            throw data_loss("manifest and shard belong to different checkpoints");
        std::string index(h.index_length, '\0');
        file->read_at(h.index_offset, index.data(), index.size());
        if (detail::crc32c(index) != h.index_sum) throw data_loss("the checksum of its index is wrong");
        entries = detail::read_index(index, h.index_offset);
        end = h.index_offset;
        info = m.info;
    }
    const detail::index_entry& need(const std::string& name) const {
        if (const auto* e = find(name)) return *e;
        throw not_found("checkpoint '" + path + "' has no tensor '" + name + "'");
    }
};

RILL_COLD checkpoint_reader::checkpoint_reader(const std::string& path, file_system& files) : state_(std::make_unique<state>()) {
    if (path.empty()) throw not_found("checkpoint: the path is empty: there is no checkpoint");
    detail::with_prefix("checkpoint '" + path + "'", [&] {
        auto& s = *state_;
        s.path = path;
        const std::string manifest_path = detail::joined_path(path, detail::manifest_name);
        std::string manifest_text, shard_path = path;
        if (files.exists(manifest_path)) {
            manifest_text = detail::read_whole(files, manifest_path, detail::manifest_limit);
            const detail::read_manifest m(manifest_text);
            if (m.shard_name.empty() || m.shard_name.find('/') != std::string::npos || m.shard_name[0] == '.')
                throw data_loss("its manifest names the file '" + m.shard_name + "'");
            shard_path = detail::joined_path(path, m.shard_name);
        }
        s.file = files.open(shard_path);
        s.open(std::move(manifest_text));
        s.info.path = path;
    });
}

RILL_COLD checkpoint_reader::checkpoint_reader(std::unique_ptr<state> s) : state_(std::move(s)) {}

RILL_COLD checkpoint_reader checkpoint_reader::from_bytes(std::string_view bytes) {
    auto made = std::make_unique<state>();
    made->path = "bytes in memory";
    made->file = std::make_unique<detail::memory_input>(bytes);
    detail::with_prefix("checkpoint in memory", [&] { made->open({}); });
    return checkpoint_reader(std::move(made));
}

RILL_COLD checkpoint_reader::checkpoint_reader(checkpoint_reader&&) noexcept = default;
RILL_COLD checkpoint_reader::~checkpoint_reader() = default;

RILL_COLD const checkpoint_info& checkpoint_reader::info() const noexcept { return state_->info; }

RILL_COLD std::vector<std::pair<std::string, tensor_type>> checkpoint_reader::tensors() const {
    std::vector<std::pair<std::string, tensor_type>> all;
    for (const auto& e : state_->entries) all.emplace_back(e.name, e.type);
    return all;
}

RILL_COLD std::uint64_t checkpoint_reader::bytes(const std::string& name) const { return state_->need(name).length; }

RILL_COLD bool checkpoint_reader::has(const std::string& name) const { return state_->find(name) != nullptr; }

RILL_COLD any_array checkpoint_reader::read(const std::string& name) const {
    const auto& e = state_->need(name);
    return detail::with_prefix("checkpoint '" + state_->path + "'", [&] { return detail::read_tensor(*state_->file, e); });
}

RILL_COLD std::vector<named_array> checkpoint_reader::read_all() const {
    return detail::with_prefix("checkpoint '" + state_->path + "'", [&] {
        std::vector<named_array> all;
        std::uint64_t at = detail::shard_header_size;
        const auto check_zeros = [&](std::uint64_t end) {
            std::string gap(static_cast<std::size_t>(end - at), '\1');
            state_->file->read_at(at, gap.data(), gap.size());
            if (gap.find_first_not_of('\0') != std::string::npos)
                throw data_loss("a byte between the tensors, from " + std::to_string(at) + " on, is not zero");
        };
        for (const auto& e : state_->entries) {
            check_zeros(e.offset);
            all.push_back({e.name, detail::read_tensor(*state_->file, e)});
            at = e.offset + e.length;
        }
        check_zeros(state_->end);
        return all;
    });
}

RILL_COLD std::vector<checkpoint_info> checkpoints_in(const std::string& directory, file_system& files) {
    std::vector<checkpoint_info> all;
    if (!files.exists(directory)) return all;
    for (const auto& name : files.list(directory)) {
        const auto path = detail::joined_path(directory, name);
        // "<base>-<10 digits or more>-<8 digits>"
        const auto id = name.rfind('-'), step = id == std::string::npos || id == 0 ? std::string::npos : name.rfind('-', id - 1);
        if (name[0] == '.' || step == std::string::npos || name.size() - id != 9 || id - step < 11) continue;
        try {
            all.push_back(checkpoint_reader(path, files).info());
        } catch (const error& problem) {
            log_message(log_level::warning, "passed over: " + std::string(problem.what()));
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return std::pair(a.step, a.time) > std::pair(b.step, b.time); });
    return all;
}

RILL_COLD std::string latest_checkpoint(const std::string& directory, file_system& files) {
    const auto all = checkpoints_in(directory, files);
    return all.empty() ? std::string() : all.front().path;
}

}} // namespace rill::RILL_ABI
