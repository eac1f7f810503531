// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/shape_rules.hpp>
#include <rill/resources/collective_call.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class rank_exchanges;

/// A collective exchange of values between ranks. Each rank contributes a value and waits for those of all other ranks. All ranks then get
/// the same result, and the next exchange begins. A rank whose step fails while it waits has contributed nothing. The ranks are steps that
/// reach this resource, or the ranks of a plug-in's job.
class RILL_EXPORT collective_state final : public waited_resource {
public:
    static constexpr auto kind = "collective";

    /// Makes an exchange. `engine`: the plug-in that transfers the values; empty: none.
    collective_state(std::string name, index_t ranks, const std::string& engine = {});
    /// Makes an exchange by a job, unless `job` is null.
    collective_state(std::string name, index_t ranks, const std::shared_ptr<rank_exchanges>& job, std::string engine);

    /// Throws invalid_argument unless there are 1 to 65536 ranks.
    static void check(index_t ranks);
    static std::string described_as(index_t ranks, const std::string& engine = {}) {
        return std::string(kind) + " of " + std::to_string(ranks) + " ranks" +
               (engine.empty() ? "" : " by '" + engine + "'");
    }
    std::string described() const override { return described_as(static_cast<index_t>(values_.size()), engine_); }

    /// Contributes the value of a rank, which must own its elements. Returns true for the last rank, with the result in `out`; otherwise
    /// completes `wait` later. An older waiting run of the same rank ends with `aborted`. Throws invalid_argument for an invalid rank. If
    /// two ranks request different exchanges, all ranks of the exchange fail with an invalid_argument that names both.
    bool exchange(index_t rank, any_array value, collective_call asked, async_context& wait, any_array* out);

private:
    struct call : attempt {
        std::int64_t number = 0; // number of the exchange
    };
    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    RILL_INLINE void undo(attempt& a) override;
    attempt_ptr kept(attempt& a) override { return std::make_shared<call>(static_cast<call&&>(a)); }
    std::exception_ptr problem_of(const any_array& value, const collective_call& asked, std::size_t rank) const;
    std::string awaited() const;
    bool exchange_by_job(index_t rank, any_array value, collective_call asked, async_context& wait);

    const std::string engine_;
    const bool is_by_job_;
    const std::weak_ptr<rank_exchanges> job_;
    std::int64_t number_ = 0;            // number of the current exchange
    std::vector<any_array> values_;        // by rank; empty: not contributed yet
    std::vector<collective_call> calls_;   // by rank: the requests of the contributed values
    std::vector<std::exception_ptr> owed_; // by rank: the error of an exchange that failed before its turn
    std::size_t given_ = 0, left_ = 0;
    any_array result_; // the result of the previous exchange, until all ranks have it
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <mutex>

#include <rill/resources/rank_exchanges.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD collective_state::collective_state(std::string name, index_t ranks, const std::string& engine)
    : collective_state(std::move(name), ranks, engine.empty() ? nullptr : rank_exchanges::of_plugin(engine), engine) {}

RILL_COLD collective_state::collective_state(std::string name, index_t ranks,
                                             const std::shared_ptr<rank_exchanges>& job, std::string engine)
    : waited_resource(std::move(name), static_cast<std::size_t>(ranks)), engine_(std::move(engine)), is_by_job_(job),
      job_(job), values_(static_cast<std::size_t>(ranks)), calls_(values_.size()), owed_(values_.size()) {}

RILL_COLD void collective_state::check(index_t ranks) {
    constexpr index_t most = 1 << 16;
    if (ranks < 1 || ranks > most)
        throw invalid_argument("a collective has 1 to 65536 ranks, not " + std::to_string(ranks));
}

/// Returns the error of a value that is incompatible with other ranks' values; null if it is compatible.
RILL_COLD std::exception_ptr collective_state::problem_of(const any_array& value, const collective_call& asked,
                                                          std::size_t rank) const {
    for (std::size_t r = 0; r < values_.size(); ++r) {
        if (values_[r].empty() || r == rank) continue;
        const auto why = disagreement(static_cast<index_t>(rank), asked, value.type(), static_cast<index_t>(r),
                                      calls_[r], values_[r].type());
        return why.empty() ? nullptr : std::make_exception_ptr(invalid_argument(named() + ": " + why));
    }
    return nullptr;
}

RILL_INLINE bool collective_state::exchange(index_t rank, any_array value, collective_call asked, async_context& wait,
                                            any_array* out) {
    if (rank < 0 || rank >= static_cast<index_t>(values_.size()))
        throw invalid_argument(named() + ": the rank is " + std::to_string(rank) + "; there are " +
                               std::to_string(values_.size()) + ", numbered from 0");
    check_root(asked, static_cast<index_t>(values_.size()));
    if (is_by_job_) return exchange_by_job(rank, std::move(value), std::move(asked), wait);
    call now;
    now.line = static_cast<std::size_t>(rank);
    std::exception_ptr problem;
    change([&] {
        const auto disagrees = problem_of(value, asked, now.line);
        refuse_waiting([&](const attempt& a) { return a.line == now.line; },
                       std::make_exception_ptr(aborted(named() + ": a later run is rank " + std::to_string(rank) +
                                                       ", too; each rank needs a number of its own")));
        problem = std::exchange(owed_[now.line], nullptr);
        if (problem) return;
        problem = disagrees;
        if (problem) {
            for (std::size_t r = 0; r < values_.size(); ++r)
                if (r != now.line && values_[r].empty()) owed_[r] = problem;
            refuse_waiting([&](const attempt& a) { return static_cast<const call&>(a).number == number_; }, problem);
            return;
        }
        now.number = number_;
        values_[now.line] = std::move(value);
        calls_[now.line] = std::move(asked);
        ++given_;
    });
    if (problem) std::rethrow_exception(problem);
    wait.describe([weak = weak_from_this()] {
        const auto self = std::static_pointer_cast<collective_state>(weak.lock());
        return self ? self->awaited() : std::string();
    });
    return start(std::move(now), wait, out);
}

RILL_COLD std::string collective_state::awaited() const {
    const std::lock_guard lock(mutex_);
    std::string missing;
    for (std::size_t r = 0; r < values_.size(); ++r)
        if (values_[r].empty()) missing += (missing.empty() ? "no value yet of rank " : ", ") + std::to_string(r);
    return missing;
}

RILL_INLINE bool collective_state::serve(attempt& a) {
    auto& c = static_cast<call&>(a);
    if (c.number == number_) {
        if (given_ < values_.size()) return false;
        result_ = calls_[0].join(values_);
        for (auto& v : values_) v = {};
        left_ = values_.size();
        given_ = 0;
        ++number_;
    }
    a.outputs.push_back(result_);
    if (--left_ == 0) result_ = {};
    return true;
}

RILL_COLD void collective_state::undo(attempt& a) {
    if (static_cast<call&>(a).number != number_ || values_[a.line].empty()) return;
    values_[a.line] = {};
    --given_;
}

RILL_COLD bool collective_state::exchange_by_job(index_t rank, any_array value, collective_call asked,
                                                 async_context& wait) {
    struct ending {
        std::mutex mutex;
        bool is_over = false;
        bool ends() {
            const std::lock_guard lock(mutex);
            return !std::exchange(is_over, true);
        }
    };
    const auto job = job_.lock();
    if (!job) throw cancelled(named() + ": the program ends");
    if (rank != job->rank())
        throw invalid_argument(named() + ": the rank is " + std::to_string(rank) + ", and this process is rank " +
                               std::to_string(job->rank()) + " of its job");
    const auto end = std::make_shared<ending>();
    const auto tell = wait.defer([end, weak = job_, name = name()] {
        if (!end->ends()) return false;
        if (const auto of = weak.lock()) of->give_up(name);
        return true;
    });
    try {
        job->start(name(), std::move(value), std::move(asked),
                   [end, tell](const std::exception_ptr& problem, any_array result) {
                       if (!end->ends()) return;
                       tell(problem, problem ? std::vector<any_array>() : std::vector<any_array>{std::move(result)});
                   });
    } catch (...) {
        if (end->ends()) tell(std::current_exception(), {});
    }
    return false;
}

}}} // namespace rill::RILL_ABI::detail
#endif
