// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/thread_pool.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI {

/// One call of run; lives on the caller's stack.
struct thread_pool::job {
    void (*call)(const void*, int);
    const void* self;
    int parts;
    std::atomic<int> next{0};
    std::atomic<int> helpers{0}; // workers inside; changed under the mutex
    std::exception_ptr failure;  // under the mutex
    job* after = nullptr;

    job(int n, void (*f)(const void*, int), const void* with) : call(f), self(with), parts(n) {}

    bool open() const { return next.load(std::memory_order_relaxed) < parts; }

    void work(std::mutex& mutex) {
        for (int i; (i = next.fetch_add(1, std::memory_order_relaxed)) < parts;) {
            try {
                call(self, i);
            } catch (...) {
                next.store(parts, std::memory_order_relaxed);
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        }
    }
};

struct thread_pool::shared {
    std::mutex mutex;
    std::condition_variable wake, finished;
    job* first = nullptr; // jobs that may have parts left
    std::atomic<unsigned> posted{0};
    bool stop = false;
    std::vector<std::thread> threads;

    /// Sleeping and waking cost some 50 µs, more than many kernels. Workers therefore spin between the kernels of a step.
    static constexpr int spins = 4000;

    /// Waits one turn of spinning. Sometimes it yields the processor: if another process holds the second processor, a spinning
    /// worker keeps its own caller from running (measured: two parts of 7 µs took 32 µs, now 17).
    static void pause(int turn) {
        if (turn % 32 == 31) return std::this_thread::yield();
#if defined(__x86_64__) && defined(__GNUC__)
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    job* find() {
        for (job* j = first; j; j = j->after)
            if (j->open()) return j;
        return nullptr;
    }

    void worker() {
        std::unique_lock lock(mutex);
        while (!stop) {
            if (job* j = find()) {
                j->helpers.fetch_add(1, std::memory_order_relaxed);
                lock.unlock();
                j->work(mutex);
                lock.lock();
                if (j->helpers.fetch_sub(1, std::memory_order_release) == 1) finished.notify_all();
                continue;
            }
            const unsigned seen = posted.load(std::memory_order_relaxed);
            lock.unlock();
            for (int i = 0; i < spins && posted.load(std::memory_order_acquire) == seen; ++i) pause(i);
            lock.lock();
            wake.wait(lock, [&] { return stop || posted.load(std::memory_order_relaxed) != seen; });
        }
    }
};

RILL_INLINE thread_pool::thread_pool(int workers)
    : workers_(workers < 0 ? 0 : workers), shared_(std::make_unique<shared>()) {}

RILL_INLINE thread_pool::~thread_pool() {
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->stop = true;
    }
    shared_->wake.notify_all();
    for (auto& t : shared_->threads) t.join();
}

RILL_INLINE void thread_pool::run_parts(int parts, void (*call)(const void*, int), const void* self) {
    if (workers_ == 0 || parts < 2) {
        for (int i = 0; i < parts; ++i) call(self, i);
        return;
    }
    auto& s = *shared_;
    job j(parts, call, self);
    {
        const std::lock_guard lock(s.mutex);
        while (static_cast<int>(s.threads.size()) < workers_) s.threads.emplace_back([&s] { s.worker(); });
        j.after = s.first;
        s.first = &j;
        s.posted.fetch_add(1, std::memory_order_release);
    }
    s.wake.notify_all();
    j.work(s.mutex);

    for (int i = 0; i < shared::spins && j.helpers.load(std::memory_order_acquire) > 0; ++i) shared::pause(i);
    std::unique_lock lock(s.mutex);
    job** at = &s.first;
    while (*at != &j) at = &(*at)->after;
    *at = j.after; // from here on no worker joins
    s.finished.wait(lock, [&] { return j.helpers.load(std::memory_order_acquire) == 0; });
    if (j.failure) std::rethrow_exception(j.failure);
}

RILL_EXPORT RILL_INLINE thread_pool& default_thread_pool() {
    static thread_pool& pool =
        *new thread_pool(detail::usable_processors() - 1); // leaked: kernels may run while statics die
    return pool;
}

}} // namespace rill::RILL_ABI
