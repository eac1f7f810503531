// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/thrust/can_launch.hpp>

#include <rill/device/thrust/launch.hpp>
#include <rill/rill.hpp>

#include "../../catch.hpp"

using namespace rill;

namespace {

const fused_spec& spec_of(const any_tensor& x) { return *x.end().from->op->fused(); }

} // namespace

TEST_CASE(
    "can_launch: a node needs launches for its expression or for each of its instructions, and for its reductions") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("x");
    const auto sum = tensor<float>(reduce_sum(exp(x) + 1.f));
    const device_type device{"can_launch_test"};
    auto& launchers = detail::launchers_of(device.name);
    const auto can = [&] { return detail::can_launch(device, spec_of(sum)); };
    CHECK_FALSE(can());
    const auto add = [&](const char* key) {
        launchers.elementwise.add(key, 0, {.forward = [](const execution_context&, const auto&) {}});
    };
    add("Exp($0:float32)");
    CHECK_FALSE(can());
    add("Add($0:float32,$1:float32)");
    CHECK_FALSE(can());
    launchers.reductions.add("Sum/float32", 0, {});
    CHECK(can());

    const device_type whole{"can_launch_test_whole"};
    detail::launchers_of(whole.name).reductions.add("Sum/float32", 0, {});
    CHECK_FALSE(detail::can_launch(whole, spec_of(sum)));
    detail::launchers_of(whole.name)
        .elementwise.add(spec_of(sum).kernel(), 0, {.forward = [](const execution_context&, const auto&) {}});
    CHECK(detail::can_launch(whole, spec_of(sum)));
}
