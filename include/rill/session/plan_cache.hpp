// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include <rill/core/vector.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/session/prepared_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An LRU cache of prepared runs, so that a session with ever new fetches does not grow. Callables hold their own runs.
class plan_cache {
public:
    std::shared_ptr<prepared_run> find(const plan_key& key);
    /// Adds a run unless the key has one already, and returns the cached run. `gone` receives an evicted run.
    std::shared_ptr<prepared_run> add(const plan_key& key, std::shared_ptr<prepared_run> made,
                                      std::shared_ptr<prepared_run>& gone);
    /// Calls f(run) for each cached run, and for evicted runs that a callable still holds.
    template <class F> void each(const F& f) const {
        for (const auto& [key, kept] : runs_) f(kept.run);
        for (const auto& r : given_up_)
            if (const auto held = r.lock()) f(held);
    }
    void clear();

private:
    static constexpr std::size_t most = 64;

    struct entry {
        std::shared_ptr<prepared_run> run;
        std::list<const plan_key*>::iterator place;
    };
    std::unordered_map<plan_key, entry, plan_key::hash> runs_;
    std::list<const plan_key*> latest_; // most recently used first
    vector<std::weak_ptr<prepared_run>> given_up_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/plan_cache.ipp>
#endif
