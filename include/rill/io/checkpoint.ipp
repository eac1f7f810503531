// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/checkpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
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

/// Calls f(i, k) for each element of an axis that is element i of one slice and element k of another.
template <class F> void each_shared(const saved_slice& a, const saved_slice& b, const F& f) {
    for (index_t i = 0; i < a.extent; ++i) {
        const index_t from_b = a.start + i * a.step - b.start;
        if (from_b >= 0 && from_b % b.step == 0 && from_b / b.step < b.extent) f(i, from_b / b.step);
    }
}

/// Copies element i along an axis to element k of an array with equal other extents.
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
        std::string name;                 // of its file
        std::unique_ptr<input_file> file; // null: opened for each read, since a process has few descriptors
        std::uint64_t end = 0; // of the arrays
    };
    using entry_range = std::span<const detail::index_entry>;

    checkpoint_info info;
    std::string path;
    file_system* files = nullptr; // of a directory
    std::vector<shard> shards;
    std::vector<detail::index_entry> entries; // of all shards, by name and start

    /// Returns the entries of a name: one of a whole array, or those of its slices; none for an unknown name.
    entry_range find(std::string_view name) const {
        const auto [first, last] = std::equal_range(entries.begin(), entries.end(), name,
                                                    [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
        return {first, last};
    }
    entry_range need(const std::string& name) const {
        const auto found = find(name);
        if (found.empty()) throw not_found("checkpoint '" + path + "' has no tensor '" + name + "'");
        return found;
    }
    /// Returns the file system's path of a shard, for messages.
    std::string shard_path(std::size_t i) const { return shards[i].name.empty() ? path : shards[i].name; }

    /// Returns the header of a file, and checks its lengths against the file.
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
    /// Adds the next shard, whose header was read.
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
    void open_directory(const std::string& directory, const std::string& manifest, file_system& from) {
        files = &from;
        const detail::read_manifest m(manifest);
        for (const auto& s : m.shards) {
            if (s.name.empty() || s.name.find('/') != std::string::npos || s.name[0] == '.')
                throw data_loss("its manifest names the file '" + s.name + "'");
            auto file = from.open(detail::joined_path(directory, s.name));
            detail::with_prefix("'" + s.name + "'", [&] {
                const auto h = header_of(*file);
                if (h.flags & detail::flag_manifest_follows) throw data_loss("it is a checkpoint of its own");
                add(s.name, std::move(file), h, m);
            });
            if (shards.size() > open_limit) shards.back().file = nullptr;
        }
        info = m.info;
        check_entries();
    }
    /// Throws data_loss if two shards have arrays of one name that are not slices of one array.
    void check_entries() {
        if (entries.size() > detail::entry_limit)
            throw data_loss("it has more than " + std::to_string(detail::entry_limit) + " entries");
        if (const auto* again = detail::find_repeated(entries))
            throw data_loss(detail::of_tensor(again->name, "it is there twice, in '" + shard_path(again[-1].shard) +
                                                               "' and '" + shard_path(again->shard) + "'"));
    }

    /// Calls f(file) with the file of a shard.
    template <class F> auto with_file(std::size_t i, const F& f) const {
        if (shards[i].file) return f(*shards[i].file);
        const auto opened = files->open(detail::joined_path(path, shards[i].name));
        return f(*opened);
    }
    any_array read(const detail::index_entry& e) const {
        const auto read_from = [&](const input_file& file) { return detail::read_tensor(file, e); };
        if (shards[e.shard].name.empty()) return with_file(e.shard, read_from);
        return detail::with_prefix("'" + shards[e.shard].name + "'", [&] { return with_file(e.shard, read_from); });
    }
    /// Assembles a part of an array from the slices that hold it, along their axis.
    any_array read_part(entry_range of, const saved_slice& wanted) const {
        const auto& e = of.front();
        const auto refuse = [&](const std::string& why) { throw data_loss(detail::of_tensor(e.name, why)); };
        // Checks the number of elements before memory is allocated.
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
    void check_gaps() const {
        std::vector<std::vector<const detail::index_entry*>> of(shards.size());
        for (const auto& e : entries) of[e.shard].push_back(&e); // the entries of a shard have ascending offsets
        for (std::size_t i = 0; i < of.size(); ++i)
            with_file(i, [&](const input_file& file) {
                std::uint64_t at = detail::shard_header_size;
                const auto check_zeros = [&](std::uint64_t end) {
                    std::string gap(static_cast<std::size_t>(end - at), '\1');
                    file.read_at(at, gap.data(), gap.size());
                    if (gap.find_first_not_of('\0') != std::string::npos)
                        throw data_loss("'" + shard_path(i) + "': a byte between the tensors, from " +
                                        std::to_string(at) + " on, is not zero");
                };
                for (const auto* e : of[i]) {
                    check_zeros(e->offset);
                    at = e->offset + e->length;
                }
                check_zeros(shards[i].end);
            });
    }

private:
    static constexpr std::size_t open_limit = 64;
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
    detail::with_prefix("checkpoint in memory",
                        [&] { made->open_file(std::make_unique<detail::memory_input>(bytes)); });
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

RILL_COLD void checkpoint_reader::check() const {
    detail::with_prefix("checkpoint '" + state_->path + "'", [&] {
        state_->check_gaps();
        for (const auto& e : state_->entries) state_->read(e);
    });
}

RILL_COLD std::vector<named_array> checkpoint_reader::read_all(const std::map<std::string, saved_slice>& slices) const {
    return detail::with_prefix("checkpoint '" + state_->path + "'", [&] {
        state_->check_gaps();
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

RILL_COLD std::vector<checkpoint_info> detail::readable_checkpoints(const std::string& directory, file_system& files,
                                                                    std::string& problems) {
    std::vector<checkpoint_info> all;
    if (!files.exists(directory)) return all;
    for (const auto& name : files.list(directory)) {
        const auto path = detail::joined_path(directory, name);
        if (name[0] == '.' || detail::base_of_checkpoint(name).empty()) continue;
        try {
            all.push_back(checkpoint_reader(path, files).info());
        } catch (const error& problem) {
            log_message(log_level::warning, "passed over: " + std::string(problem.what()));
            problems += (problems.empty() ? "" : "; ") + std::string(problem.what());
        }
    }
    detail::sort(all,
                 [](const auto& a, const auto& b) { return std::pair(a.step, a.time) > std::pair(b.step, b.time); });
    return all;
}

RILL_COLD std::vector<checkpoint_info> checkpoints_in(const std::string& directory, file_system& files) {
    std::string problems;
    return detail::readable_checkpoints(directory, files, problems);
}

RILL_COLD std::string latest_checkpoint(const std::string& directory, file_system& files) {
    const auto all = checkpoints_in(directory, files);
    return all.empty() ? std::string() : all.front().path;
}

}} // namespace rill::RILL_ABI
