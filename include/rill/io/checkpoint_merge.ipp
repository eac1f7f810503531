// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/checkpoint.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <rill/io/checkpoint.ipp>
#include <rill/io/shard.hpp>

namespace rill { inline namespace RILL_ABI {

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
    std::vector<detail::index_entry> entries;
    for (const auto& path : paths) {
        const checkpoint_reader from(path, files); // checks the checkpoint
        merged.step = std::max(merged.step, from.info().step);
        merged.metadata.insert(from.info().metadata.begin(), from.info().metadata.end());
        entries.insert(entries.end(), from.state_->entries.begin(), from.state_->entries.end());
        if (const auto* again = detail::find_repeated(entries))
            throw invalid_argument("merge_checkpoints: '" + path +
                                   "': " + detail::of_tensor(again->name, "an earlier checkpoint has it too"));
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
        prefix, merged.step, id, false, files, [&](const std::string& directory, std::vector<std::string>& written) {
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
    if (how.delete_old) {
        checkpoint_reader(made, files); // checks that it is readable before anything is removed
        for (const auto& path : paths) detail::remove_checkpoint(path, files);
    }
    return made;
}

}} // namespace rill::RILL_ABI
