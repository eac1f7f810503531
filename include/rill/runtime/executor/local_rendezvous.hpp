// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

#include <rill/device/rendezvous.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The rendezvous of a step whose parts all run in this process.
class local_rendezvous final : public rendezvous {
public:
    explicit local_rendezvous(std::size_t edges) : slots_(edges) {}

    RILL_INLINE void send(std::uint32_t edge, any_array value) override;
    RILL_INLINE bool try_receive(std::uint32_t edge, any_array& into) override;
    RILL_INLINE void receive(std::uint32_t edge, completion done) override;
    RILL_INLINE void abort(std::exception_ptr problem) noexcept override;

    /// Returns the bytes that each edge has transferred so far.
    std::vector<std::size_t> bytes() const;

private:
    struct slot {
        std::deque<any_array> values;   // sent, and not received yet
        std::deque<completion> waiting; // receives without a value yet
        std::size_t bytes = 0;
    };
    static constexpr std::size_t shards = 8;

    std::mutex& lock_of(std::uint32_t edge) const { return locks_[edge % shards]; }
    slot& at(std::uint32_t edge);

    mutable std::array<std::mutex, shards> locks_; // each guards the edges of a residue
    std::vector<slot> slots_;
    mutable std::mutex problem_lock_;
    std::exception_ptr problem_; // set by abort
    std::exception_ptr problem() const;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/local_rendezvous.ipp>
#endif
