// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// Threads that help callers with parts of their work. The caller works too, so a call never waits for a free thread.
/// Any number of callers may run at once, also from within a part.
class thread_pool {
public:
    /// Makes a pool with this many threads beside the callers. They start with the first work.
    explicit thread_pool(int workers);
    ~thread_pool();
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;

    /// Returns the number of workers plus the caller.
    int threads() const noexcept { return workers_ + 1; }

    /// Calls part(0) … part(parts - 1), each once, in any order and on any thread; returns when all are done. Rethrows
    /// the first exception, and then skips parts that have not begun.
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

/// Returns the pool of all sessions that do not set a number of threads. It has one thread per usable processor.
RILL_EXPORT thread_pool& default_thread_pool();

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/thread_pool.ipp>
#endif
