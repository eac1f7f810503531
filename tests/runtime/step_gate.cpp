// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/step_gate.hpp>

#include <thread>

#include <rill/core/error.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_step_gate {

TEST_CASE("step_gate: a closed gate keeps what begins, and knows what is active") {
    const auto gate = std::make_shared<detail::step_gate>(environment::real());
    int begun = 0;
    gate->start([&] { ++begun; });
    CHECK(begun == 1);
    {
        detail::closed_gate outer(*gate);
        const auto seen = outer.wait_until_idle();
        CHECK(outer.is_idle_since(seen));
        {
            const detail::closed_gate inner(*gate);
            gate->start([&] { ++begun; });
        }
        CHECK(begun == 1); // it is closed still
        CHECK(outer.is_idle_since(seen));
        gate->enter(); // the end of a wait
        CHECK_FALSE(outer.is_idle_since(seen));
        gate->leave();
        CHECK_FALSE(outer.is_idle_since(seen)); // it may have changed the state
    }
    CHECK(begun == 2);
}

TEST_CASE("step_gate: who closes it waits for active steps, for a time") {
    const auto gate = std::make_shared<detail::step_gate>(environment::real());
    gate->enter();
    {
        detail::closed_gate hasty(*gate, std::chrono::milliseconds(1));
        CHECK_THROWS_WITH(hasty.wait_until_idle(), contains("1 step of a queue runner has neither ended"));
    }
    detail::closed_gate patient(*gate);
    std::thread other([&] { gate->leave(); });
    CHECK(patient.is_idle_since(patient.wait_until_idle()));
    other.join();
}

} // namespace test_step_gate
