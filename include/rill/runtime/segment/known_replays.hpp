// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Captured work, by the addresses that its kernels use. The last four sets of addresses are known: blocks of a variable, of a loop's state, or
/// of elements that a dataset delivers take turns. Work at new addresses runs uncaptured first, since kernels are loaded and libraries choose
/// algorithms then. The second time it is captured. If captures are rarely replayed, nothing more is captured.
class known_replays {
public:
    vector<void*> addresses; // of the current run; the caller sets them

    /// Returns the function that starts the work at the current addresses; capture() makes it. Returns null if the addresses are new. If
    /// capture() returns an empty function, find() returns null from then on.
    template <class F> const std::function<void()>* find(const F& capture) {
        if (is_refused_ || note()) return nullptr;
        auto& latest = known_[0];
        if (latest.start) {
            unused_ = std::max(0, unused_ - 1);
            return &latest.start;
        }
        latest.start = capture();
        is_refused_ = !latest.start || ++unused_ > most_unused;
        return latest.start ? &latest.start : nullptr;
    }
    /// Notes that work runs at the current addresses. Returns true if they are new.
    bool note() {
        const auto is_same = [&](const replay& r) { return std::ranges::equal(r.addresses, addresses); };
        auto& latest = known_[0];
        if (is_same(latest)) return false;
        auto at = detail::find_if(known_, is_same);
        const bool is_new = at == known_.end();
        if (is_new) --at; // the one used least recently
        std::rotate(known_.begin(), at, at + 1);
        if (is_new) {
            latest.addresses.swap(addresses);
            latest.start = nullptr;
        }
        return is_new;
    }
    bool is_refused() const { return is_refused_; }

private:
    struct replay {
        vector<void*> addresses;
        std::function<void()> start; // empty: these addresses were seen once
    };
    static constexpr int most_unused = 16;

    std::array<replay, 4> known_; // the one used last comes first
    int unused_ = 0;              // captures, less replays
    bool is_refused_ = false;
};

}}} // namespace rill::RILL_ABI::detail
