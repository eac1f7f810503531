// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/core/thread_pool.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The threads that run the steps of a session.
struct step_threads {
    std::shared_ptr<thread_pool> pool; // null: the caller's thread runs everything
    bool within_ops = false;           // the pool also splits the work of one op
    int lanes = 1;                     // lanes that run at once

    thread_pool* for_ops() const noexcept { return within_ops ? pool.get() : nullptr; }
};

}}} // namespace rill::RILL_ABI::detail
