// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/local_rendezvous.hpp>

#include <string>
#include <utility>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD local_rendezvous::slot& local_rendezvous::at(std::uint32_t edge) {
    if (edge >= slots_.size())
        throw invalid_argument("rendezvous: edge " + std::to_string(edge) + " is unknown; the step has " +
                               std::to_string(slots_.size()));
    return slots_[edge];
}

RILL_COLD std::exception_ptr local_rendezvous::problem() const {
    const std::lock_guard lock(problem_lock_);
    return problem_;
}

RILL_COLD void local_rendezvous::send(std::uint32_t edge, any_array value) {
    auto& s = at(edge);
    completion taker;
    std::vector<any_array> values;
    {
        const std::lock_guard lock(lock_of(edge));
        if (problem()) return;
        s.bytes += value.type().bytes();
        if (s.waiting.empty()) return s.values.push_back(std::move(value));
        values.push_back(std::move(value)); // first: it may fail
        taker = std::move(s.waiting.front());
        s.waiting.pop_front();
    }
    taker(nullptr, std::move(values)); // without the lock: it may resume the step
}

RILL_COLD bool local_rendezvous::try_receive(std::uint32_t edge, any_array& into) {
    auto& s = at(edge);
    const std::lock_guard lock(lock_of(edge));
    if (const auto why = problem()) std::rethrow_exception(why);
    if (s.values.empty()) return false;
    into = std::move(s.values.front());
    s.values.pop_front();
    return true;
}

RILL_COLD void local_rendezvous::receive(std::uint32_t edge, completion done) {
    auto& s = at(edge);
    std::vector<any_array> values;
    std::exception_ptr why;
    {
        const std::lock_guard lock(lock_of(edge));
        why = problem();
        if (!why && s.values.empty()) return s.waiting.push_back(std::move(done));
        if (!why) {
            values.push_back(std::move(s.values.front()));
            s.values.pop_front();
        }
    }
    done(why, std::move(values));
}

RILL_COLD void local_rendezvous::abort(std::exception_ptr problem) noexcept {
    {
        const std::lock_guard lock(problem_lock_);
        if (problem_) return;
        problem_ = problem;
    }
    // a receive that saw no error has joined its queue before it released its lock
    for (std::uint32_t edge = 0; edge < slots_.size(); ++edge)
        for (;;) { // one by one: a list of them would need memory
            completion waits;
            {
                const std::lock_guard lock(lock_of(edge));
                auto& s = slots_[edge];
                s.values.clear();
                if (s.waiting.empty()) break;
                waits = std::move(s.waiting.front());
                s.waiting.pop_front();
            }
            waits(problem, {});
        }
}

RILL_COLD std::vector<std::size_t> local_rendezvous::bytes() const {
    std::vector<std::size_t> all;
    for (std::uint32_t edge = 0; edge < slots_.size(); ++edge) {
        const std::lock_guard lock(lock_of(edge));
        all.push_back(slots_[edge].bytes);
    }
    return all;
}

}}} // namespace rill::RILL_ABI::detail
