// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/step_gate.hpp>

#include <string>
#include <utility>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void step_gate::start(std::function<void()> begin) {
    {
        const std::lock_guard lock(mutex_);
        if (closed_ > 0) return held_.push_back(std::move(begin));
        ++active_; // until the step counts itself
        ++entered_;
    }
    struct activity {
        step_gate& of;
        ~activity() { of.leave(); }
    };
    const activity until_end{*this};
    begin();
}

RILL_COLD void step_gate::enter() {
    const std::lock_guard lock(mutex_);
    ++active_;
    ++entered_;
}

RILL_COLD void step_gate::leave() {
    const std::lock_guard lock(mutex_);
    if (--active_ == 0 && left_) left_->notify();
}

RILL_COLD void step_gate::close() {
    const std::lock_guard lock(mutex_);
    ++closed_;
}

RILL_COLD void step_gate::open() {
    std::vector<std::function<void()>> all;
    {
        const std::lock_guard lock(mutex_);
        if (--closed_ > 0) return;
        all.swap(held_);
    }
    for (auto& begin : all) start(std::move(begin));
}

RILL_COLD std::uint64_t step_gate::wait_until_idle(environment::time_point until) {
    std::unique_lock lock(mutex_);
    if (!left_) left_ = env_.make_signal();
    while (active_ > 0) {
        if (env_.now() >= until)
            throw deadline_exceeded("save: " + std::to_string(active_) +
                                    (active_ == 1 ? " step of a queue runner has" : " steps of queue runners have") +
                                    " neither ended nor begun to wait");
        left_->wait(lock, until);
    }
    return entered_;
}

RILL_COLD bool step_gate::is_idle_since(std::uint64_t seen) const {
    const std::lock_guard lock(mutex_);
    return active_ == 0 && entered_ == seen;
}

}}} // namespace rill::RILL_ABI::detail
