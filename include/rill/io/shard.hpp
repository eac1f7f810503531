// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <rill/io/checkpoint.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- format, version 1 -----------------------------------------------------------------------------------------------------
// A shard: header (64 bytes) | arrays, each aligned to 64 bytes (4096 if it has 64 KiB or more), zeros between | index.
// The header: magic 8 | version 2 | endian mark 2 | flags 2 | shard 2 | shards 2 | zero 2 | id 16 | index length 4 | index offset 8 |
// file length 8 | index checksum 4 | checksum of the 60 bytes before 4. It is written last, so that a torn file has no magic.
// An index entry, sorted by name: name | dtype 1 | rank 1 | extents 8 each | slice 1 | offset 8 | length 8 | a checksum for each MiB.
// The byte `slice` is 0 for a whole array. 1: axis 1 | start 8 | extent 8 | step 8 of the part follow; entries of one name have
// ascending starts, and may lie in several shards.
// Text is the length of each element (8 bytes), then all characters.
// A manifest: magic 8 | version 4 | payload length 4 | checksum 4 | payload. Version 1 has one shard, version 2 a number of them.

inline constexpr std::string_view shard_magic{"\x89rillck\n", 8}, manifest_magic{"\x89rillmf\n", 8};
inline constexpr std::uint16_t checkpoint_version = 1, checkpoint_endian = 0x0102;
inline constexpr std::uint16_t flag_manifest_follows = 1; // in the file itself
inline constexpr std::uint64_t shard_header_size = 64, crc_chunk = 1 << 20, index_limit = 64 << 20,
                               manifest_limit = 1 << 20;
inline constexpr std::size_t manifest_header_size = 20, id_size = 16, checkpoint_name_limit = 1024;
inline constexpr const char* manifest_name = "MANIFEST";
inline constexpr const char* unfinished_prefix = ".tmp-";

inline constexpr std::uint32_t sharded_manifest = 2; // the version
inline constexpr std::size_t shard_limit = 4096, entry_limit = 1'000'000;

struct index_entry {
    std::string name;
    tensor_type type; // of the whole array
    std::uint64_t offset = 0, length = 0;
    std::vector<std::uint32_t> sums = {}; // one for each MiB
    bool is_slice = false;
    saved_slice slice = {}; // without name and shape
    std::size_t shard = 0;

    tensor_type own_type() const;
    bool operator<(const index_entry& other) const {
        return std::tie(name, slice.start) < std::tie(other.name, other.slice.start);
    }
};

/// Sorts the entries of a checkpoint. Returns the first invalid one: it has the name of its predecessor but is not a later slice of the
/// same array. Returns null if there is none.
const index_entry* find_repeated(std::vector<index_entry>& entries);
/// Returns the index entry for an array: whole, or a slice of a larger one. Throws invalid_argument if it is not a valid slice.
index_entry entry_of(const named_array& a, const std::map<std::string, saved_slice>& slices);

struct shard_header {
    std::uint16_t flags = 0, shard = 0, shards = 1;
    std::string id;
    std::uint32_t index_length = 0;
    std::uint64_t index_offset = 0, file_length = 0;
    std::uint32_t index_sum = 0, sum = 0;

    /// Returns the 64 bytes, and sets `sum` to their checksum.
    std::string bytes();
    /// Parses a header. Throws data_loss for a wrong checksum, and the errors of other versions.
    static shard_header read(std::string_view bytes);
};

/// A shard that a manifest lists.
struct committed_shard {
    std::string name; // of the file; empty in a single-file checkpoint
    std::uint64_t index_offset = 0;
    std::uint32_t index_length = 0, index_sum = 0;
};

/// The contents of a manifest.
struct read_manifest {
    checkpoint_info info;
    std::string id;
    std::vector<committed_shard> shards;

    explicit read_manifest(std::string_view bytes);
};

/// Returns the name of a shard's file.
std::string shard_name(std::size_t i, std::size_t n);
std::string hex_of(std::string_view bytes);
std::string draw_checkpoint_id();
/// Returns the seconds since 1970.
double seconds_now();

/// The contents of a shard besides its arrays.
struct shard_place {
    std::string id; // of the checkpoint
    std::uint16_t flags = 0, shard = 0, shards = 1;
    const std::map<std::string, saved_slice>& slices;
    /// Returns the bytes after the index; null: none.
    std::function<std::string(const shard_header&)> more = nullptr;
};
/// Writes a shard; its header's bytes come last. Each value is released once it is written.
shard_header write_shard(output_file& to, std::vector<named_array>& arrays, const shard_place& place);
std::string manifest_bytes(const checkpoint_write_options& how, const std::string& id, double time,
                           const std::vector<committed_shard>& shards);
/// Reads an index whose tensors lie before `end`. Throws data_loss, with the tensor, for inconsistent entries.
std::vector<index_entry> read_index(std::string_view bytes, std::uint64_t end);
/// Reads an array, or a slice of one, and checks its checksums. Errors name the array and its bytes in the file.
any_array read_tensor(const input_file& file, const index_entry& e);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/shard.ipp>
#endif
