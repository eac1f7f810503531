// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/checkpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/crc32c.hpp>
#include <rill/core/log.hpp>
#include <rill/core/memory_space.hpp>
#include <rill/io/shard.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Calls f and drops its error: for clean-up, where an earlier error is the one to report.
template <class F> void try_to(const F& f) noexcept {
    try {
        f();
    } catch (...) {}
}

inline file_system& files_of(const checkpoint_write_options& how) {
    return how.files ? *how.files : file_system::real();
}

/// Returns what the unfinished file LATEST is named after: savers of other prefixes write one of their own.
inline std::string hint_owner(const std::string& base) { return base + "-LATEST"; }

inline void write_all(file_system& files, const std::string& path, std::string_view bytes) {
    const auto to = files.create(path);
    to->append(bytes);
    to->sync();
    to->close();
}

inline std::string id_of(const checkpoint_write_options& how) {
    if (!how.id.empty() && how.id.size() != id_size) throw invalid_argument("a checkpoint's id has 16 bytes");
    return how.id.empty() ? draw_checkpoint_id() : how.id;
}

inline std::string shard_name(std::size_t i, std::size_t n) {
    return sharded_filename("shard", static_cast<int>(i), static_cast<int>(n)) + ".dat";
}

/// Spreads arrays over shards: the largest first, each to the shard that has the fewest bytes.
inline std::vector<std::vector<named_array>> spread(std::vector<named_array>&& arrays,
                                                    const checkpoint_write_options& how) {
    if (how.shards < 1 || static_cast<std::size_t>(how.shards) > shard_limit)
        throw invalid_argument("a checkpoint has 1 to " + std::to_string(shard_limit) + " shards, not " +
                               std::to_string(how.shards));
    std::vector<std::vector<named_array>> all(static_cast<std::size_t>(how.shards));
    if (how.shards == 1) {
        all[0] = std::move(arrays);
        return all;
    }
    std::set<std::string> names;
    for (const auto& a : arrays)
        if (!names.insert(a.name).second) throw invalid_argument(of_tensor(a.name, "the name is taken"));
    const auto bytes = [](const named_array& a) {
        return static_cast<std::size_t>(a.value.size()) * size_of(a.value.dtype());
    };
    std::stable_sort(arrays.begin(), arrays.end(), [&](const auto& a, const auto& b) { return bytes(a) > bytes(b); });
    std::vector<std::size_t> taken(all.size());
    for (auto& a : arrays) {
        const auto least =
            static_cast<std::size_t>(std::min_element(taken.begin(), taken.end()) - taken.begin());
        taken[least] += bytes(a) + 1; // empty arrays are spread too
        all[least].push_back(std::move(a));
    }
    return all;
}

/// Makes a checkpoint's directory: `fill(directory, names)` writes the shards, adds the name of each before it is made, and returns the
/// manifest. After an error nothing is left.
inline std::string
commit_checkpoint(const std::string& prefix, std::int64_t number, const std::string& id, file_system& files,
                  const std::function<std::string(const std::string& directory, std::vector<std::string>& names)>& fill) {
    const std::string directory = directory_of(prefix), base = base_of(prefix);
    make_directories(files, directory);
    char step[32];
    std::snprintf(step, sizeof step, "-%010lld-", static_cast<long long>(number));
    const std::string name = base + step + hex_of(id).substr(0, 8);
    const std::string unfinished = joined_path(directory, unfinished_prefix + name),
                      path = joined_path(directory, name);
    const std::string manifest_path = joined_path(unfinished, manifest_name), manifest_beside = manifest_path + ".tmp";
    bool renamed = false;
    std::vector<std::string> names;
    try {
        files.make_directory(unfinished);
        write_all(files, manifest_beside, fill(unfinished, names));
        files.rename(manifest_beside, manifest_path);
        files.sync_directory(unfinished);
        files.rename(unfinished, path);
        renamed = true;
        files.sync_directory(directory);
    } catch (...) {
        const std::string& there = renamed ? path : unfinished;
        const auto remove = [&](const std::string& file) { try_to([&] { files.remove(file); }); };
        for (const auto& file : {joined_path(there, manifest_name), joined_path(there, std::string(manifest_name) + ".tmp")})
            remove(file);
        for (const auto& file : names) remove(joined_path(there, file));
        remove(there);
        throw;
    }
    try_to([&] { // a hint for people and for programs that list no directories; it may be stale
        replace_file(
            files, joined_path(directory, "LATEST"), [&](output_file& to) { to.append(name + "\n"); },
            hint_owner(base));
    });
    return path;
}

RILL_COLD std::string write_checkpoint(const std::string& prefix, std::vector<named_array> arrays,
                                       const checkpoint_write_options& how) {
    auto& files = files_of(how);
    const std::string id = id_of(how);
    auto parts = spread(std::move(arrays), how);
    return commit_checkpoint(
        prefix, how.step, id, files, [&](const std::string& directory, std::vector<std::string>& names) {
            std::vector<committed_shard> shards;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                names.push_back(shard_name(i, parts.size()));
                const auto to = files.create(joined_path(directory, names.back()));
                const auto h = write_shard(*to, parts[i],
                                           {.id = id,
                                            .shard = static_cast<std::uint16_t>(i),
                                            .shards = static_cast<std::uint16_t>(parts.size()),
                                            .slices = &how.slices});
                to->sync();
                to->close();
                shards.push_back({names.back(), h.index_offset, h.index_length, h.index_sum});
            }
            return manifest_bytes(how, id, seconds_now(), shards);
        });
}

/// Writes a single-file checkpoint.
inline void write_single(output_file& to, std::vector<named_array>& arrays, const checkpoint_write_options& how) {
    const std::string id = id_of(how);
    write_shard(to, arrays,
                {.id = id, .flags = flag_manifest_follows, .slices = &how.slices, .more = [&](const shard_header& h) {
                     return manifest_bytes(how, id, seconds_now(),
                                           {{"", h.index_offset, h.index_length, h.index_sum}});
                 }});
}

RILL_COLD void write_checkpoint_file(const std::string& path, std::vector<named_array> arrays,
                                     const checkpoint_write_options& how) {
    auto& files = files_of(how);
    make_directories(files, directory_of(path));
    replace_file(files, path, [&](output_file& to) { write_single(to, arrays, how); });
}

RILL_COLD std::string checkpoint_bytes(std::vector<named_array> arrays, const checkpoint_write_options& how) {
    memory_output to;
    write_single(to, arrays, how);
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

/// Returns the part of a checkpoint's name before step and id; empty if it is not such a name.
inline std::string_view base_of_checkpoint(std::string_view name) {
    constexpr auto none = std::string_view::npos;
    const auto id = name.rfind('-'), step = id == none || id == 0 ? none : name.rfind('-', id - 1);
    if (step == none || name.size() - id != 9 || id - step < 11) return {};
    const auto digits = name.substr(step + 1, id - step - 1);
    if (digits.find_first_not_of("0123456789") != none || name.find_first_not_of("0123456789abcdef", id + 1) != none)
        return {};
    return name.substr(0, step);
}

RILL_COLD bool is_checkpoint_name(std::string_view name, std::string_view base) {
    return !base.empty() && base_of_checkpoint(name) == base;
}

RILL_COLD void remove_unfinished(const std::string& directory, const std::string& base, file_system& files) {
    if (!files.exists(directory)) return;
    const std::string begin = unfinished_prefix, hint = hint_owner(base) + "-", file = base + "-";
    const auto has_number_after = [](std::string_view name, std::string_view before) {
        return name.starts_with(before) && name.size() > before.size() &&
               name.find_first_not_of("0123456789", before.size()) == std::string_view::npos;
    };
    for (const auto& name : files.list(directory)) {
        if (!name.starts_with(begin)) continue;
        const auto of = std::string_view(name).substr(begin.size());
        const auto path = joined_path(directory, name);
        if (is_checkpoint_name(of, base))
            try_to([&] {
                for (const auto& part : files.list(path)) files.remove(joined_path(path, part));
            });
        else if (!has_number_after(of, hint) && !has_number_after(of, file)) // the hint, or a single-file checkpoint
            continue;
        try_to([&] { files.remove(path); });
    }
}

} // namespace detail

namespace detail {

/// Calls f(i, k) for each element of an axis that is element i of one slice and element k of another.
template <class F> void each_shared(const saved_slice& a, const saved_slice& b, const F& f) {
    for (index_t i = 0; i < a.extent; ++i) {
        const index_t from_b = a.start + i * a.step - b.start;
        if (from_b >= 0 && from_b % b.step == 0 && from_b / b.step < b.extent) f(i, from_b / b.step);
    }
}

/// Copies element i along an axis to element k of an array that is alike along the other axes.
inline void copy_along(int axis, const any_array& from, index_t i, any_array& to, index_t k) {
    const dims& shape = from.shape();
    index_t outer = 1, inner = 1;
    for (int a = 0; a < shape.rank; ++a) (a < axis ? outer : inner) *= a == axis ? 1 : shape[a];
    const auto bytes = static_cast<std::size_t>(inner) * size_of(from.dtype());
    const auto* source = static_cast<const std::byte*>(from.data()) + static_cast<std::size_t>(i) * bytes;
    auto* target = static_cast<std::byte*>(to.mutable_data()) + static_cast<std::size_t>(k) * bytes;
    for (index_t o = 0; o < outer; ++o) {
        copy_elements(from.dtype(), source, target, inner);
        source += static_cast<std::size_t>(shape[axis]) * bytes;
        target += static_cast<std::size_t>(to.shape()[axis]) * bytes;
    }
}

} // namespace detail

struct checkpoint_reader::state {
    struct shard {
        std::string name; // of its file
        std::unique_ptr<input_file> file;
        std::uint64_t end = 0; // of the arrays
    };
    using entry_range = std::span<const detail::index_entry>;

    checkpoint_info info;
    std::string path;
    std::vector<shard> shards;
    std::vector<detail::index_entry> entries; // of all shards, by name and start

    /// Returns the entries of a name: one of a whole array, or its slices; none if there is no such array.
    entry_range find(std::string_view name) const {
        const auto [first, last] = std::equal_range(
            entries.begin(), entries.end(), name, [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
        return {first, last};
    }
    entry_range need(const std::string& name) const {
        const auto found = find(name);
        if (found.empty()) throw not_found("checkpoint '" + path + "' has no tensor '" + name + "'");
        return found;
    }
    /// Returns the file system's path of a shard, for messages.
    std::string shard_path(std::size_t i) const { return shards[i].name.empty() ? path : shards[i].name; }

    /// Returns the header of a file, whose lengths fit it.
    static detail::shard_header header_of(const input_file& file) {
        if (file.size() < detail::shard_header_size) throw data_loss("it ends within its header");
        std::string header(detail::shard_header_size, '\0');
        file.read_at(0, header.data(), header.size());
        auto h = detail::shard_header::read(header);
        if (h.file_length != file.size())
            throw data_loss("it should be " + std::to_string(h.file_length) + " bytes, and is " +
                            std::to_string(file.size()));
        if (h.index_length > detail::index_limit || h.index_offset > h.file_length ||
            h.index_length > h.file_length - h.index_offset)
            throw data_loss("its header is inconsistent");
        const std::uint64_t rest = h.file_length - h.index_offset - h.index_length;
        if (h.flags & detail::flag_manifest_follows ? rest > detail::manifest_limit : rest != 0)
            throw data_loss("bytes follow its index");
        return h;
    }
    /// Takes the next shard, whose header was read.
    void add(const std::string& name, std::unique_ptr<input_file> file, const detail::shard_header& h,
             const detail::read_manifest& m) {
        const auto i = shards.size();
        const auto& committed = m.shards[i];
        if (m.id != h.id || committed.index_offset != h.index_offset || committed.index_length != h.index_length ||
            committed.index_sum != h.index_sum || h.shard != i || h.shards != m.shards.size())
            throw data_loss("manifest and shard belong to different checkpoints");
        std::string index(h.index_length, '\0');
        file->read_at(h.index_offset, index.data(), index.size());
        if (detail::crc32c(index) != h.index_sum) throw data_loss("the checksum of its index is wrong");
        auto more = detail::with_prefix("index from byte " + std::to_string(h.index_offset) + " on",
                                        [&] { return detail::read_index(index, h.index_offset); });
        for (auto& e : more) {
            e.shard = i;
            entries.push_back(std::move(e));
        }
        shards.push_back({name, std::move(file), h.index_offset});
    }
    void open_file(std::unique_ptr<input_file> file) {
        const auto h = header_of(*file);
        if (!(h.flags & detail::flag_manifest_follows)) throw data_loss("it is a shard, and its manifest is missing");
        const std::uint64_t at = h.index_offset + h.index_length;
        std::string text(static_cast<std::size_t>(h.file_length - at), '\0');
        file->read_at(at, text.data(), text.size());
        const detail::read_manifest m(text);
        if (m.shards.size() != 1) throw data_loss("its manifest names several shards");
        add({}, std::move(file), h, m);
        info = m.info;
        check_entries();
    }
    void open_directory(const std::string& directory, const std::string& manifest, file_system& files) {
        const detail::read_manifest m(manifest);
        for (const auto& s : m.shards) {
            if (s.name.empty() || s.name.find('/') != std::string::npos || s.name[0] == '.')
                throw data_loss("its manifest names the file '" + s.name + "'");
            auto file = files.open(detail::joined_path(directory, s.name));
            detail::with_prefix("'" + s.name + "'", [&] {
                const auto h = header_of(*file);
                if (h.flags & detail::flag_manifest_follows) throw data_loss("it is a checkpoint of its own");
                add(s.name, std::move(file), h, m);
            });
        }
        info = m.info;
        check_entries();
    }
    /// Throws data_loss if two shards have an array of one name which are not slices of the same.
    void check_entries() {
        std::sort(entries.begin(), entries.end());
        for (std::size_t i = 1; i < entries.size(); ++i) {
            const auto &a = entries[i - 1], &b = entries[i];
            if (a.name == b.name && !(a.is_slice && b.is_slice && a.type == b.type && a.slice.axis == b.slice.axis &&
                                      a.slice.start < b.slice.start))
                throw data_loss(detail::of_tensor(b.name, "it is there twice, in '" + shard_path(a.shard) + "' and '" +
                                                              shard_path(b.shard) + "'"));
        }
    }

    any_array read(const detail::index_entry& e) const {
        if (shards[e.shard].name.empty()) return detail::read_tensor(*shards[e.shard].file, e);
        return detail::with_prefix("'" + shards[e.shard].name + "'",
                                   [&] { return detail::read_tensor(*shards[e.shard].file, e); });
    }
    /// Puts a part of an array together from the slices that hold it, along their axis.
    any_array read_part(entry_range of, const saved_slice& wanted) const {
        const auto& e = of.front();
        const auto refuse = [&](const std::string& why) { throw data_loss(detail::of_tensor(e.name, why)); };
        // The slices have as many elements as are wanted, or nothing is allocated.
        index_t there = 0;
        for (const auto& part : of) detail::each_shared(part.slice, wanted, [&](index_t, index_t) { ++there; });
        if (there != wanted.extent)
            refuse("its slices hold " + std::to_string(there) + " of " + std::to_string(wanted.extent) +
                   " elements along axis " + std::to_string(wanted.axis));
        any_array whole(e.type.type, wanted.own_shape());
        std::vector<bool> seen(static_cast<std::size_t>(wanted.extent));
        for (const auto& part : of) {
            bool is_needed = false;
            detail::each_shared(part.slice, wanted, [&](index_t, index_t) { is_needed = true; });
            if (!is_needed) continue;
            const any_array from = read(part);
            detail::each_shared(part.slice, wanted, [&](index_t i, index_t to) {
                if (seen[static_cast<std::size_t>(to)])
                    refuse("two slices hold element " + std::to_string(wanted.start + to * wanted.step) +
                           " along axis " + std::to_string(wanted.axis));
                seen[static_cast<std::size_t>(to)] = true;
                detail::copy_along(wanted.axis, from, i, whole, to);
            });
        }
        return whole;
    }
    static saved_slice all_of(const detail::index_entry& e) {
        return {e.name, e.type.shape, e.slice.axis, 0, e.type.shape[e.slice.axis], 1};
    }
    any_array read(entry_range of) const {
        return of.front().is_slice ? read_part(of, all_of(of.front())) : read(of.front());
    }
    any_array read(entry_range of, const saved_slice& part) const {
        const auto& e = of.front();
        if (part.axis < 0 || part.axis >= part.shape.rank || e.type.shape != part.shape || part.start < 0 ||
            part.extent < 1 || part.step < 1 || part.start >= part.shape[part.axis] ||
            part.extent - 1 > (part.shape[part.axis] - 1 - part.start) / part.step)
            throw invalid_argument(detail::of_tensor(
                e.name, "a slice of " + std::to_string(part.extent) + " from " + std::to_string(part.start) +
                            " on along axis " + std::to_string(part.axis) + " of " + to_string(part.shape) +
                            " is asked for, it is " + to_string(e.type)));
        if (e.is_slice && e.slice.axis == part.axis) return read_part(of, part);
        const any_array whole = read(of);
        any_array cut(e.type.type, part.own_shape());
        for (index_t i = 0; i < part.extent; ++i)
            detail::copy_along(part.axis, whole, part.start + i * part.step, cut, i);
        return cut;
    }
    /// Throws data_loss if a byte between the arrays of a shard is not zero.
    void check_gaps(std::size_t i) const {
        std::uint64_t at = detail::shard_header_size;
        const auto check_zeros = [&](std::uint64_t end) {
            std::string gap(static_cast<std::size_t>(end - at), '\1');
            shards[i].file->read_at(at, gap.data(), gap.size());
            if (gap.find_first_not_of('\0') != std::string::npos)
                throw data_loss("'" + shard_path(i) + "': a byte between the tensors, from " + std::to_string(at) +
                                " on, is not zero");
        };
        for (const auto& e : entries) // the order of names is that of offsets
            if (e.shard == i) {
                check_zeros(e.offset);
                at = e.offset + e.length;
            }
        check_zeros(shards[i].end);
    }

private:
    static std::string_view key_of(const detail::index_entry& e) { return e.name; }
    static std::string_view key_of(std::string_view name) { return name; }
};

RILL_COLD checkpoint_reader::checkpoint_reader(const std::string& path, file_system& files)
    : state_(std::make_unique<state>()) {
    if (path.empty()) throw not_found("checkpoint: the path is empty: there is no checkpoint");
    detail::with_prefix("checkpoint '" + path + "'", [&] {
        auto& s = *state_;
        s.path = path;
        const std::string manifest_path = detail::joined_path(path, detail::manifest_name);
        if (files.exists(manifest_path))
            s.open_directory(path, detail::read_whole(files, manifest_path, detail::manifest_limit), files);
        else
            s.open_file(files.open(path));
        s.info.path = path;
    });
}

RILL_COLD checkpoint_reader::checkpoint_reader(std::unique_ptr<state> s) : state_(std::move(s)) {}

RILL_COLD checkpoint_reader checkpoint_reader::from_bytes(std::string_view bytes) {
    auto made = std::make_unique<state>();
    made->path = "bytes in memory";
    detail::with_prefix("checkpoint in memory", [&] { made->open_file(std::make_unique<detail::memory_input>(bytes)); });
    return checkpoint_reader(std::move(made));
}

RILL_COLD checkpoint_reader::checkpoint_reader(checkpoint_reader&&) noexcept = default;
RILL_COLD checkpoint_reader::~checkpoint_reader() = default;

RILL_COLD const checkpoint_info& checkpoint_reader::info() const noexcept { return state_->info; }

RILL_COLD std::vector<std::pair<std::string, tensor_type>> checkpoint_reader::tensors() const {
    std::vector<std::pair<std::string, tensor_type>> all;
    for (const auto& e : state_->entries)
        if (all.empty() || all.back().first != e.name) all.emplace_back(e.name, e.type);
    return all;
}

RILL_COLD std::uint64_t checkpoint_reader::bytes(const std::string& name) const {
    std::uint64_t sum = 0;
    for (const auto& e : state_->need(name)) sum += e.length;
    return sum;
}

RILL_COLD bool checkpoint_reader::has(const std::string& name) const { return !state_->find(name).empty(); }

RILL_COLD any_array checkpoint_reader::read(const std::string& name) const {
    const auto found = state_->need(name);
    return detail::with_prefix("checkpoint '" + state_->path + "'", [&] { return state_->read(found); });
}

RILL_COLD any_array checkpoint_reader::read_slice(const saved_slice& part) const {
    const auto found = state_->need(part.of);
    return detail::with_prefix("checkpoint '" + state_->path + "'", [&] { return state_->read(found, part); });
}

RILL_COLD std::vector<named_array> checkpoint_reader::read_all(const std::map<std::string, saved_slice>& slices) const {
    return detail::with_prefix("checkpoint '" + state_->path + "'", [&] {
        for (std::size_t i = 0; i < state_->shards.size(); ++i) state_->check_gaps(i);
        std::multimap<std::string, std::string> parts_of;
        for (const auto& [name, part] : slices) parts_of.emplace(part.of, name);
        std::vector<named_array> all;
        for (const auto& [name, type] : tensors()) {
            const auto found = state_->find(name);
            const auto [first, last] = parts_of.equal_range(name);
            const bool fits = first != last && slices.at(first->second).shape == type.shape;
            if (!fits) all.push_back({name, state_->read(found)});
            for (auto part = first; fits && part != last; ++part)
                all.push_back({part->second, state_->read(found, slices.at(part->second))});
        }
        return all;
    });
}

RILL_COLD std::string sharded_filename(const std::string& base, int shard, int shards) {
    char text[40];
    std::snprintf(text, sizeof text, "-%05d-of-%05d", shard, shards);
    return base + text;
}

namespace detail {

/// Copies a shard, with another header.
inline void copy_shard(const input_file& from, output_file& to, shard_header h) {
    to.append(std::string(shard_header_size, '\0')); // the header is written last
    std::string block;
    for (std::uint64_t at = shard_header_size; at < h.file_length; at += block.size()) {
        block.resize(static_cast<std::size_t>(std::min(crc_chunk, h.file_length - at)));
        from.read_at(at, block.data(), block.size());
        to.append(block);
    }
    to.write_at(0, h.bytes());
}

} // namespace detail

RILL_COLD std::string merge_checkpoints(const std::vector<std::string>& paths, const std::string& prefix,
                                        const merge_options& how) {
    if (paths.empty()) throw invalid_argument("merge_checkpoints: no checkpoints were given");
    auto& files = how.files ? *how.files : file_system::real();
    checkpoint_write_options merged{.step = std::numeric_limits<std::int64_t>::min()};
    std::vector<std::string> shards; // their paths
    std::set<std::pair<std::string, index_t>> names;
    for (const auto& path : paths) {
        const checkpoint_reader from(path, files); // which checks it
        merged.step = std::max(merged.step, from.info().step);
        merged.metadata.insert(from.info().metadata.begin(), from.info().metadata.end());
        for (const auto& e : from.state_->entries)
            if (!names.insert({e.name, e.is_slice ? e.slice.start : -1}).second)
                throw invalid_argument("merge_checkpoints: '" + path + "': " +
                                       detail::of_tensor(e.name, "an earlier checkpoint has it too"));
        for (const auto& s : from.state_->shards) {
            if (s.name.empty())
                throw invalid_argument("merge_checkpoints: '" + path + "' is a single file; directories are merged");
            shards.push_back(detail::joined_path(path, s.name));
        }
    }
    if (shards.size() > detail::shard_limit)
        throw invalid_argument("merge_checkpoints: there are " + std::to_string(shards.size()) + " shards, more than " +
                               std::to_string(detail::shard_limit));
    const std::string id = detail::draw_checkpoint_id();
    const auto made = detail::commit_checkpoint(
        prefix, merged.step, id, files, [&](const std::string& directory, std::vector<std::string>& written) {
            std::vector<detail::committed_shard> all;
            for (std::size_t i = 0; i < shards.size(); ++i) {
                written.push_back(detail::shard_name(i, shards.size()));
                const auto from = files.open(shards[i]);
                const auto to = files.create(detail::joined_path(directory, written.back()));
                auto h = checkpoint_reader::state::header_of(*from);
                h.id = id;
                h.shard = static_cast<std::uint16_t>(i);
                h.shards = static_cast<std::uint16_t>(shards.size());
                detail::copy_shard(*from, *to, h);
                to->sync();
                to->close();
                all.push_back({written.back(), h.index_offset, h.index_length, h.index_sum});
            }
            return detail::manifest_bytes(merged, id, detail::seconds_now(), all);
        });
    if (how.delete_old)
        for (const auto& path : paths) detail::remove_checkpoint(path, files);
    return made;
}

RILL_COLD std::vector<checkpoint_info> checkpoints_in(const std::string& directory, file_system& files) {
    std::vector<checkpoint_info> all;
    if (!files.exists(directory)) return all;
    for (const auto& name : files.list(directory)) {
        const auto path = detail::joined_path(directory, name);
        if (name[0] == '.' || detail::base_of_checkpoint(name).empty()) continue;
        try {
            all.push_back(checkpoint_reader(path, files).info());
        } catch (const error& problem) {
            log_message(log_level::warning, "passed over: " + std::string(problem.what()));
        }
    }
    detail::sort(all,
                 [](const auto& a, const auto& b) { return std::pair(a.step, a.time) > std::pair(b.step, b.time); });
    return all;
}

RILL_COLD std::string latest_checkpoint(const std::string& directory, file_system& files) {
    const auto all = checkpoints_in(directory, files);
    return all.empty() ? std::string() : all.front().path;
}

}} // namespace rill::RILL_ABI
