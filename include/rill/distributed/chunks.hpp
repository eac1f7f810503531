// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/distributed/transport.hpp>

// A payload of more than 1 MiB follows its message in chunks, which the receiver requests. So control messages and small values
// overtake it, and the receiver bounds the bytes under way.

namespace rill { inline namespace RILL_ABI { namespace detail {

inline constexpr std::size_t chunk_bytes = std::size_t(1) << 20;  // the maximal size of a chunk
inline constexpr std::size_t chunk_window = std::size_t(4) << 20; // the maximum under way to a peer

/// The payloads that are under way to a peer. Shorter ones go first. Not thread-safe.
class chunk_sender {
public:
    struct chunk {
        std::uint64_t request = 0, offset = 0;
        message_part bytes;
    };
    /// Adds the payload of a request or answer. It is sent only when its receiver asks.
    void add(std::uint64_t request, std::vector<message_part> payload);
    /// Notes that the receiver has the bytes before `offset` and accepts `credit` more. `again`: the bytes after the offset are lost.
    void on_pull(std::uint64_t request, std::uint64_t offset, std::uint64_t credit, bool again);
    void erase(std::uint64_t request);
    void erase_below(std::uint64_t request);
    /// Forgets the bytes under way, for use after a reconnection.
    void forget_sent();
    /// Returns the chunk to send now. Returns nothing if no receiver accepts more, or if the window is full.
    std::optional<chunk> next();

private:
    struct stream {
        std::vector<message_part> payload;
        std::uint64_t total = 0, received = 0, next = 0, limit = 0;
    };
    using streams = std::map<std::uint64_t, stream>;
    void erase(streams::iterator at);
    void note(std::uint64_t request, const stream& s);

    streams all_;                                             // by request
    std::set<std::pair<std::uint64_t, std::uint64_t>> ready_; // size and request of the payloads that may send
    std::uint64_t under_way_ = 0;
};

/// A payload that arrives in chunks. Memory grows with the received bytes. Not thread-safe.
class chunk_receiver {
public:
    explicit chunk_receiver(std::vector<std::uint64_t> sizes);
    /// Appends a chunk. Returns false if it is not the next one.
    bool take(std::uint64_t offset, std::string_view bytes);
    std::uint64_t received() const noexcept { return received_; }
    bool is_complete() const noexcept { return received_ == total_; }
    std::vector<message_part> parts();

private:
    std::vector<std::uint64_t> sizes_;
    std::vector<std::string> parts_;
    std::uint64_t received_ = 0, total_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/chunks.ipp>
#endif
