// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>

#include <rill/core/environment.hpp>
#include <rill/distributed/task_identity.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Waits for the answers of several calls.
class awaited_answers {
public:
    explicit awaited_answers(environment& runs_in) : state_(std::make_shared<state>(runs_in)) {}

    /// Returns the function that receives the answer of one more call.
    answer_function next();
    /// Waits until all calls have ended. Throws the problem of the first that failed.
    void wait();

private:
    struct state {
        explicit state(environment& e) : changed(e.make_signal()) {}
        std::mutex mutex;
        std::unique_ptr<environment::signal> changed;
        std::size_t left = 0;
        std::exception_ptr problem;
    };
    const std::shared_ptr<state> state_; // answers may come after this object
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/awaited_answers.ipp>
#endif
