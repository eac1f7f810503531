// SPDX-License-Identifier: BSD-3-Clause
// Random programs with branches and loops, each node on the CPU or one of two far devices: values cross at every edge of their bodies.
#include "../../random_control_flow.hpp"

#include <array>
#include <memory>
#include <string>
#include <tuple>

#include "../../catch.hpp"
#include "../../random_parts.hpp"
#include "by_default.hpp"

using namespace rill;

namespace test_far_random_control_flow {

using namespace test_random_control_flow;

/// A function that draws the device of each node; some get the default device.
device_function drawn_devices(std::uint64_t seed) {
    return [draw = std::make_shared<seeds::draws>(seed)](const node_info&) -> std::string {
        static constexpr std::array devices{"/cpu:0", "/far:0", "/far:1", ""};
        return devices[(*draw)(devices.size())];
    };
}

session_options on_threads(int threads, bool raised = true, bool cut = false) {
    return {.inter_op_threads = threads,
            .intra_op_threads = threads,
            .device_count = {{"far", 2}},
            .partition_devices = cut,
            .raise_primitives = raised};
}

TEST_CASE("far: random control flow, its writes and its gradients of two orders", "[random]") {
    each_program(150, drawn::all, [&](std::uint64_t seed, const trial& t) {
        if (!t.is_clear()) return;
        const test_far::by_default there(seed % 2 ? "far" : "cpu");
        built b(t.p, drawn_devices(seed));
        const auto [dx, dw] = gradients(b.z, b.x, b.w);
        const auto [dxx, dxw] = gradients(dx, b.x, b.w);
        const session s(on_threads(random_parts::drawn_threads(seed)));
        s.run(global_variables_initializer());
        const auto [z] = b.run(s, std::tuple(b.z, b.writes), t.x);
        CHECK(t.is(z, t.value.v));
        CHECK(t.is(s.run(b.written), t.written));
        const auto slopes = b.run(s, std::tuple(dx, dw, dxx, dxw), t.x);
        CHECK(t.is(std::get<0>(slopes), t.value.d[0]));
        CHECK(t.is(std::get<1>(slopes), t.value.d[1]));
        CHECK(t.is(std::get<2>(slopes), t.value.dd[0]));
        CHECK(t.is(std::get<3>(slopes), t.value.dd[1]));
    });
}

TEST_CASE("far: random control flow made of primitives, raised and by frames", "[random]") {
    each_program(100, drawn::with_primitives, [&](std::uint64_t seed, const trial& t) {
        if (!t.is_clear()) return;
        const test_far::by_default there(seed % 2 ? "far" : "cpu");
        const built b(t.p, drawn_devices(seed));
        for (const bool raised : {true, false}) {
            const session s(on_threads(random_parts::drawn_threads(seed), raised));
            s.run(global_variables_initializer());
            const auto [found] = b.run(s, std::tuple(b.z, b.writes), t.x);
            CHECK(t.is(found, t.value.v));
            CHECK(t.is(s.run(b.written), t.written));
        }
    });
}

TEST_CASE("far: random control flow that is cut between three devices, its writes and its gradients", "[random]") {
    for (const auto kinds : {drawn::all, drawn::with_primitives})
        each_program(40, kinds, [&](std::uint64_t seed, const trial& t) {
            if (!t.is_clear()) return;
            const test_far::by_default there(seed % 2 ? "far" : "cpu");
            built b(t.p, drawn_devices(seed));
            const int threads = random_parts::drawn_threads(seed);
            const session s(on_threads(threads, true, true)), whole(on_threads(threads));
            for (const auto* each : {&s, &whole}) each->run(global_variables_initializer());
            try {
                const auto [z] = b.run(s, std::tuple(b.z, b.writes), t.x);
                CHECK(t.is(z, t.value.v));
                const double written = s.run(b.written);
                CHECK(t.is(written, t.written));
                CHECK(std::get<0>(b.run(whole, std::tuple(b.z, b.writes), t.x)) == z);
                CHECK(whole.run(b.written) == written);
            } catch (const unimplemented& problem) { // primitives that form no branch or loop
                CHECK(kinds == drawn::with_primitives);
                CHECK_THAT(problem.what(), contains("run in one part"));
            }
            if (kinds == drawn::with_primitives) return; // they have no gradients
            const auto [dx, dw] = gradients(b.z, b.x, b.w);
            const auto slopes = b.run(s, std::tuple(dx, dw), t.x);
            CHECK(t.is(std::get<0>(slopes), t.value.d[0]));
            CHECK(t.is(std::get<1>(slopes), t.value.d[1]));
            CHECK(b.run(whole, std::tuple(dx, dw), t.x) == slopes);
        });
}

} // namespace test_far_random_control_flow
