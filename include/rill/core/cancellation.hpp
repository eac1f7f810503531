// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The cancellation of a run, or the end of a session. It happens once and then calls the registered callbacks. Thread-safe.
class cancellation : public std::enable_shared_from_this<cancellation> {
public:
    /// A callback of a cancellation. Its destructor withdraws the callback; it does not wait for a call that has begun.
    class registration {
    public:
        registration() = default;
        registration(registration&& other) noexcept
            : of_(std::move(other.of_)), number_(std::exchange(other.number_, 0)) {}
        registration& operator=(registration&& other) noexcept {
            of_.swap(other.of_);
            std::swap(number_, other.number_);
            return *this;
        }
        ~registration();

    private:
        friend class cancellation;
        registration(std::weak_ptr<cancellation> of, std::uint64_t number) : of_(std::move(of)), number_(number) {}
        std::weak_ptr<cancellation> of_;
        std::uint64_t number_ = 0;
    };

    bool is_cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
    /// Calls the callbacks on this thread, unless already cancelled.
    void cancel() noexcept;
    /// Calls `then` once upon cancellation, on the thread that cancels. Calls it at once if already cancelled. `then` must not
    /// throw.
    [[nodiscard]] registration on_cancel(std::function<void()> then);

private:
    std::atomic<bool> cancelled_{false};
    std::mutex mutex_;
    std::uint64_t last_ = 0;
    std::vector<std::pair<std::uint64_t, std::function<void()>>> callbacks_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/cancellation.ipp>
#endif
