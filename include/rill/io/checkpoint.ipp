// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/checkpoint.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/crc32c.hpp>
#include <rill/core/log.hpp>
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

RILL_COLD std::string write_checkpoint(const std::string& prefix, std::vector<named_array> arrays,
                                       const checkpoint_write_options& how) {
    auto& files = files_of(how);
    const std::string directory = directory_of(prefix), id = draw_checkpoint_id();
    make_directories(files, directory);
    char step[32];
    std::snprintf(step, sizeof step, "-%010lld-", static_cast<long long>(how.step));
    const std::string name = base_of(prefix) + step + hex_of(id).substr(0, 8);
    const std::string unfinished = joined_path(directory, unfinished_prefix + name),
                      path = joined_path(directory, name);
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
        for (const auto& file :
             {joined_path(there, manifest_name), joined_path(there, std::string(manifest_name) + ".tmp"),
              joined_path(there, shard_name), there})
            try_to([&] { files.remove(file); });
        throw;
    }
    try_to([&] { // a hint for people and for programs that list no directories; it may be stale
        replace_file(
            files, joined_path(directory, "LATEST"), [&](output_file& to) { to.append(name + "\n"); },
            hint_owner(base_of(prefix)));
    });
    return path;
}

RILL_COLD void write_checkpoint_file(const std::string& path, std::vector<named_array> arrays,
                                     const checkpoint_write_options& how) {
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
    write_shard(to, id, arrays, flag_manifest_follows,
                [&](const shard_header& h) { return manifest_bytes(how, id, seconds_now(), "", h); });
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

struct checkpoint_reader::state {
    checkpoint_info info;
    std::string path;
    std::unique_ptr<input_file> file;
    std::vector<detail::index_entry> entries;
    std::uint64_t end = 0; // of the arrays

    const detail::index_entry* find(const std::string& name) const {
        const auto at = std::lower_bound(entries.begin(), entries.end(), name,
                                         [](const auto& e, const auto& n) { return e.name < n; });
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
            throw data_loss("it should be " + std::to_string(h.file_length) + " bytes, and is " +
                            std::to_string(file->size()));
        if (h.index_length > detail::index_limit || h.index_offset > h.file_length ||
            h.index_length > h.file_length - h.index_offset || follows == !manifest_text.empty())
            throw data_loss("its header is inconsistent");
        const std::uint64_t behind = h.index_offset + h.index_length, rest = h.file_length - behind;
        if (follows ? rest > detail::manifest_limit : rest != 0) throw data_loss("bytes follow its index");
        if (follows) {
            manifest_text.resize(static_cast<std::size_t>(rest));
            file->read_at(behind, manifest_text.data(), manifest_text.size());
        }
        const detail::read_manifest m(manifest_text);
        if (m.id != h.id || m.index_offset != h.index_offset || m.index_length != h.index_length ||
            m.index_sum != h.index_sum)
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

RILL_COLD checkpoint_reader::checkpoint_reader(const std::string& path, file_system& files)
    : state_(std::make_unique<state>()) {
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
    return detail::with_prefix("checkpoint '" + state_->path + "'",
                               [&] { return detail::read_tensor(*state_->file, e); });
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
