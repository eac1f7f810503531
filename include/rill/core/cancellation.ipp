// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/cancellation.hpp>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD cancellation::registration::~registration() {
    const auto of = of_.lock();
    if (!of) return;
    std::function<void()> gone; // destroyed after the lock is released
    const std::lock_guard lock(of->mutex_);
    const auto at = detail::find_if(of->callbacks_, [&](const auto& c) { return c.first == number_; });
    if (at == of->callbacks_.end()) return;
    gone = std::move(at->second);
    of->callbacks_.erase(at);
}

RILL_COLD void cancellation::cancel() noexcept {
    std::vector<std::pair<std::uint64_t, std::function<void()>>> all;
    {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
        all.swap(callbacks_);
    }
    for (const auto& [number, then] : all) try {
            then();
        } catch (...) { // it must not throw: the others are called all the same
        }
}

RILL_COLD cancellation::registration cancellation::on_cancel(std::function<void()> then) {
    {
        const std::lock_guard lock(mutex_);
        if (!cancelled_) {
            callbacks_.emplace_back(++last_, std::move(then));
            return {weak_from_this(), last_};
        }
    }
    then();
    return {};
}

}} // namespace rill::RILL_ABI
