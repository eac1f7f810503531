// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/joined_answers.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD answer_function joined_answers::next() {
    answer_function made = [self = shared_from_this()](const std::exception_ptr& problem, const wire_answer&) {
        self->end(problem);
    };
    const std::lock_guard lock(mutex_);
    ++left_;
    return made;
}

RILL_COLD void joined_answers::end(const std::exception_ptr& problem) {
    std::function<void(std::exception_ptr)> done;
    std::exception_ptr first;
    {
        const std::lock_guard lock(mutex_);
        if (problem && !problem_) problem_ = problem;
        if (--left_ > 0) return;
        done = std::move(done_);
        first = problem_;
    }
    done(first);
}

}}} // namespace rill::RILL_ABI::detail
