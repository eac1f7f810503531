// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/cancellation.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of the node that creates a clock.
struct staleness_traits {
    index_t bound = 0, workers = 1; // maximum lead over the slowest worker, in steps

    /// Throws invalid_argument unless `bound` is at least 0 and `workers` at least 1.
    void check() const;
};

/// The clocks of asynchronous training workers. A worker more than `bound` steps ahead of the slowest one waits for it.
class RILL_EXPORT staleness_state final : public waited_resource {
public:
    static constexpr auto kind = "staleness_clock";

    staleness_state(std::string name, const staleness_traits& traits)
        : waited_resource(std::move(name), static_cast<std::size_t>(traits.workers)), traits_(traits),
          workers_(static_cast<std::size_t>(traits.workers)) {}

    static std::string described_as(const staleness_traits& t) {
        return std::string(kind) + " of " + std::to_string(t.workers) + " workers, bound " + std::to_string(t.bound);
    }
    std::string described() const override { return described_as(traits_); }

    /// Counts a step of a worker, and waits while it is too far ahead. Returns true if done at once; otherwise it completes `wait` later. A
    /// worker without a number (below 0) is identified by its session; another session may take its place after that session has ended.
    /// Throws invalid_argument for an invalid worker number, failed_precondition if there are too many workers.
    bool advance(index_t number, const std::shared_ptr<cancellation>& session, async_context& wait);
    /// Marks a worker as finished: no worker waits for it until it counts another step. Returns the number of workers that are left.
    std::int64_t leave(index_t number, const std::shared_ptr<cancellation>& session);

private:
    struct worker {
        std::int64_t clock = 0;
        bool has_left = false;
        std::weak_ptr<cancellation> session = {}; // session of an unnumbered worker
    };

    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    std::size_t worker_of(index_t number, const std::shared_ptr<cancellation>& session);
    std::int64_t slowest() const;

    const staleness_traits traits_;
    std::vector<worker> workers_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <limits>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void staleness_traits::check() const {
    constexpr index_t most = 1 << 20; // each worker has a line
    if (bound < 0 || workers < 1 || workers > most)
        throw invalid_argument("the bound is " + std::to_string(bound) + " steps and there are " +
                               std::to_string(workers) +
                               " workers; bound >= 0 and 1 to 1048576 workers are required");
}

RILL_INLINE std::size_t staleness_state::worker_of(index_t number, const std::shared_ptr<cancellation>& session) {
    if (number >= traits_.workers)
        throw invalid_argument(named() + ": the worker is " + std::to_string(number) + "; there are " +
                               std::to_string(traits_.workers) + ", numbered from 0");
    if (number >= 0) return static_cast<std::size_t>(number);
    std::size_t free = workers_.size();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        const auto of = workers_[i].session.lock();
        if (of == session) return i;
        if (free == workers_.size() && (!of || of->is_cancelled())) free = i;
    }
    if (free == workers_.size())
        throw failed_precondition(named() + ": there are " + std::to_string(traits_.workers) +
                                  " workers already, each in a session of its own");
    workers_[free].session = session;
    return free;
}

RILL_INLINE std::int64_t staleness_state::slowest() const {
    auto least = std::numeric_limits<std::int64_t>::max();
    for (const auto& w : workers_)
        if (!w.has_left) least = std::min(least, w.clock);
    return least;
}

RILL_INLINE bool staleness_state::advance(index_t number, const std::shared_ptr<cancellation>& session,
                                          async_context& wait) {
    attempt now;
    change([&] {
        now.line = worker_of(number, session);
        auto& w = workers_[now.line];
        w.has_left = false;
        ++w.clock;
    });
    return start(std::move(now), wait);
}

RILL_INLINE bool staleness_state::serve(attempt& a) { return workers_[a.line].clock - slowest() <= traits_.bound; }

RILL_INLINE std::int64_t staleness_state::leave(index_t number, const std::shared_ptr<cancellation>& session) {
    std::int64_t remaining = 0;
    change([&] {
        workers_[worker_of(number, session)].has_left = true;
        remaining = std::count_if(workers_.begin(), workers_.end(), [](const worker& w) { return !w.has_left; });
    });
    return remaining;
}

}}} // namespace rill::RILL_ABI::detail
#endif
