// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/cancellation.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of the node that creates a round.
struct round_traits {
    index_t aggregate = 1, total = 1; // gradients per step, and replicas that compute them
    bool by_replica = true;           // sums are in order of replica, otherwise in order of arrival

    /// Throws invalid_argument unless 1 <= aggregate <= total.
    void check() const;
};

/// The rounds of synchronous training. In a round each replica computes gradients and arrives. Once `aggregate` replicas have arrived, one
/// of their steps becomes the leader: it updates the variables and ends the round. The other steps wait until then. No extra thread or
/// queue is needed: if the leader's step fails, the next waiting step leads.
class RILL_EXPORT round_state final : public waited_resource {
public:
    static constexpr auto kind = "sync_round";

    round_state(std::string name, const round_traits& traits)
        : waited_resource(std::move(name), lines_for(traits)), traits_(traits), in_use_(lines_for(traits)) {
        in_use_[line_of_resets] = true;
    }

    static std::string described_as(const round_traits& t) {
        return std::string(kind) + " of " + std::to_string(t.aggregate) + " of " + std::to_string(t.total) +
               " replicas";
    }
    std::string described() const override { return described_as(traits_); }

    /// A replica. A replica without a number is identified by its session; `order` is its position in sums.
    struct member {
        index_t number = -1;
        index_t order = 0;
        const cancellation* session = nullptr;
    };
    /// The gradients of one run of a replica. Sums by replica are in order of `id`.
    struct contribution {
        std::int64_t step = 0, id = 0;
    };

    /// Returns the round that was current when the replica's last run ended. The gradients are thus no newer than the variables that they
    /// were computed from. The upper bits identify the life of the task that keeps the round: a restarted task begins with round 0. Throws
    /// invalid_argument for an invalid replica number.
    contribution begin(const member& by);
    /// Returns the round number without the bits that identify the life of its task.
    static std::int64_t round_of(std::int64_t step) { return step & ((std::int64_t(1) << round_bits) - 1); }
    /// Returns true if two rounds belong to one life of a task.
    static bool in_one_life(std::int64_t a, std::int64_t b) { return a >> round_bits == b >> round_bits; }
    /// Arrives with gradients, and waits until the round is over or this step leads it. Returns true if done at once; otherwise it
    /// completes `wait` later. Outputs: true for the leader, and the ids that it aggregates. Stale gradients do not wait. Throws
    /// out_of_range if too many replicas have left to complete a round. An older waiting run of the same replica ends with `aborted`.
    bool arrive(const contribution& c, const step_context* step, async_context& wait, any_array* out);
    /// Ends a replica's run. The leader's run ends the round.
    void end(std::int64_t step, bool leads, const member& by);
    /// Marks a replica as finished; a later begin() reverts this. Returns the number of replicas that are left.
    std::int64_t leave(const member& by);
    /// Begins a new round once no step leads. It discards gradients of earlier rounds. `closes`: no step leads until the next reset, so
    /// that variables can be restored. A reset of an open round begins a training, which awaits all replicas again. Otherwise replicas
    /// that have finished stay finished. Returns true if done at once; otherwise it completes `wait` later. Output: the number of the round.
    bool reset(bool closes, async_context& wait, any_array* out);
    /// Returns the number of runs with unused gradients.
    std::int64_t dropped() const;
    /// Returns the current round and the replicas that it waits for, as text: "round 7 has the gradients of 1 of 3 replicas; replicas 1 and
    /// 2 have not arrived".
    std::string awaited() const;

private:
    static constexpr int round_bits = 40, life_bits = 22;
    static constexpr int id_bits = 40; // bits of an id for runs of replicas without a number
    using key = std::pair<index_t, const cancellation*>;
    struct call : attempt {
        contribution what = {};
        bool closes = false; // only for resets
    };

    static key key_of(const member& by) {
        return by.number >= 0 ? key{by.number, nullptr} : key{index_t(-1), by.session};
    }
    static constexpr std::size_t line_of_resets = 0; // before the lines of arrivals: a reset goes first
    /// Returns the number of lines. Each arrival waits in its own line, so that arrivals of a finished round need not wait for others. Runs
    /// of dead replicas also keep lines until their tasks are found dead.
    static std::size_t lines_for(const round_traits& t) { return static_cast<std::size_t>(1 + 4 * t.total); }
    std::size_t free_line();
    void begin_anew(call& c);
    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    RILL_INLINE void undo(attempt& a) override;
    RILL_INLINE void give_back(holding& of) override;
    attempt_ptr kept(attempt& a) override { return std::make_shared<call>(static_cast<call&&>(a)); }
    std::vector<std::int64_t> aggregated() const;

    const round_traits traits_;
    std::vector<bool> in_use_;          // per line
    std::int64_t step_ = 0, first_ = 0; // the current round, and the first round of unknown replicas
    std::vector<std::int64_t> arrived_; // ids in this round, in order of arrival
    std::map<key, std::int64_t> known_; // the round that was current when the replica's last run ended
    std::set<key> left_;
    bool is_led_ = false, is_closed_ = false;
    std::shared_ptr<holding> leader_; // the leading step
    std::int64_t runs_ = 0, dropped_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void round_traits::check() const {
    constexpr index_t most = 1 << 20; // each replica has lines
    if (aggregate < 1 || total < aggregate || total > most)
        throw invalid_argument("replicas_to_aggregate is " + std::to_string(aggregate) + " and total_replicas is " +
                               std::to_string(total) +
                               "; 1 <= replicas_to_aggregate <= total_replicas <= 1048576 is required");
}

RILL_INLINE round_state::contribution round_state::begin(const member& by) {
    if (by.number >= traits_.total)
        throw invalid_argument(named() + ": the replica is " + std::to_string(by.number) + "; there are " +
                               std::to_string(traits_.total) + ", numbered from 0");
    const std::lock_guard lock(mutex_);
    left_.erase(key_of(by));
    const auto last = known_.find(key_of(by));
    const std::int64_t id = by.number >= 0 ? by.number << id_bits : (by.order << id_bits) + ++runs_;
    const auto life = number() >> 32 & ((std::int64_t(1) << life_bits) - 1); // the task's incarnation
    return {(life << round_bits) + (last == known_.end() ? first_ : last->second), id};
}

RILL_INLINE bool round_state::arrive(const contribution& given, const step_context* step, async_context& wait,
                                     any_array* out) {
    const contribution c{round_of(given.step), given.id};
    const auto held = held_by(step, true);
    call now{{.by = {.step = held}}, c, false};
    change([&] {
        now.line = free_line();
        if (c.step < step_) {
            ++dropped_;
            return;
        }
        refuse_waiting(
            [&](const attempt& a) { return static_cast<const call&>(a).what.id == c.id; },
            std::make_exception_ptr(aborted(named() + ": a later run is replica " + std::to_string(c.id >> id_bits) +
                                            ", too; each replica needs a number of its own")));
        if (!detail::contains(arrived_, c.id)) arrived_.push_back(c.id); // a failed run may arrive again
    });
    wait.describe([weak = weak_from_this()] {
        const auto self = std::static_pointer_cast<round_state>(weak.lock());
        return self ? self->awaited() : std::string();
    });
    return start(std::move(now), wait, out);
}

RILL_COLD std::string round_state::awaited() const {
    const std::lock_guard lock(mutex_);
    const auto text = "round " + std::to_string(step_) + " has the gradients of " + std::to_string(arrived_.size()) +
                      " of " + std::to_string(traits_.aggregate) + " replicas";
    if (is_closed_) return text + "; the variables are restored";
    if (is_led_) return text + "; a replica updates the variables";
    std::vector<std::string> missing;
    std::size_t numbered = 0; // arrivals of replicas with a number
    for (index_t k = 0; k < traits_.total; ++k) {
        if (detail::contains(arrived_, k << id_bits))
            ++numbered;
        else if (!left_.contains({k, nullptr}))
            missing.push_back(std::to_string(k));
    }
    if (numbered < arrived_.size() || missing.empty()) return text; // they are unnumbered
    std::string names = missing[0];
    constexpr std::size_t most = 16;
    for (std::size_t i = 1; i < missing.size() && i < most; ++i)
        names += (i + 1 == missing.size() ? " and " : ", ") + missing[i];
    if (missing.size() > most) names += " and " + std::to_string(missing.size() - most) + " more";
    const bool is_one = missing.size() == 1;
    return text + "; replica" + (is_one ? " " : "s ") + names + (is_one ? " has" : " have") + " not arrived";
}

RILL_INLINE std::size_t round_state::free_line() {
    for (std::size_t i = 0; i < in_use_.size(); ++i)
        if (!in_use_[i]) {
            in_use_[i] = true;
            return i;
        }
    throw resource_exhausted(named() + ": " + std::to_string(in_use_.size() - 1) + " runs of " +
                             std::to_string(traits_.total) + " replicas wait");
}

RILL_INLINE std::vector<std::int64_t> round_state::aggregated() const {
    std::vector<std::int64_t> ids(arrived_.begin(), arrived_.begin() + traits_.aggregate);
    if (traits_.by_replica) detail::sort(ids, [](std::int64_t a, std::int64_t b) { return a < b; });
    return ids;
}

RILL_INLINE bool round_state::serve(attempt& a) {
    if (a.line == line_of_resets) {
        if (is_led_) return false;
        begin_anew(static_cast<call&>(a));
        return true;
    }
    const bool is_over = static_cast<call&>(a).what.step < step_;
    if (!is_over) {
        if (is_led_ || is_closed_) return false;
        if (static_cast<index_t>(arrived_.size()) < traits_.aggregate) {
            const auto left = static_cast<index_t>(left_.size());
            if (traits_.total - left >= traits_.aggregate) return false;
            throw out_of_range(named() + ": " + std::to_string(left) + " of " + std::to_string(traits_.total) +
                               " replicas have come to their end, and a step needs the gradients of " +
                               std::to_string(traits_.aggregate));
        }
    }
    any_array leads(dtype::boolean, dims{}), ids(dtype::int64, dims{traits_.aggregate});
    *static_cast<bool*>(leads.mutable_data()) = !is_over;
    auto* const to = static_cast<std::int64_t*>(ids.mutable_data());
    std::fill(to, to + traits_.aggregate, 0);
    if (!is_over) {
        const auto all = aggregated();
        std::copy(all.begin(), all.end(), to);
        is_led_ = true;
        leader_ = a.by.step;
    }
    in_use_[a.line] = false;
    a.outputs.push_back(std::move(leads));
    a.outputs.push_back(std::move(ids));
    return true;
}

RILL_COLD void round_state::begin_anew(call& c) {
    // a restore closes the round and opens it: nobody awaits a replica that finished before it
    if (!c.closes && !is_closed_) left_.clear();
    first_ = ++step_;
    is_closed_ = c.closes;
    arrived_.clear();
    known_.clear();
    any_array number(dtype::int64, dims{});
    *static_cast<std::int64_t*>(number.mutable_data()) = step_;
    c.outputs.push_back(std::move(number));
}

RILL_COLD void round_state::undo(attempt& a) {
    if (a.line == line_of_resets) return;
    const auto& c = static_cast<call&>(a).what;
    if (c.step == step_) std::erase(arrived_, c.id);
    in_use_[a.line] = false;
}

RILL_COLD void round_state::give_back(holding& of) {
    if (leader_.get() != &of) return;
    leader_.reset();
    is_led_ = false;
}

RILL_INLINE void round_state::end(std::int64_t step, bool leads, const member& by) {
    change([&] {
        if (leads && round_of(step) == step_) {
            dropped_ += static_cast<std::int64_t>(arrived_.size()) - traits_.aggregate;
            arrived_.clear();
            leader_.reset();
            is_led_ = false;
            ++step_;
        }
        known_[key_of(by)] = step_;
    });
}

RILL_INLINE std::int64_t round_state::leave(const member& by) {
    std::int64_t remaining = 0;
    change([&] {
        left_.insert(key_of(by));
        remaining = static_cast<std::int64_t>(traits_.total) - static_cast<std::int64_t>(left_.size());
    });
    return remaining;
}

RILL_INLINE bool round_state::reset(bool closes, async_context& wait, any_array* out) {
    call now;
    now.line = line_of_resets;
    now.closes = closes;
    return start(std::move(now), wait, out);
}

RILL_INLINE std::int64_t round_state::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

}}} // namespace rill::RILL_ABI::detail
#endif
