// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/resource.hpp>
#include <rill/resources/round_state.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of the node that stores a variable's gradients.
struct replica_gradients_traits {
    tensor_type type;             // type of the variable
    dtype ids = dtype::invalid;   // dtype of the row numbers of sparse gradients; invalid: dense gradients
    bool adds_at_arrival = false; // stores one sum instead of each replica's gradients

    bool is_rows() const { return ids != dtype::invalid; }
};

/// The gradients of a variable that replicas have computed in a round. A take removes those of one round, in a given order.
class RILL_EXPORT replica_gradients_state final : public resource {
public:
    static constexpr auto kind = "replica_gradients";

    replica_gradients_state(std::string name, replica_gradients_traits traits)
        : name_(std::move(name)), traits_(std::move(traits)) {}

    static std::string described_as(const replica_gradients_traits& t) {
        return std::string(kind) + " of " + to_string(t.type) + (t.is_rows() ? ", rows" : "");
    }
    std::string described() const override { return described_as(traits_); }

    /// The gradients of one run of a replica, or the sum of `count` such gradients.
    struct gradients {
        std::int64_t step = 0, id = 0;
        any_array values = {}, ids = {}; // `ids`: row numbers; empty: dense
        index_t count = 1;
    };
    /// A function that adds n elements of `gradient` to `sum`.
    using adder = void (*)(const void* gradient, void* sum, index_t n);

    /// Stores a copy of gradients, replacing those with the same id. Drops gradients of a round that was already taken.
    void put(const gradients& g, adder add);
    /// Removes and returns the gradients of round `step`: those of `ids` in this order, or the sum. Throws `aborted` if some are missing.
    std::vector<gradients> take(std::int64_t step, std::span<const std::int64_t> ids);

private:
    const std::string name_;
    const replica_gradients_traits traits_;
    mutable std::mutex mutex_;
    std::int64_t step_ = 0; // gradients of earlier rounds are stale
    std::vector<gradients> kept_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <rill/core/algorithm.hpp>
#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void replica_gradients_state::put(const gradients& g, adder add) {
    const bool fits =
        g.values.dtype() == traits_.type.type &&
        (traits_.is_rows() ? g.ids.dtype() == traits_.ids : rules::compatible(g.values.shape(), traits_.type.shape));
    if (!fits)
        throw invalid_argument(std::string(kind) + " '" + name_ + "': gradients are " + to_string(traits_.type) +
                               (traits_.is_rows() ? ", by rows" : "") + ", not " + to_string(g.values.type()));
    const std::lock_guard lock(mutex_);
    if (!round_state::in_one_life(g.step, step_)) { // the task that counts the rounds was restarted
        kept_.clear();
        step_ = g.step;
    }
    if (g.step < step_) return;
    std::erase_if(kept_, [&](const gradients& k) { return k.step < g.step; });
    const auto same =
        detail::find_if(kept_, [&](const gradients& k) { return traits_.adds_at_arrival || k.id == g.id; });
    if (same != kept_.end() && traits_.adds_at_arrival) {
        add(g.values.data(), same->values.mutable_data(), g.values.size());
        ++same->count;
        return;
    }
    gradients own{g.step, g.id, owned_copy(g.values), g.ids.empty() ? any_array() : owned_copy(g.ids)};
    if (same != kept_.end())
        *same = std::move(own);
    else
        kept_.push_back(std::move(own));
}

RILL_INLINE std::vector<replica_gradients_state::gradients>
replica_gradients_state::take(std::int64_t step, std::span<const std::int64_t> ids) {
    const std::lock_guard lock(mutex_);
    std::vector<gradients*> wanted;
    if (traits_.adds_at_arrival) {
        if (!kept_.empty() && kept_[0].step == step) wanted.push_back(&kept_[0]);
    } else {
        for (const auto id : ids)
            for (auto& k : kept_)
                if (k.step == step && k.id == id) wanted.push_back(&k);
    }
    if (wanted.size() != (traits_.adds_at_arrival ? 1 : ids.size()))
        throw aborted(
            std::string(kind) + " '" + name_ + "': the gradients of round " + std::to_string(round_state::round_of(step)) +
            " are gone: they were taken by a step that failed, or the task has restarted; restore a checkpoint");
    std::vector<gradients> all;
    for (auto* g : wanted) all.push_back(std::move(*g));
    kept_.clear();
    step_ = step + 1;
    return all;
}

}}} // namespace rill::RILL_ABI::detail
#endif
