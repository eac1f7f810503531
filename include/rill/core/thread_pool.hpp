// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// Threads that help with parts of somebody's work. The caller works too, so nothing ever waits for a thread to be free;
/// any number of callers may run at once, also from within a part.
class thread_pool {
public:
    /// So many threads beside the callers. They start with the first work.
    explicit thread_pool(int workers);
    ~thread_pool();
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;

    /// Workers and the caller.
    int threads() const noexcept { return workers_ + 1; }

    /// Calls part(0) … part(parts - 1), each once, in any order and on any thread, and returns when all are done. Of
    /// several exceptions the first is thrown again; the parts that have not begun are then left out.
    template <class F> void run(int parts, const F& part) {
        run_parts(parts, [](const void* f, int i) { (*static_cast<const F*>(f))(i); }, &part);
    }

private:
    struct job;
    struct shared;

    void run_parts(int parts, void (*call)(const void*, int), const void* self);

    int workers_;
    std::unique_ptr<shared> shared_;
};

/// The pool of all sessions that don't ask for a number of threads: one thread per processor this process may use.
RILL_EXPORT thread_pool& default_thread_pool();

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/thread_pool.ipp>
#endif
