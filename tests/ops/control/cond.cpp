// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/cond.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
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
    const auto [one, more] =
        cond(p, [&] { return std::tuple(1, std::tuple(c, 2.f)); }, [&] { return std::tuple(3, std::tuple(v, 4.f)); });
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(more)>, std::tuple<tensor<float, dyn>, tensor<float>>>);
    CHECK(session().run(std::tuple(one, std::get<1>(more)), feed(p, false), feed(v, {0.f})) == std::tuple(3, 4.f));
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

TEST_CASE("cond: branches of other extents, which only the run knows") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    placeholder<double, dyn> a("a"), b("b");
    const tensor y = cond(p, [&] { return a * a; }, [&] { return b * 3.; });
    const tensor loss = reduce_sum(square(y));
    const auto [da, db] = gradients(loss, a, b);
    const session s;
    using list = xt::xtensor<double, 1>;
    const list one{2.}, two{1., 2.};
    const auto run = [&](const auto& t, bool first, const list& at_a, const list& at_b) {
        return s.run(t, feed(p, first), feed(a, at_a), feed(b, at_b));
    };
    CHECK(run(y, true, one, one)(0) == 4.); // of one extent, as a straight line
    CHECK((run(y, true, one, two) == list{4.}));
    CHECK((run(y, false, one, two) == list{3., 6.}));
    CHECK(run(loss, false, one, two) == 45.);
    CHECK((run(da, true, one, two) == list{32.}));
    CHECK((run(db, true, one, two) == list{0., 0.}));
    CHECK((run(da, false, one, two) == list{0.}));
    CHECK((run(db, false, one, two) == list{18., 36.}));
    const auto call = s.make_callable(std::tuple(loss, da), p, a, b);
    CHECK(std::get<0>(call(true, one, one)) == 16.);
    CHECK(std::get<0>(call(false, one, two)) == 45.);
    CHECK(std::get<0>(call(false, one, one)) == 36.);

    // once it is in pieces, branches that agree and others, in turns (memory of one is not that of the other)
    const list three{1., 2., 3.};
    for (int i = 0; i < 20; ++i) {
        CHECK((run(y, false, one, one) == list{6.}));
        CHECK((run(y, false, three, one) == list{6.}));
        CHECK((run(y, true, three, three) == list{1., 4., 9.}));
        CHECK((run(y, true, three, one) == list{1., 4., 9.}));
        CHECK((run(da, true, two, one) == list{4., 32.}));
        CHECK((run(da, true, two, two) == list{4., 32.}));
    }

    // of other ranks, where types don't show them
    const any_tensor flat = a, deep = expand_dims<0>(b);
    const any_tensor either = cond(p, [&] { return flat; }, [&] { return deep; });
    CHECK(!either.static_shape().known_rank());
    CHECK(run(either, true, one, two).shape() == dims{1});
    CHECK(run(either, false, one, two).shape() == dims{1, 2});
    // within other bodies
    const auto f = function([&](auto q) {
        return cond(
            reduce_sum(q) > 0., [&] { return reduce_sum(cond(p, [&] { return q * 1.; }, [&] { return b * 1.; })); },
            [&] { return 0. * reduce_sum(q); });
    });
    CHECK(run(f(a), true, one, one) == 2.);
    CHECK(run(f(a), false, one, two) == 3.);
    CHECK(run(f(a), true, one, two) == 2.);
    const auto sums =
        map([&](auto x) { return reduce_sum(cond(x > 1.5, [&] { return a * x; }, [&] { return b * x; })); },
            constant({1., 2.}));
    CHECK((run(sums, true, two, two) == list{3., 6.}));
    CHECK((run(sums, true, one, two) == list{3., 4.}));
    // what it does is done once
    variable<double> count("count", 0.);
    const auto counted = cond(p, [&] { return count.assign_add(1.) * a; }, [&] { return b * 1.; });
    s.run(count.initializer());
    run(counted, true, one, two);
    run(counted, false, one, two);
    CHECK(s.run(count) == 1.);
}

TEST_CASE("cond: a branch that is not taken need not fit what came") {
    const graph_scope here{graph()};
    placeholder<float, dyn> a("a"), b("b");
    const auto y = cond(equal(size(a), size(b)), [&] { return reduce_sum(a * b); }, [&] { return reduce_sum(a); });
    const session s;
    CHECK(s.run(y, feed(a, {1.f, 2.f}), feed(b, {3.f, 4.f})) == 11.f);
    CHECK(s.run(y, feed(a, {1.f, 2.f}), feed(b, {3.f, 4.f, 5.f})) == 3.f);
    const auto wrong = cond(equal(size(a), size(b)), [&] { return reduce_sum(a); }, [&] { return reduce_sum(a * b); });
    CHECK_THROWS_WITH(s.run(wrong, feed(a, {1.f, 2.f}), feed(b, {3.f, 4.f, 5.f})),
                      contains("cond") && contains("float32 [2]") && contains("float32 [3]"));
}

TEST_CASE("cond: errors name the node and what differs") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    placeholder<float, dyn> a("a");
    const session s;
    const any_tensor number = constant(1), real = a;
    CHECK_THROWS_WITH(cond(
                          p, [&] { return number; }, [&] { return real; }),
                      contains("value 0 is int32 [] in one branch and float32 [?] in another") && contains("cond"));
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
    const auto loose = any_placeholder("loose", dtype::boolean, dims::unknown());
    const auto y = cond(loose, one, one);
    CHECK_THROWS_WITH(session().run(y, feed(loose, xt::xtensor<bool, 1>{true, false})),
                      contains("cond: the branch index must have rank 0, and has rank 1"));
}

} // namespace test_ops_control_cond
