// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/region/body_copy.hpp>

#include <rill/rill.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_body_copy {

/// Reads a variable, and then adds 1 to it.
auto read_and_write(const variable<float>& v, const auto& x) {
    const tensor read = v * v * x;
    const control_dependencies after(read);
    v.assign_add(1.f);
    return tensor(read * 1.f);
}

TEST_CASE("body_copy: gradients by a variable that the body writes are those of what it read before") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    variable<float> v("v", 2.f);
    const auto in_branch = cond(x > 0.f, [&] { return read_and_write(v, x); }, [&] { return tensor(v * x); });
    const auto f = function([&](auto a) { return read_and_write(v, a); });
    const auto called = f(x);
    const auto [by_branch, by_x] = gradients(in_branch, v, x);
    const auto [by_call] = gradients(called, v);
    const auto [second] = gradients(by_branch, v);
    const session s;
    const auto run = [&](const auto& t, float at) {
        s.run(v.initializer());
        return s.run(t, feed(x, at));
    };
    CHECK(run(in_branch, 3.f) == 12.f);
    CHECK(s.run(v) == 3.f);
    CHECK(run(by_branch, 3.f) == 12.f);
    CHECK(run(by_branch, -3.f) == -3.f);
    CHECK(run(by_x, 3.f) == 4.f);
    CHECK(run(second, 3.f) == 6.f);
    CHECK(run(by_call, 3.f) == 12.f);
}

TEST_CASE(
    "body_copy: gradients by what a loop writes, or by what was written, are refused, with the variable and the body") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    variable<float> v("v", 2.f), w("w", 1.f);
    const auto loop = [&] {
        return while_loop([](auto i, auto) { return i < 3; },
                          [&](auto i, auto t) { return std::tuple(i + 1, t + read_and_write(v, x) * w); }, 0, 0.f);
    };
    const auto total = std::get<1>(loop());
    CHECK_THROWS_WITH(gradients(total, v), contains("writes variable 'v'"));
    CHECK_THROWS_WITH(gradients(total, v), contains("while/body"));
    CHECK_THROWS_AS(gradients(total, v), unimplemented);
    const auto [by_x, by_w] = gradients(total, x, w); // by others it is known
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(by_x, feed(x, 5.f)) == 4.f + 9.f + 16.f);
    s.run(v.initializer());
    CHECK(s.run(by_w, feed(x, 5.f)) == 5 * (4.f + 9.f + 16.f));
    const auto written = cond(x > 0.f, [&] { return tensor(v.assign(v * 2.f) * x); }, [&] { return tensor(x * 1.f); });
    CHECK_THROWS_WITH(gradients(written, v), contains("writes variable 'v'"));
    // a loop that only counts in the variable does not depend on it
    const auto counted = while_loop([](auto i) { return i < 3.f; },
                                    [&](auto i) {
                                        v.assign_add(1.f);
                                        return i + x;
                                    },
                                    0.f);
    const auto [zero] = gradients(counted, v);
    CHECK(s.run(zero, feed(x, 1.f)) == 0.f);
}

TEST_CASE("body_copy: inner bodies may use constants made in the bodies around them") {
    const graph_scope here{graph()};
    placeholder<double> x("x");
    const auto check = [&](const auto& y, double at, double first, double second) {
        const auto [d] = gradients(y, x);
        const auto [d2] = gradients(d, x);
        const session s;
        CHECK(s.run(d, feed(x, at)) == Approx(first));
        CHECK(s.run(d2, feed(x, at)) == Approx(second).margin(1e-12));
    };
    const auto f = function([](auto a) {
        const tensor two = constant(2.);
        return cond(a > 0., [&] { return a * a * two; }, [&] { return a * 1.; });
    });
    check(f(x), 3., 12., 4.);
    check(f(x), -3., 1., 0.);
    const auto in_branch = [&] {
        const tensor three = constant(3.);
        return cond(x > 1., [&] { return x * x * three; }, [&] { return x * three; });
    };
    check(cond(x > 0., in_branch, [&] { return x * 1.; }), 2., 12., 6.);
    check(cond(x > 0., in_branch, [&] { return x * 1.; }), 0.5, 3., 0.);
    const auto powers = while_loop([](auto i, auto) { return i < 2; },
                                   [&](auto i, auto v) {
                                       const tensor half = constant(0.5);
                                       const auto inner = while_loop(
                                           [](auto k, auto) { return k < 2; },
                                           [&](auto k, auto w) { return std::tuple(k + 1, w * x * half); }, 0, v);
                                       return std::tuple(i + 1, std::get<1>(inner));
                                   },
                                   0, 1.);
    check(std::get<1>(powers), 2., 4. * 8. / 16., 12. * 4. / 16.); // (x / 2)^4
    const auto folded = cond(
        x > 0.,
        [&] {
            const tensor start = constant(1.), two = constant(2.);
            return fold([&](auto t, auto e) { return t * e * x * two; }, start, constant({1., 3.}));
        },
        [&] { return x * 1.; });
    check(folded, 2., 12. * 4., 24.); // 12 x^2
    // what a gradient taken in a body begins from is a constant of that body
    const auto slope = cond(
        x > 0.,
        [&] {
            const tensor t = x * 1.;
            const auto y = cond(t > 1., [&] { return t * t * t; }, [&] { return t * 1.; });
            const auto [d] = gradients(y, t);
            return d;
        },
        [&] { return x * 1.; });
    check(slope, 2., 12., 6.);
    check(slope, 0.5, 0., 0.);
}

} // namespace test_body_copy
