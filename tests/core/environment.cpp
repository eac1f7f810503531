// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/environment.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_core_environment {

TEST_CASE("environment: the real one has a clock that goes on, takes the last, and comes back from waiting") {
    auto& real = environment::real();
    const auto begin = real.now();
    CHECK(real.choose(1) == 0);
    CHECK(real.choose(5) == 4);
    std::mutex m;
    std::condition_variable more;
    std::unique_lock lock(m);
    real.wait(lock, more, std::chrono::nanoseconds(1));
    CHECK(lock.owns_lock());
    CHECK(real.now() >= begin);
    CHECK(&environment::real() == &real);
}

} // namespace test_core_environment
