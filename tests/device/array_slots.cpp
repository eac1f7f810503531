// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/array_slots.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("array_slots: a kernel finds inputs, outputs, scratch memory and the step") {
    const std::vector<tensor_type> types{{dtype::float32, {2}}, {dtype::int32, {}}};
    auto in = detail::arrays_of(types), out = detail::arrays_of(types);
    CHECK(in[0].type() == types[0]);
    CHECK(in[1].size() == 1);
    int scratch = 0;
    const step_context step;
    detail::array_slots slots(in, out);
    const auto args = slots.args(&step, {.scratch = &scratch});
    CHECK(args.in<float>(0) == in[0].data());
    CHECK(args.in<int>(1) == in[1].data());
    CHECK(args.out<float>(0) == out[0].data());
    CHECK(args.out<int>(1) == out[1].data());
    CHECK(args.scratch() == &scratch);
    CHECK(args.step == &step);
    detail::array_slots unknown;
    unknown.input(nullptr);
    const auto without = unknown.args(nullptr);
    CHECK(without.in<float>(0) == nullptr);
    CHECK(without.scratch() == nullptr);
    CHECK(without.on.errors == nullptr);
}
