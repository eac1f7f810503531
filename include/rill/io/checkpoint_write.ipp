// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/checkpoint.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/io/shard.hpp>
#include <rill/io/wire.hpp>

// The writer of checkpoints, and their removal.

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::string sharded_filename(const std::string& base, int shard, int shards) {
    char text[40];
    std::snprintf(text, sizeof text, "-%05d-of-%05d", shard, shards);
    return base + text;
}

namespace detail {

/// Calls f and drops its error. For clean-up after an earlier error, which is the one to report.
template <class F> void try_to(const F& f) noexcept {
    try {
        f();
    } catch (...) {}
}

inline file_system& files_of(const checkpoint_write_options& how) {
    return how.files ? *how.files : file_system::real();
}

/// Returns the owner's name in the unfinished file of LATEST. Savers of other prefixes have files of their own.
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

/// Throws invalid_argument if arrays can't be in one checkpoint: two have one name, or one is not a slice of its
/// array.
inline void check_arrays(const std::vector<named_array>& arrays, const checkpoint_write_options& how) {
    if (arrays.size() > entry_limit)
        throw resource_exhausted("a checkpoint has " + std::to_string(entry_limit) + " arrays at most");
    std::vector<index_entry> entries;
    for (const auto& a : arrays) entries.push_back(entry_of(a, how.slices));
    if (const auto* again = find_repeated(entries)) throw invalid_argument(of_tensor(again->name, "the name is taken"));
}

/// Distributes arrays over shards: the largest first, each to the shard with the fewest bytes.
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
    const auto bytes = [](const named_array& a) {
        return static_cast<std::size_t>(a.value.size()) * size_of(a.value.dtype());
    };
    detail::sort(arrays, [&](const auto& a, const auto& b) { return bytes(a) > bytes(b); });
    std::vector<std::size_t> taken(all.size());
    for (auto& a : arrays) {
        const auto least = static_cast<std::size_t>(std::min_element(taken.begin(), taken.end()) - taken.begin());
        taken[least] += bytes(a) + 1; // distributes empty arrays, too
        all[least].push_back(std::move(a));
    }
    return all;
}

RILL_COLD std::string commit_checkpoint(
    const std::string& prefix, std::int64_t number, const std::string& id, bool verify, file_system& files,
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
        if (verify) checkpoint_reader(unfinished, files).check();
        files.rename(unfinished, path);
        renamed = true;
        files.sync_directory(directory);
    } catch (...) {
        const std::string& there = renamed ? path : unfinished;
        const auto remove = [&](const std::string& file) { try_to([&] { files.remove(file); }); };
        for (const auto& file :
             {joined_path(there, manifest_name), joined_path(there, std::string(manifest_name) + ".tmp")})
            remove(file);
        for (const auto& file : names) remove(joined_path(there, file));
        remove(there);
        throw;
    }
    try_to([&] { // a hint for people and for programs that do not list directories; it may be stale
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
    check_arrays(arrays, how);
    auto parts = spread(std::move(arrays), how);
    return commit_checkpoint(prefix, how.step, id, how.verify, files,
                             [&](const std::string& directory, std::vector<std::string>& names) {
                                 std::vector<committed_shard> shards;
                                 for (std::size_t i = 0; i < parts.size(); ++i) {
                                     names.push_back(shard_name(i, parts.size()));
                                     const auto to = files.create(joined_path(directory, names.back()));
                                     const auto h = write_shard(*to, parts[i],
                                                                {.id = id,
                                                                 .shard = static_cast<std::uint16_t>(i),
                                                                 .shards = static_cast<std::uint16_t>(parts.size()),
                                                                 .slices = how.slices});
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
    check_arrays(arrays, how);
    write_shard(to, arrays,
                {.id = id, .flags = flag_manifest_follows, .slices = how.slices, .more = [&](const shard_header& h) {
                     return manifest_bytes(how, id, seconds_now(), {{"", h.index_offset, h.index_length, h.index_sum}});
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

RILL_COLD std::string_view base_of_checkpoint(std::string_view name) {
    constexpr auto none = std::string_view::npos;
    const auto id = name.rfind('-'), step = id == none || id == 0 ? none : name.rfind('-', id - 1);
    if (step == none || name.size() - id != 9 || id - step < 11) return {};
    const auto digits = name.substr(step + 1, id - step - 1);
    if (digits.find_first_not_of("0123456789") != none || name.find_first_not_of("0123456789abcdef", id + 1) != none)
        return {};
    return name.substr(0, step);
}

RILL_COLD void remove_unfinished(const std::string& directory, const std::string& base, file_system& files) {
    if (!files.exists(directory)) return;
    const std::string begin = unfinished_prefix, hint = hint_owner(base) + "-", file = base + "-";
    const auto has_number_after = [](std::string_view name, std::string_view before) {
        return name.starts_with(before) && name.size() > before.size() &&
               name.find_first_not_of("0123456789", before.size()) == std::string_view::npos;
    };
    for (const auto& name : files.list(directory)) {
        const auto path = joined_path(directory, name);
        const bool is_unfinished = name.starts_with(begin);
        const auto of = std::string_view(name).substr(is_unfinished ? begin.size() : 0);
        if (base_of_checkpoint(of) == base && (is_unfinished || !files.exists(joined_path(path, manifest_name))))
            try_to([&] { // the manifest is written last, and removed first
                for (const auto& part : files.list(path)) files.remove(joined_path(path, part));
                files.remove(path);
            });
        else if (is_unfinished && (has_number_after(of, hint) || has_number_after(of, file)))
            try_to([&] { files.remove(path); }); // of the hint, or of a single-file checkpoint
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI
