// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if zlib can be loaded. The first call looks for it. Neither its header nor linking is needed.
bool has_zlib();

/// Decompresses a raw deflate stream (as in zip files) to `size` bytes. Throws unimplemented without zlib. Throws data_loss if the stream
/// is damaged or does not give exactly `size` bytes.
std::string inflated(std::string_view stream, std::uint64_t size);

/// Returns a zlib stream with a header (as in PNG files): compressed if zlib is available, otherwise in stored blocks.
std::string zlib_stream(std::string_view bytes);

/// Returns a gzip stream of one member: compressed if zlib is available, otherwise in stored blocks.
std::string gzip_stream(std::string_view bytes);

/// A decompressor of gzip or zlib streams, with one or more members.
class gzip_reader {
public:
    /// Takes `fill`, which appends the next compressed bytes to an empty text, or none at the end. Throws unimplemented without zlib.
    explicit gzip_reader(std::function<void(std::string&)> fill, bool is_gzip = true); // false: zlib streams
    gzip_reader(const gzip_reader&) = delete;
    ~gzip_reader();

    /// Writes at most `bytes` decompressed bytes and returns their number; 0 at the end. Throws data_loss if the stream is damaged or
    /// truncated.
    std::size_t read(char* to, std::size_t bytes);

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Decompresses a whole gzip or zlib stream. Throws data_loss if it is damaged, truncated or longer than `most` bytes.
std::string decompressed(std::string_view stream, bool is_gzip, std::uint64_t most);

/// Returns the checksum of zip and PNG files. `before` is the checksum of preceding bytes.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/zlib.ipp>
#endif
