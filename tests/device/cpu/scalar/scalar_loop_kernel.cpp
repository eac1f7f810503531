// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/scalar/scalar_loop_kernel.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <rill/core/allocator.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_scalar_loop_kernel {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"}, y{"y"};

    static const fused_spec* spec(const any_tensor& t) { return t.node()->op->fused(); }

    /// Runs a loop; operands are its inputs, then its outputs.
    static std::int64_t run(const scalar_loop& loop, std::int64_t most, std::vector<void*> operands, std::size_t inputs,
                            const step_context* step = nullptr) {
        kernel_request request{};
        const kernel k = detail::scalar_loop_kernel(loop, request);
        const detail::memory_block scratch(default_allocator(), request.scratch_bytes);
        std::int64_t count = -1;
        operands.insert(operands.begin(), &most);
        operands.push_back(&count);
        std::vector<std::int32_t> numbers(operands.size());
        std::iota(numbers.begin(), numbers.end(), 0);
        try {
            k({operands.data(), numbers.data(), numbers.data() + inputs + 1, {.scratch = scratch.data()}, step});
        } catch (const cancelled&) {
            return -1 - count;
        }
        return count;
    }
};

} // namespace test_device_cpu_scalar_loop_kernel

using test_device_cpu_scalar_loop_kernel_fixture = test_device_cpu_scalar_loop_kernel::fixture;

TEST_CASE_METHOD(test_device_cpu_scalar_loop_kernel_fixture,
                 "scalar_loop_kernel: as long as the condition holds, and no longer than told") {
    // while (a < limit) (a, b) = (a + b, a)
    const tensor goes_on(x < y, "goes_on");
    const tensor sum(x + y, "sum");
    scalar_loop loop;
    loop.group.members.push_back({spec(goes_on), {{-1, 0}, {-1, 2}}, {-1}});
    loop.group.members.push_back({spec(sum), {{-1, 0}, {-1, 1}}, {-1}});
    loop.inputs = {dtype::float32, dtype::float32, dtype::float32};
    loop.conditional = true;
    loop.condition = {0, 0};
    loop.next = {{1, 0}, {-1, 0}};
    loop.stacked = {{-1, 0}, {1, 0}};
    float a = 1, b = 1, limit = 10;
    std::array<float, 8> seen{}, sums{};
    CHECK(run(loop, 100, {&limit, &a, &b, seen.data(), sums.data()}, 1) == 5);
    CHECK(a == 13);
    CHECK(b == 8);
    CHECK(seen == std::array<float, 8>{1, 2, 3, 5, 8});
    CHECK(sums == std::array<float, 8>{2, 3, 5, 8, 13});
    a = b = 1;
    CHECK(run(loop, 2, {&limit, &a, &b, seen.data(), sums.data()}, 1) == 2);
    CHECK(a == 3);
    CHECK(run(loop, 0, {&limit, &a, &b, seen.data(), sums.data()}, 1) == 0);
    CHECK(a == 3);
    CHECK(b == 2);
    cancellation ended;
    ended.cancel();
    const step_context step{.session = &ended};
    CHECK(run(loop, 2, {&limit, &a, &b, seen.data(), sums.data()}, 1, &step) == -1);
}

TEST_CASE_METHOD(test_device_cpu_scalar_loop_kernel_fixture, "scalar_loop_kernel: slices one way and the other") {
    const tensor next(x * 2.f + y, "next");
    scalar_loop loop;
    loop.group.members.push_back({spec(next), {{-1, 0}, {-1, 1}}, {-1}});
    loop.inputs = {dtype::float32, dtype::float32, dtype::int32};
    loop.slices = 2;
    loop.next = {{0, 0}};
    loop.stacked = {{0, 0}, {-1, 2}};
    std::array<float, 3> slices{1, 2, 3}, states{};
    std::array<std::int32_t, 3> numbers{7, 8, 9}, copies{};
    float state = 1;
    CHECK(run(loop, 3, {slices.data(), numbers.data(), &state, states.data(), copies.data()}, 2) == 3);
    CHECK(state == 19);
    CHECK(states == std::array<float, 3>{3, 8, 19});
    CHECK(copies == numbers);
    loop.reverse = true;
    state = 1;
    CHECK(run(loop, 3, {&slices[2], &numbers[2], &state, &states[2], &copies[2]}, 2) == 3);
    CHECK(state == 25);
    CHECK(states == std::array<float, 3>{25, 12, 5});
    CHECK(copies == numbers);
}
