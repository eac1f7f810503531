// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <rill/distributed/transport.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A table of one caller's requests, so that each runs once: the running ones, and the answers of the others. An answer is kept until the
/// caller acknowledges it. Not thread-safe.
class answer_table {
public:
    static constexpr std::size_t most = 1024; // running requests and kept answers

    enum class state {
        fresh,   // not seen before: now noted as running
        running, // running
        done,    // its answer is kept
        over,    // the caller has the answer
        full     // too many requests are open
    };
    /// Notes a request, and returns its state before the call.
    state begin(std::uint64_t request);
    /// Keeps the answer of a running request.
    void record(std::uint64_t request, message_parts answer);
    /// Returns the kept answer of a request; null if there is none.
    const message_parts* find(std::uint64_t request) const;
    /// Drops an answer that the caller has received.
    void acknowledge(std::uint64_t request);
    /// Drops all answers below a number.
    void acknowledge_below(std::uint64_t request);

    std::size_t running() const { return running_; }
    std::size_t size() const { return open_.size(); }

private:
    bool is_over(std::uint64_t request) const;

    struct entry {
        bool is_done = false;
        message_parts answer;
    };
    std::map<std::uint64_t, entry> open_;
    std::map<std::uint64_t, std::uint64_t> ended_; // first and last of ranges of ended requests, above below_
    std::uint64_t below_ = 1;
    std::size_t running_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/answers.ipp>
#endif
