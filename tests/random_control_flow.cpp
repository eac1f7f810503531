// SPDX-License-Identifier: BSD-3-Clause
#include "random_control_flow.hpp"

#include "catch.hpp"

using namespace rill;

namespace test_random_control_flow {

TEST_CASE("random control flow: values, writes and gradients of two orders are those of a plain interpreter",
          "[random]") {
    int compared = 0, of = 0;
    each_program(300, drawn::all, [&](std::uint64_t seed, const trial& t) {
        ++of;
        if (!t.is_clear()) return;
        ++compared;
        built b(t.p);
        const auto [dx, dw] = gradients(b.z, b.x, b.w);
        const auto [dxx, dxw] = gradients(dx, b.x, b.w);
        const auto [dwx, dww] = gradients(dw, b.x, b.w);
        const session s(
            {.inter_op_threads = static_cast<int>(seed % 3), .intra_op_threads = static_cast<int>(seed % 3)});
        s.run(global_variables_initializer());
        const auto [z] = b.run(s, std::tuple(b.z, b.writes), t.x);
        CHECK(t.is(z, t.value.v));
        CHECK(t.is(s.run(b.written), t.written));
        const auto first = b.run(s, std::tuple(dx, dw), t.x);
        CHECK(t.is(std::get<0>(first), t.value.d[0]));
        CHECK(t.is(std::get<1>(first), t.value.d[1]));
        const auto second = b.run(s, std::tuple(dxx, dxw, dwx, dww), t.x);
        CHECK(t.is(std::get<0>(second), t.value.dd[0]));
        CHECK(t.is(std::get<1>(second), t.value.dd[1]));
        CHECK(t.is(std::get<2>(second), t.value.dd[1]));
        CHECK(t.is(std::get<3>(second), t.value.dd[2]));
    });
    if (seeds::all()) CHECK(compared > of / 2);
}

TEST_CASE("random control flow: the same unrolled, on any number of threads, and third gradients", "[random]") {
    int compared = 0, of = 0;
    each_program(60, drawn::all, [&](std::uint64_t, const trial& t) {
        ++of;
        if (!t.is_clear()) return;
        ++compared;
        built b(t.p);
        const auto unrolled = b.make(t.p, true);
        for (const int threads : {0, 1, 3}) {
            const session s({.inter_op_threads = threads, .intra_op_threads = threads});
            s.run(global_variables_initializer());
            CHECK(t.is(b.run(s, b.z, t.x), t.value.v));
            CHECK(t.is(b.run(s, unrolled, t.x), t.value.v));
        }
        const double e = 1e-5;
        const auto less = t.at(t.x - e), more = t.at(t.x + e);
        if (t.nearest < 1e-2 || t.largest > 1e3) return; // differences would go across an edge
        const auto [dx] = gradients(b.z, b.x);
        const auto [dxx] = gradients(dx, b.x);
        const auto [dxxx] = gradients(dxx, b.x);
        const session s;
        s.run(global_variables_initializer());
        CHECK(close(b.run(s, dxxx, t.x), (more.value.dd[0] - less.value.dd[0]) / (2 * e), 1e-5));
    });
    if (seeds::all()) CHECK(compared > of / 2);
}

TEST_CASE("random control flow: with branches and loops of primitives, raised and by frames", "[random]") {
    int primitives = 0, of = 0;
    each_program(300, drawn::with_primitives, [&](std::uint64_t, const trial& t) {
        ++of;
        if (!t.is_clear()) return;
        const built b(t.p);
        for (const auto* n : current_graph().nodes()) primitives += bool(n->op->flow());
        for (const bool raised : {true, false})
            for (const int threads : {0, 1, 3}) {
                const session s({.inter_op_threads = threads, .intra_op_threads = threads, .raise_primitives = raised});
                s.run(global_variables_initializer());
                INFO(threads << " threads, raised " << raised);
                const auto [found] = b.run(s, std::tuple(b.z, b.writes), t.x);
                CHECK(t.is(found, t.value.v));
                CHECK(t.is(s.run(b.written), t.written));
            }
    });
    if (seeds::all()) CHECK(primitives > of);
}

} // namespace test_random_control_flow
