// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/cond.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_control_cond {

static_assert(branches_agree<tensor<float, 3>, tensor<float, dyn>>);
static_assert(!branches_agree<tensor<float, 3>, tensor<float, 4>>);
static_assert(!branches_agree<tensor<float>, tensor<double>>);

TEST_CASE("cond: one of two branches, and its gradients of three orders") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto y = cond(x > 0.f, [&] { return x * x * x; }, [&] { return -x; });
    static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, tensor<float>>);
    const auto [d] = gradients(y, x);
    const auto [d2] = gradients(d, x);
    const auto [d3] = gradients(d2, x);
    const session s;
    const auto all = std::tuple(y, d, d2, d3);
    CHECK(s.run(all, feed(x, 3.f)) == std::tuple(27.f, 27.f, 18.f, 6.f));
    CHECK(s.run(all, feed(x, -3.f)) == std::tuple(3.f, -1.f, 0.f, 0.f));
}

TEST_CASE(
    "cond: gradients of gradients, where a branch not taken would have kept a value of extents that only it knows") {
    const graph_scope here{graph()};
    const placeholder<bool> p("p");
    const placeholder<float, 3> x("x");
    const tensor y = cond(
        p, [&] { return reduce_sum(x * x * x); },
        [&] {
            const tensor c = host_call<float, dyn>([](const xt::xtensor<float, 1>& a) { return a; }, x);
            return reduce_sum(c * x * x * x);
        });
    const auto [d] = gradients(y, x);
    const auto [d2] = gradients(reduce_sum(d * d), x);
    const auto [d3] = gradients(reduce_sum(d2), x);
    const session s;
    const auto all = std::tuple(d, d2, d3);
    using row = xt::xtensor<float, 1>;
    const auto is = [&](bool which) { return s.run(all, feed(x, {1.f, 2.f, -3.f}), feed(p, which)); };
    CHECK(is(true) == std::tuple(row{3, 12, 27}, row{36, 288, -972}, row{108, 432, 972}));
    CHECK(is(false) == std::tuple(row{3, 24, -81}, row{36, 1152, -8748}, row{108, 1728, 8748}));
}

TEST_CASE("cond: types of results are joined, tuples, numbers and operations come back") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    placeholder<float, dyn> v("v");
    const auto c = constant({1.f, 2.f});
    const auto joined = cond(p, [&] { return c; }, [&] { return v; });
    static_assert(std::is_same_v<std::remove_const_t<decltype(joined)>, tensor<float, dyn>>);
    const auto [a, b] = cond(p, [&] { return std::tuple(1, c + 1.f); }, [&] { return std::tuple(2, c * 2.f); });
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(b)>, tensor<float, 2>>);
    const session s;
    CHECK(s.run(joined, feed(p, true), feed(v, {5.f, 6.f}))(1) == 2.f);
    CHECK(s.run(joined, feed(p, false), feed(v, {5.f, 6.f}))(1) == 6.f);
    const auto [av, bv] = s.run(std::tuple(a, b), feed(p, false));
    CHECK(av == 2);
    CHECK(bv(1) == 4.f);
    const any_tensor untyped = any_placeholder("q", dtype::boolean, {});
    CHECK(s.run(cond(untyped, [&] { return 1.f; }, [&] { return 2.f; }), feed("q:0", true)) == 1.f);
}

TEST_CASE("cond: only the branch taken runs, with all that it does") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    variable<float> yes("yes", 0.f), no("no", 0.f);
    const operation count = cond(p, [&] { yes.assign_add(1.f); }, [&] { no.assign_add(1.f); });
    const session s;
    s.run(global_variables_initializer());
    for (const bool b : {true, true, false}) s.run(count, feed(p, b));
    CHECK(s.run(yes) == 2.f);
    CHECK(s.run(no) == 1.f);
    // a division by zero in the branch that is not taken is none
    placeholder<int> n("n");
    const auto safe = cond(not_equal(n, 0), [&] { return 10 / n; }, [] { return -1; });
    CHECK(s.run(safe, feed(n, 5)) == 2);
    CHECK(s.run(safe, feed(n, 0)) == -1);
}

TEST_CASE("cond: variables read after a branch that writes them, and before") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    variable<float> v("v", 1.f);
    const tensor before(v * 10.f, "before");
    const auto wrote = cond(p, [&] { return v.assign_add(1.f) * 1.f; }, [&] { return v * 1.f; });
    const control_dependencies after(wrote);
    const tensor behind(v * 100.f, "behind");
    const session s;
    s.run(v.initializer());
    CHECK(s.run(std::tuple(before, wrote, behind), feed(p, true)) == std::tuple(10.f, 2.f, 200.f));
    CHECK(s.run(std::tuple(before, wrote, behind), feed(p, false)) == std::tuple(20.f, 2.f, 200.f));
}

TEST_CASE("cond: what is drawn in a branch is drawn once, for its value and its gradient") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    placeholder<float> x("x");
    const auto y = cond(p, [&] { return x * random_uniform<float>({.seed = 7}); }, [&] { return x; });
    const auto [d] = gradients(y, x);
    const session s;
    for (int i = 0; i < 5; ++i) {
        const auto [yv, dv] = s.run(std::tuple(y, d), feed(p, true), feed(x, 2.f));
        CHECK(yv == 2.f * dv);
        CHECK(dv != 1.f);
    }
}

TEST_CASE("cond: errors name the node and what differs") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    placeholder<float, dyn> a("a"), b("b");
    const auto y = cond(p, [&] { return a * 1.f; }, [&] { return b * 1.f; });
    const session s;
    CHECK_THROWS_WITH(s.run(y, feed(p, true), feed(a, {1.f}), feed(b, {1.f, 2.f})),
                      contains("float32 [1] in one branch and float32 [2] in another") && contains("cond"));
    tensor<float> leaked;
    cond(p, [&] { return leaked = tensor<float>(reduce_sum(a)); }, [&] { return 0.f; });
    CHECK_THROWS_WITH(tensor(leaked + 1.f), contains("belongs to the body 'cond_1/branch0'"));
    CHECK_THROWS_WITH(s.run(leaked, feed(a, {1.f})), contains("it has values only while that runs"));
}

TEST_CASE("cond: a condition whose type only run time knows is a bool all the same") {
    const graph_scope here{graph()};
    const any_tensor number = constant(0), truth = constant(false);
    const auto one = [] { return constant(1.f); };
    CHECK_THROWS_WITH(cond(number, one, one), contains("cond: 'constant:0' is int32 [], not a bool of rank 0"));
    CHECK_THROWS_WITH(switch_case(truth, one, one), contains("is bool [], not an int32 or int64 of rank 0"));
    CHECK(session().run(switch_case(number, one, [] { return constant(2.f); })) == 1.f);
}

} // namespace test_ops_control_cond
