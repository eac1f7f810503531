// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/awaited_answers.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD answer_function awaited_answers::next() {
    const std::lock_guard lock(state_->mutex);
    ++state_->left;
    return [s = state_](const std::exception_ptr& problem, const wire_answer&) {
        const std::lock_guard ended(s->mutex);
        if (problem && !s->problem) s->problem = problem;
        if (--s->left == 0) s->changed->notify();
    };
}

RILL_COLD void awaited_answers::wait() {
    std::unique_lock lock(state_->mutex);
    while (state_->left > 0) state_->changed->wait(lock, environment::time_point::max());
    if (state_->problem) std::rethrow_exception(state_->problem);
}

}}} // namespace rill::RILL_ABI::detail
