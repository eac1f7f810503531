// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <rill/core/environment.hpp>
#include <rill/distributed/task_identity.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A join of several calls: one callback once all have ended. Thread-safe.
class joined_answers : public std::enable_shared_from_this<joined_answers> {
public:
    /// Takes `done`, which is called once, with the error of the first call that failed.
    explicit joined_answers(std::function<void(std::exception_ptr)> done) : done_(std::move(done)) {}

    /// Returns the function that receives the answer of one more call.
    answer_function next();
    /// Ends the list of calls: `done` is called once all of them have ended.
    void close() { end(nullptr); }

private:
    void end(const std::exception_ptr& problem);

    std::function<void(std::exception_ptr)> done_;
    std::mutex mutex_;
    std::size_t left_ = 1; // close() ends the last one
    std::exception_ptr problem_;
};

/// Answers a request with the result of f, on another thread: f may take long, but a handler must not block.
template <class F> void answer_later(environment& env, const answer_function& reply, F f) {
    env.post([reply, f = std::move(f)] {
        wire_answer a;
        std::exception_ptr problem;
        try {
            a = f();
        } catch (...) {
            problem = std::current_exception();
        }
        reply(problem, std::move(a));
    });
}

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/joined_answers.ipp>
#endif
