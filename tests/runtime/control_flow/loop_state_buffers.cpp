// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loop_state_buffers.hpp>

#include <rill/device/array_slots.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("loop_state_buffers: from one place into the other, the input stays as it is, the last value is the output") {
    const tensor_type number{dtype::float32, {}};
    auto inputs = detail::arrays_of({&number, 1}), outputs = detail::arrays_of({&number, 1});
    *static_cast<float*>(inputs[0].mutable_data()) = 1.f;
    detail::array_slots slots(inputs, outputs);
    const auto args = slots.args(&detail::no_step);
    auto& out = *static_cast<float*>(outputs[0].mutable_data());
    for (int steps = 0; steps < 4; ++steps) {
        detail::loop_state_buffers state(std::span(&number, 1), default_allocator());
        state.begin(args);
        CHECK(state.at(0) == inputs[0].data());
        for (int k = 0; k < steps; ++k) {
            auto* const next = static_cast<float*>(state.next(0, args, false));
            CHECK(next != state.at(0));
            *next = *static_cast<const float*>(state.at(0)) * 2.f;
            state.set(0, next);
        }
        state.end(args);
        CHECK(out == static_cast<float>(1 << steps));
        CHECK(inputs[0].value<float>() == 1.f);
    }
}

TEST_CASE("loop_state_buffers: a value is changed in its place, but never the node's input") {
    const tensor_type number{dtype::float32, {}};
    auto inputs = detail::arrays_of({&number, 1}), outputs = detail::arrays_of({&number, 1});
    *static_cast<float*>(inputs[0].mutable_data()) = 1.f;
    detail::array_slots slots(inputs, outputs);
    const auto args = slots.args(&detail::no_step);
    detail::loop_state_buffers state(std::span(&number, 1), default_allocator());
    state.begin(args);
    void* const first = state.next(0, args, true);
    CHECK(first == outputs[0].data());
    state.set(0, first);
    CHECK(state.next(0, args, true) == first);
    CHECK(state.next(0, args, false) != first);
}
