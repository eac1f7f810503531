// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Captured work, by the addresses that its kernels use: the last few sets of addresses. Blocks may take turns: those of a variable, of a
/// loop's state, or of elements that a dataset delivers. Work at new addresses runs uncaptured first, since kernels are loaded and libraries
/// choose algorithms then. The second time it is captured.
class known_replays {
public:
    vector<void*> addresses; // of the current run; the caller sets them

    /// Returns the function that starts the work at the current addresses; capture() makes it. Returns null if the addresses are new, or
    /// capture() returned an empty function: nothing is captured from then on.
    template <class F> const std::function<void()>* find(const F& capture) {
        if (is_refused_) return nullptr;
        const auto is_same = [&](const replay& r) { return std::ranges::equal(r.addresses, addresses); };
        auto& latest = known_[0];
        if (!is_same(latest)) {
            auto at = detail::find_if(known_, is_same);
            const bool is_new = at == known_.end();
            if (is_new) --at; // the one used least recently
            std::rotate(known_.begin(), at, at + 1);
            if (is_new) {
                latest.addresses.swap(addresses);
                latest.start = nullptr;
                return nullptr;
            }
        }
        if (!latest.start) latest.start = capture();
        is_refused_ = !latest.start;
        return is_refused_ ? nullptr : &latest.start;
    }
    bool is_refused() const { return is_refused_; }

private:
    struct replay {
        vector<void*> addresses;
        std::function<void()> start; // empty: these addresses were seen once
    };
    std::array<replay, 4> known_; // the one used last comes first
    bool is_refused_ = false;
};

}}} // namespace rill::RILL_ABI::detail
