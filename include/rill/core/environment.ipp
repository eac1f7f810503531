// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/environment.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class real_environment final : public environment {
public:
    time_point now() override { return std::chrono::steady_clock::now(); }
    std::size_t choose(std::size_t n) override { return n - 1; }
    void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& more,
              std::chrono::nanoseconds most) override {
        more.wait_for(lock, most);
    }
};

} // namespace detail

RILL_EXPORT RILL_COLD environment& environment::real() {
    static detail::real_environment& one = *new detail::real_environment;
    return one;
}

}} // namespace rill::RILL_ABI
