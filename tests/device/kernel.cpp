// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/kernel.hpp>

#include <array>
#include <memory>

#include "catch.hpp"

using namespace rill;

TEST_CASE("kernel: the slot behind a variable's has the address of its new value") {
    float was = 1.f, now = 2.f, other = 3.f;
    void* slots[] = {&other, &was, &now};
    const std::int32_t inputs[] = {0, 1}, outputs[] = {2};
    const execution_context on;
    const kernel_args args{slots, inputs, outputs, on, nullptr};
    CHECK(args.variable_was<float>(1) == &was);
    CHECK(args.variable<float>(1) == &now);
    CHECK(args.in<float>(1) == &was);
    CHECK(args.out<float>(0) == &now);
}

TEST_CASE("kernel: closures small and large, run through slots, destroyed once") {
    auto counted = std::make_shared<int>(0);
    float in = 3.f, out = 0.f;
    void* slots[] = {&in, &out};
    const std::int32_t inputs[] = {0}, outputs[] = {1};
    const execution_context on;
    const kernel_args args{slots, inputs, outputs, on, nullptr};
    {
        kernel small([counted](const kernel_args& a) { *a.out<float>(0) = 2 * *a.in<float>(0); });
        std::array<double, 40> ballast{};
        ballast[39] = 5;
        kernel large([counted, ballast](const kernel_args& a) {
            *a.out<float>(0) = static_cast<float>(ballast[39]) + *a.in<float>(0);
        });
        small(args);
        CHECK(out == 6.f);
        kernel moved(std::move(small));
        CHECK_FALSE(small);
        moved = std::move(large);
        moved(args);
        CHECK(out == 8.f);
        CHECK(counted.use_count() == 2);
    }
    CHECK(counted.use_count() == 1);
}
