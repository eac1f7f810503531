// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/zmq_transport.hpp>

#if RILL_WITH_ZMQ
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <zmq.hpp>

// The conversion of messages to frames of ZeroMQ, and back.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The longest frame, which bounds the memory that an unknown peer makes ZeroMQ allocate. A part of a message is split into frames of this
/// size and a last shorter one.
inline constexpr std::size_t longest_frame = (std::size_t(1) << 20) + 4096;
inline constexpr std::size_t least_lent = 1024; // smaller blocks are copied, which is as fast

/// A block that ZeroMQ's thread releases after it has sent it.
struct lent_block {
    std::shared_ptr<const void> owner;
    std::atomic<bool> lent{false}; // orders the threads for tools that do not instrument ZeroMQ
};
inline void give_back(void*, void* hint) {
    auto* const block = static_cast<lent_block*>(hint);
    (void)block->lent.load(std::memory_order_acquire);
    delete block;
}

inline zmq::message_t frame_of(const message_part& p, std::size_t from, std::size_t size) {
    const char* const at = p.bytes().data() + from;
    if (size < least_lent) return zmq::message_t(static_cast<const void*>(at), size);
    auto block = std::make_unique<lent_block>();
    block->owner = p.owner();
    block->lent.store(true, std::memory_order_release);
    zmq::message_t frame(const_cast<char*>(at), size, give_back, block.get()); // read-only
    (void)block.release();
    return frame;
}

/// Returns the bytes of one frame. They are not copied unless elements of an array would be misaligned.
inline message_part part_of_frame(zmq::message_t&& frame) {
    if (frame.size() < least_lent || reinterpret_cast<std::uintptr_t>(frame.data()) % alignof(double))
        return message_part(std::string(static_cast<const char*>(frame.data()), frame.size()));
    const auto kept = std::make_shared<zmq::message_t>(std::move(frame));
    return {kept->data(), kept->size(), kept};
}

/// Returns the parts of a message, each joined from its frames.
inline message_parts parts_of_frames(std::vector<zmq::message_t>& frames, std::size_t first) {
    message_parts parts;
    for (std::size_t i = first; i < frames.size(); ++i) {
        std::size_t end = i, bytes = 0;
        while (end + 1 < frames.size() && frames[end].size() == longest_frame) bytes += frames[end++].size();
        bytes += frames[end].size();
        if (end == i) {
            parts.push_back(part_of_frame(std::move(frames[i])));
            continue;
        }
        constexpr std::align_val_t alignment{64};
        const std::shared_ptr<char> block(static_cast<char*>(::operator new(bytes, alignment)),
                                          [](char* p) { ::operator delete(p, std::align_val_t{64}); });
        char* to = block.get();
        for (; i <= end; ++i) {
            std::memcpy(to, frames[i].data(), frames[i].size());
            to += frames[i].size();
            frames[i].rebuild();
        }
        i = end;
        parts.emplace_back(block.get(), bytes, block);
    }
    return parts;
}

}}} // namespace rill::RILL_ABI::detail
#endif
