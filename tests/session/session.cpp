// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/session.hpp>

#include <rill/core/log.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/array/where.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_session {

/// Passes its input on, unless it is negative.
struct guard_op {
    static constexpr auto name = "Guard";
    static constexpr auto no_gradient = "for tests of errors";
    static constexpr bool stateful = true;
    shape_result shape(const dims& a) const { return {a}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            if (*a.in<T>(0) < 0) throw out_of_range("a negative number");
            *a.out<T>(0) = *a.in<T>(0);
        });
    }
    friend bool operator==(const guard_op&, const guard_op&) = default;
};

inline tensor<float> guard(const tensor<float>& x) {
    require_kernel<guard_op, float>();
    return tensor<float>(any_tensor(endpoint{detail::add_node(x.graph(), make_op(guard_op{}), {x}), 0}));
}

struct fixture {
    graph g;
    graph_scope here{g};
    session s{g};
};

template <class T> T sample(int i) { return static_cast<T>(i); }
template <> inline bool sample<bool>(int i) { return i % 2 == 0; }
template <> inline std::string sample<std::string>(int i) { return std::string(static_cast<std::size_t>(i * 20), 'x'); }
template <> inline std::complex<float> sample<std::complex<float>>(int i) { return {static_cast<float>(i), -0.5f}; }
template <> inline std::complex<double> sample<std::complex<double>>(int i) { return {static_cast<double>(i), -0.5}; }
template <> inline half sample<half>(int i) { return half(0.5f * static_cast<float>(i)); }
template <> inline bfloat16 sample<bfloat16>(int i) { return bfloat16(0.5f * static_cast<float>(i)); }
template <> inline qint8 sample<qint8>(int i) { return {static_cast<std::int8_t>(-i)}; }
template <> inline quint8 sample<quint8>(int i) { return {static_cast<std::uint8_t>(200 + i)}; }
template <> inline qint32 sample<qint32>(int i) { return {-100000 * i}; }

} // namespace test_session

using test_session_fixture = test_session::fixture;

// ---- what runs -----------------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(test_session_fixture, "session: what no fetch needs does not run") {
    const placeholder<float> x("x"), unfed("unfed");
    const variable<float> w("w", 1.f);
    const tensor a(exp(x), "a"), b(a + 1.f, "b"), other(square(unfed), "other");
    const auto update = w.assign(a);
    s.run(global_variables_initializer());
    const auto [value, trace] = s.run_traced(b, feed(x, 0.f));
    CHECK(value == 2.f);
    CHECK(trace.entries.size() == 2);
    CHECK(trace.position("a") == 0);
    CHECK(trace.position("b") == 1);
    CHECK(trace.position("other") == -1);
    CHECK(trace.entries[0].op == "Exp");
    CHECK(trace.entries[0].begin <= trace.entries[0].end);
    CHECK(trace.entries[1].begin == trace.entries[0].begin); // one fusion group, and so one time
    CHECK(s.run(w) == 1.f);                                  // and the assign, whose value was there, was not asked for
    CHECK(s.run(std::tuple(b, update), feed(x, 0.f)) == std::tuple(2.f, 1.f));
}

TEST_CASE_METHOD(test_session_fixture, "session: feeding an inner edge cuts off what is before it") {
    const placeholder<float> x("x"), y("y");
    const tensor a(exp(x), "a"), b(a * y, "b"), c(b + a, "c");
    const auto [value, trace] = s.run_traced(c, feed(a, 3.f), feed(y, 2.f)); // x is not needed
    CHECK(value == 9.f);
    CHECK(trace.position("a") == -1);
    CHECK(s.run(c, feed(b, 1.f), feed(x, 0.f)) == 2.f); // b is fed, a is not
    CHECK(s.run(std::tuple(a, c), feed(a, 3.f), feed(b, 1.f)) == std::tuple(3.f, 4.f));
    CHECK(s.run(c, feed("a", 3.f), feed("b:0", 1.f)) == 4.f);
    CHECK_THROWS_WITH(s.run(c, feed(b, 1.f)), contains("'x'"));
}

TEST_CASE_METHOD(test_session_fixture, "session: a variable can be fed, its value stays") {
    const variable<float> w("w", 1.f);
    s.run(global_variables_initializer());
    CHECK(s.run(w + 1.f, feed(w, 10.f)) == 11.f);
    CHECK(s.run(w) == 1.f);
    CHECK_THROWS_AS(s.run(w.assign_add(1.f), feed(w, 10.f)), invalid_argument); // nothing to write to
}

TEST_CASE_METHOD(test_session_fixture, "session: fetched by handle, expression, name and lists of them") {
    const placeholder<float, dyn> x("x");
    const name_scope layer("layer");
    const tensor y(x * 2.f, "y");
    const std::vector<float> in{1, 2};
    const feed_value fed = feed(x, in);
    CHECK(s.run(y, fed)(1) == 4.f);
    CHECK(s.run(y + x, fed)(1) == 6.f);
    CHECK(s.run(fetch("layer/y:0"), fed).elements<float>()[1] == 4.f);
    CHECK(s.run(fetch("layer/y"), feed("x", in)).shape() == dims{2});
    CHECK(s.run(std::vector<any_tensor>{y, x}, fed).at(1).elements<float>()[1] == 2.f);
    CHECK(s.run(std::tuple(y, y), std::vector<feed_value>{fed}) ==
          std::tuple(xt::xtensor<float, 1>{2, 4}, xt::xtensor<float, 1>{2, 4}));
    CHECK(s.run(constant("text")) == "text");
    CHECK(s.run(std::tuple()) == std::tuple());
    CHECK_THROWS_AS(s.run(fetch("layer/z"), fed), not_found);
    CHECK_THROWS_WITH(s.run(fetch("layer/z"), fed), contains("'layer/y'"));
    CHECK_THROWS_AS(s.run(y, feed("xx", in)), not_found);
    CHECK_THROWS_WITH(s.run(y, feed("x", std::vector<int>{1})), contains("'x:0'") && contains("int32 [1]"));
}

TEST_CASE_METHOD(test_session_fixture, "session: asking again for an expression adds no nodes") {
    const placeholder<float> x("x");
    s.run(exp(x) + 1.f, feed(x, 1.f));
    const auto size = g.size();
    for (int i = 0; i < 5; ++i) s.run(exp(x) + 1.f, feed(x, 1.f));
    CHECK(g.size() == size);
}

TEST_CASE_METHOD(test_session_fixture, "session: control dependencies run with what waits for them") {
    const variable<int> count("count", 0);
    s.run(global_variables_initializer());
    const tensor x = constant(5);
    const auto add = count.assign_add(1);
    const auto counted = [&] {
        const control_dependencies after(add);
        return identity(x);
    }();
    CHECK(s.run(counted) == 5);
    CHECK(s.run(counted + 1) == 6);
    CHECK(s.run(x) == 5);
    CHECK(s.run(count) == 2);
}

// ---- shapes --------------------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(test_session_fixture, "session: shapes may change from run to run, and come back") {
    const placeholder<float, dyn, dyn> x("x");
    const placeholder<float, dyn> y("y");
    const tensor z(x + y, "z");
    for (int round = 0; round < 2; ++round)
        for (const std::size_t n : {1u, 3u, 70u, 0u}) {
            const xt::xtensor<float, 2> a({2, n}, 1.f);
            const xt::xtensor<float, 1> b({n}, 2.f);
            const auto v = s.run(z, feed(x, a), feed(y, b));
            CHECK(v.shape(0) == 2);
            CHECK(v.shape(1) == n);
            CHECK(std::all_of(v.begin(), v.end(), [](float e) { return e == 3.f; }));
        }
    CHECK_THROWS_AS(s.run(z, feed(x, {{1.f, 2.f}}), feed(y, {1.f, 2.f, 3.f})), invalid_argument);
    CHECK_THROWS_WITH(s.run(z, feed(x, {{1.f, 2.f}}), feed(y, {1.f, 2.f, 3.f})),
                      contains("'z'") && contains("[1, 2]") && contains("[3]") && contains("session.cpp:"));
    CHECK(s.run(z, feed(x, {{1.f, 2.f}}), feed(y, {1.f}))(0, 1) == 3.f);
}

TEST_CASE_METHOD(test_session_fixture, "session: a placeholder of unknown rank takes a number, then a matrix") {
    const any_tensor x = any_placeholder("x", dtype::float32);
    const any_tensor y = x * 2.f + 1.f;
    CHECK(y.static_shape() == dims::unknown());
    const auto scalar = s.run(y, feed(x, 3.f));
    CHECK(scalar.shape() == dims{});
    CHECK(scalar.value<float>() == 7.f);
    const auto matrix = s.run(y, feed(x, xt::xtensor<float, 2>{{1, 2, 3}}));
    CHECK(matrix.shape() == dims{1, 3});
    CHECK(matrix.elements<float>()[2] == 7.f);
    CHECK(s.run(reduce_sum(x), feed(x, xt::xtensor<float, 2>{{1, 2, 3}})).value<float>() == 6.f);
}

// ---- callables -----------------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(test_session_fixture, "session: a callable brings values to a prepared run") {
    const placeholder<float, dyn> x("x");
    const placeholder<float> y("y");
    const variable<int> count("count", 0);
    const operation step(count.assign_add(1).node());
    s.run(global_variables_initializer());
    const auto f = s.make_callable(std::tuple(x * y, step, reduce_sum(x)), x, y);
    const auto [product, sum] = f(std::vector<float>{1, 2}, 10);
    CHECK(product(1) == 20.f);
    CHECK(sum == 3.f);
    CHECK(std::get<1>(f(xt::xtensor<float, 1>{1, 2, 3}, 10.f)) == 6.f); // another shape
    CHECK(s.run(count) == 2);
    CHECK_THROWS_AS(f(xt::xtensor<float, 2>{{1, 2}}, 1.f), invalid_argument);
    const auto nothing = s.make_callable(step);
    STATIC_REQUIRE(std::is_same_v<decltype(nothing()), std::tuple<>>);
    nothing();
    CHECK(s.run(count) == 3);
    const any_tensor any = any_placeholder("any", dtype::float32);
    const auto g1 = s.make_callable(any + 1.f, any);
    CHECK(std::get<0>(g1(1.f)).value<float>() == 2.f);
    CHECK_THROWS_AS(g1(1.0), invalid_argument);
    CHECK_THROWS_WITH(s.make_callable(x * y, x), contains("'y'")); // when it is made, not when it is called
}

TEST_CASE_METHOD(test_session_fixture, "session: a callable lends its numbers, and what a step keeps is a copy") {
    const placeholder<float> x("x");
    const variable<float> w("w", 0.f);
    s.run(global_variables_initializer());
    const fifo_queue<tensor<float>> q;
    const auto keep = s.make_callable(std::tuple(w.assign(x), q.enqueue(x)), x);
    for (const int i : {1, 2, 3}) keep(i);
    CHECK(s.run(w) == 3.f);
    for (const float i : {1.f, 2.f, 3.f}) CHECK(s.run(q.dequeue()) == i);
}

TEST_CASE("session: a callable keeps graph and plan alive, and is cancelled when its session closes") {
    auto made = [] {
        const graph g;
        const graph_scope here(g);
        const placeholder<float> x("x");
        auto s = std::make_unique<session>(g);
        auto f = s->make_callable(x + 1.f, x);
        return std::pair(std::move(s), std::move(f));
    }();
    CHECK(std::get<0>(made.second(1.f)) == 2.f);
    made.first.reset();
    CHECK_THROWS_AS(made.second(1.f), cancelled);
}

// ---- errors --------------------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(test_session_fixture, "session: an uninitialised variable is named, and what does not need it runs") {
    const variable<float> w("layer_weight", 1.f), v("v", 2.f);
    CHECK_THROWS_AS(s.run(w + 1.f), failed_precondition);
    CHECK_THROWS_WITH(s.run(w), contains("'layer_weight'") && contains("uninitialized") && contains("session.cpp:"));
    CHECK_THROWS_WITH(s.run(w.assign_add(1.f)), contains("'layer_weight'"));
    s.run(v.initializer());
    CHECK(s.run(v) == 2.f);
    CHECK_THROWS_AS(s.run(w * v), failed_precondition);
    CHECK(s.run(w.assign(3.f)) == 3.f); // gives it its value
    CHECK(s.run(w * v) == 6.f);
    const variable<float> later("later", 0.f); // made after the others were initialised
    CHECK_THROWS_WITH(s.run(later), contains("'later'"));
}

TEST_CASE_METHOD(test_session_fixture, "session: graphs do not mix") {
    const placeholder<float> x("mine");
    const graph other;
    const graph_scope there(other);
    const placeholder<float> y("theirs");
    CHECK_THROWS_AS(s.run(y, feed(y, 1.f)), invalid_argument);
    CHECK_THROWS_WITH(s.run(y, feed(y, 1.f)), contains("'theirs'") && contains("another graph"));
    CHECK_THROWS_AS(s.run(x + y, feed(x, 1.f), feed(y, 1.f)), invalid_argument);
    CHECK_THROWS_WITH(s.run(x + y, feed(x, 1.f), feed(y, 1.f)), contains("'theirs'") && contains("another graph"));
    CHECK_THROWS_AS(s.run(x, feed(x, 1.f), feed(y, 1.f)), invalid_argument);
    CHECK_THROWS_AS(s.run(global_variables_initializer()), invalid_argument); // of the other graph
    CHECK(s.run(x, feed(x, 1.f)) == 1.f);
}

TEST_CASE_METHOD(test_session_fixture, "session: null handles are refused") {
    CHECK_THROWS_AS(s.run(tensor<float>()), failed_precondition);
    CHECK_THROWS_AS(s.run(any_tensor()), failed_precondition);
    CHECK_THROWS_AS(s.run(operation()), failed_precondition);
    CHECK_THROWS_AS(s.run(tensor<float>() + 1.f), failed_precondition);
    CHECK_THROWS_AS(s.run(std::vector<any_tensor>(2)), failed_precondition);
    const placeholder<float> x("x");
    CHECK_THROWS_AS(s.make_callable(x + 1.f, tensor<float>()), failed_precondition);
    const any_tensor null;
    CHECK_THROWS_WITH(s.run(std::tuple(x, null, x), feed(x, 1.f)),
                      contains("run: fetch 2 of 3 is a null handle beside 'x' (made at ") && contains("session.cpp:"));
    CHECK_THROWS_WITH(s.run(std::tuple(operation(), x), feed(x, 1.f)),
                      contains("run: operation 1 of 1 is a null handle beside 'x' (made at "));
    CHECK_THROWS_WITH(s.make_callable(x, null), contains("run: feed 1 of 1 is a null handle beside 'x' (made at "));
    const session other;
    const auto line = "session.cpp:" + std::to_string(__LINE__ - 1);
    CHECK_THROWS_WITH(other.run(null), contains("run: fetch 1 of 1 is a null handle (the session was opened at ") &&
                                           contains(line));
    CHECK_THROWS_WITH(session(session_options{}).run(operation()), contains("operation 1 of 1 is a null handle (the"));
}

TEST_CASE_METHOD(test_session_fixture,
                 "session: a failed run leaves variables as before the failing op, and the session usable") {
    const variable<float> before("before", 0.f), after("after", 0.f), apart("apart", 0.f);
    const placeholder<float> x("x");
    s.run(global_variables_initializer());
    const auto first = before.assign_add(1.f);
    const auto guarded = [&] {
        const control_dependencies wait(first);
        return test_session::guard(x);
    }();
    const auto second = after.assign(guarded);
    CHECK_THROWS_AS(s.run(second, feed(x, -1.f)), out_of_range);
    CHECK_THROWS_WITH(s.run(second, feed(x, -1.f)),
                      contains("guard") && contains("a negative number") && contains("session.cpp:"));
    CHECK(s.run(std::tuple(before, after, apart)) == std::tuple(2.f, 0.f, 0.f));
    CHECK(s.run(second, feed(x, 5.f)) == 5.f);
    CHECK(s.run(std::tuple(before, after, apart)) == std::tuple(3.f, 5.f, 0.f));
    const auto f = s.make_callable(second, x);
    CHECK_THROWS_AS(f(-1.f), out_of_range);
    CHECK(f(6.f) == std::tuple(6.f));
}

TEST_CASE("session: a limit of memory is resource_exhausted, and smaller runs go on") {
    tracked_allocator memory(100'000);
    {
        const graph g;
        const graph_scope here(g);
        const placeholder<float, dyn> x("x");
        const variable<float, 100> w("w", constant(std::vector<float>(100)));
        const tensor y = exp(x);
        const tensor sum = reduce_sum(y + reduce_sum(y));
        const session s(g, {.memory = &memory});
        s.run(global_variables_initializer());
        CHECK(memory.bytes_in_use() >= 400);
        const std::vector<float> big(50'000), small(100);
        CHECK_THROWS_AS(s.run(sum, feed(x, big)), resource_exhausted);
        CHECK(s.run(sum, feed(x, small)) == 100.f + 100 * 100.f);
        CHECK_THROWS_AS(s.run(sum, feed(x, big)), resource_exhausted);
        CHECK(s.run(sum, feed(x, small)) == 100.f + 100 * 100.f);
    }
    CHECK(memory.bytes_in_use() == 0);
    CHECK(memory.peak_bytes() > 400);
}

TEST_CASE_METHOD(test_session_fixture, "session: after close every run is cancelled") {
    const placeholder<float> x("x");
    CHECK(s.run(x, feed(x, 1.f)) == 1.f);
    s.close();
    CHECK_THROWS_AS(s.run(x, feed(x, 1.f)), cancelled);
    CHECK_THROWS_WITH(s.run(x, feed(x, 1.f)), contains("the session is closed (at session.cpp:") &&
                                                  contains("asked for 'x' (made at session.cpp:"));
    CHECK_THROWS_AS(s.run(constant(1)), cancelled);
    CHECK_THROWS_AS(s.make_callable(x, x), cancelled);
    s.close(); // again is fine
    const session again(g);
    CHECK(again.run(x, feed(x, 1.f)) == 1.f);
}

// ---- sessions and graphs -------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(test_session_fixture, "session: sessions on one graph have variables of their own") {
    const variable<float> w("w", 1.f);
    const auto add = w.assign_add(1.f);
    const operation init = global_variables_initializer();
    const session other(g);
    s.run(init);
    s.run(add);
    CHECK_THROWS_AS(other.run(w), failed_precondition);
    other.run(init);
    CHECK(other.run(w) == 1.f);
    CHECK(s.run(w) == 2.f);
    s.close();
    CHECK(other.run(add) == 2.f);
}

TEST_CASE("session: the memory of a step is reported, and near the least possible") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 8> x("x");
    variable<float, 8, 8> w("w", zeros());
    const tensor h(tanh(matmul(x, w)), "h");
    const tensor y(0.5f * reduce_sum(square(matmul(h, transpose(w)))), "y");
    const session s(g);
    CHECK(s.memory_report() == "variables: 0 bytes\n");
    s.run(global_variables_initializer());
    s.run(y, feed(x, std::vector<float>(80, 1.f)));
    const std::string text = s.memory_report();
    INFO(text);
    CHECK_THAT(text, contains("variables: 256 bytes\n"));
    CHECK_THAT(text, contains("y: "));
    CHECK_THAT(text, contains(" in 1 frames"));
    const auto at = text.find("bytes a step, ", text.find("y: "));
    REQUIRE(at != std::string::npos);
    const double ratio = std::stod(text.substr(at + 14));
    CHECK(ratio >= 1);
    CHECK(ratio < 1.1);
}

TEST_CASE("session: the default session belongs to a scope of a thread") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float> x("x");
    const variable<float> w("w", 4.f);
    const tensor y(w * 2.f);
    CHECK_THROWS_AS(y.eval(), failed_precondition);
    CHECK_THROWS_WITH(operation(y.node()).run(), contains("session_scope"));
    const session s(g), inner(g);
    {
        const session_scope use(s);
        global_variables_initializer().run();
        CHECK(y.eval() == 8.f);
        CHECK((y + 1.f).eval() == 9.f);
        w.assign(5.f).eval();
        CHECK(tensor(x + 1.f).eval(feed(x, 2.f)) == 3.f);
        CHECK((x + w).eval(feed(x, 2.f)) == 7.f);
        operation(w.assign_add(x).node()).run(feed(x, 1.f));
        w.assign(5.f).eval();
        {
            const session_scope nested(inner);
            CHECK_THROWS_AS(w.eval(), failed_precondition); // not initialised in this one
        }
        CHECK(w.eval() == 5.f);
        bool none_elsewhere = false;
        std::thread([&] {
            try {
                y.eval();
            } catch (const failed_precondition&) {
                none_elsewhere = true;
            }
        }).join();
        CHECK(none_elsewhere);
    }
    CHECK_THROWS_AS(y.eval(), failed_precondition);
}

TEST_CASE("session: runs on the current graph unless given one") {
    const graph g;
    const graph_scope here(g);
    const session s;
    CHECK(s.graph() == g);
    reset_default_graph();
    const graph other;
    CHECK(session(other).graph() == other);
}

// ---- element types -------------------------------------------------------------------------------------------------------

TEST_CASE("session: options alone mean the current graph") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<session_options, session>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<graph, session>);
    tracked_allocator memory;
    const graph g;
    const graph_scope here(g);
    const tensor y(placeholder<float>("x") + 1.f, "y");
    const session braces({.intra_op_threads = 1});
    session_options o;
    o.inter_op_threads = 0;
    o.memory = &memory;
    const session named(o), both(g, o), with_braces(g, {.intra_op_threads = 1});
    for (const session* s : {&braces, &named, &both, &with_braces}) {
        CHECK(&s->graph().state() == &g.state());
        CHECK(s->run(y, feed("x", 1.f)) == 2.f);
    }
    CHECK(memory.bytes_in_use() > 0); // the options are used
}

TEMPLATE_TEST_CASE("session: every element type is fed, held, stored and fetched", "", float, double, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   bool, std::string, std::complex<float>, std::complex<double>, bfloat16, half, qint8, quint8,
                   qint32) {
    using T = TestType;
    using test_session::sample;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const T values[] = {sample<T>(1), sample<T>(2), sample<T>(3)};
    const auto same = [&](const auto& got) {
        return got.size() == 3 && std::equal(std::begin(values), std::end(values), got.begin());
    };
    const tensor held = identity(constant(values));
    CHECK(held.dtype() == dtype_of<T>);
    CHECK(same(s.run(held)));
    CHECK(same(s.run(constant(values))));
    CHECK(s.run(identity(constant(sample<T>(2)))) == sample<T>(2));

    const placeholder<T, dyn> x("x");
    const std::vector<T> in(std::begin(values), std::end(values));
    CHECK(same(s.run(x, feed(x, in))));
    CHECK(same(s.run(identity(x), feed(x, in))));
    CHECK(same(s.run(fetch("x"), feed("x", in)).template elements<T>()));

    const variable<T, 3> w("w", constant(values));
    s.run(global_variables_initializer());
    CHECK(same(s.run(w)));
    s.run(w.assign(constant({values[2], values[0], values[1]})));
    CHECK(s.run(w)(0) == sample<T>(3));
    CHECK(s.run(std::tuple(w, w.assign(constant(values)))) ==
          std::tuple(xt::xtensor<T, 1>{values[2], values[0], values[1]},
                     xt::xtensor<T, 1>{values[0], values[1], values[2]}));
}

TEST_CASE_METHOD(test_session_fixture, "session: complex arithmetic") {
    using complex = std::complex<float>;
    const placeholder<complex> z("z");
    CHECK(s.run(z * z + 1.f, feed(z, complex(1, 2))) == complex(-2, 4));
    CHECK(s.run(z * complex(0, 1), feed(z, complex(1, 2))) == complex(-2, 1));
    const variable<std::complex<double>> w("w", std::complex<double>(1, 1));
    s.run(global_variables_initializer());
    CHECK(s.run(w.assign_add(std::complex<double>(0, 2))) == std::complex<double>(1, 3));
}

TEST_CASE_METHOD(test_session_fixture, "session: strings, long and short") {
    const placeholder<std::string> x("x");
    const tensor y = identity(identity(x));
    CHECK(s.run(y, feed(x, "short")) == "short");
    CHECK(s.run(y, feed(x, std::string(1000, 'l'))) == std::string(1000, 'l'));
    const placeholder<std::string, dyn, dyn> m("m");
    CHECK(s.run(m, feed(m, {{"a", "b"}, {"c", "d"}}))(1, 0) == "c");
}

// ---- threads -------------------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(test_session_fixture, "session: counts are exact from many threads") {
    const variable<int> count("count", 0);
    const variable<double, 50> sum("sum", constant(std::vector<double>(50)));
    const auto add = count.assign_add(1);
    const auto add_all = sum.assign_add(1.0);
    const auto take = count.assign_sub(1);
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(add_all));
    std::atomic<int> torn{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i) {
                s.run(operation(add.node()));
                if (t == 0 && i % 2) s.run(operation(take.node()));
                const auto [seen] = step();
                const auto read = s.run(sum);
                for (std::size_t k = 1; k < 50; ++k) torn += seen(k) != seen(0) || read(k) != read(0);
            }
        });
    for (auto& t : threads) t.join();
    CHECK(torn == 0);
    CHECK(s.run(count) == 4 * 200 - 100);
    CHECK(s.run(sum)(49) == 800.0);
}

TEST_CASE_METHOD(test_session_fixture, "session: threads run one plan with values and shapes of their own") {
    const placeholder<float, dyn> x("x");
    const variable<float> w("w", 2.f);
    const tensor y = exp(x * 0.f) * w + x;
    s.run(global_variables_initializer());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 100; ++i) {
                const std::vector<float> in(static_cast<std::size_t>(1 + (t + i) % 5), static_cast<float>(t));
                const auto out = s.run(y, feed(x, in));
                wrong += out.size() != in.size();
                for (const float v : out) wrong += v != static_cast<float>(t) + 2.f;
            }
        });
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE_METHOD(test_session_fixture, "session: the graph grows while other threads run") {
    const placeholder<float> x("x");
    const tensor y(x + 1.f, "y");
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            while (!done) {
                wrong += s.run(y, feed(x, 1.f)) != 2.f;
                wrong += s.run(fetch("y"), feed("x", 2.f)).value<float>() != 3.f;
            }
        });
    tensor<float> last = y;
    for (int i = 0; i < 200; ++i) {
        last = tensor<float>(last + 1.f);
        if (i % 20 == 0) CHECK(s.run(last, feed(x, 0.f)) == static_cast<float>(i) + 2.f); // new nodes run at once
        const variable<float> v("v", static_cast<float>(i));
        s.run(v.initializer());
        wrong += s.run(v) != static_cast<float>(i);
    }
    done = true;
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE("session: closing while threads run ends them with cancelled, and nothing else") {
    const graph g;
    const graph_scope here(g);
    const variable<int> count("count", 0);
    const auto add = count.assign_add(1);
    auto s = std::make_unique<session>(g);
    s->run(global_variables_initializer());
    const auto step = s->make_callable(std::tuple(add));
    std::atomic<int> ended{0}, runs{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            try {
                for (;;) {
                    step();
                    ++runs;
                }
            } catch (const cancelled&) {
                ++ended;
            }
        });
    while (runs < 100) std::this_thread::yield();
    s->close();
    for (auto& t : threads) t.join();
    CHECK(ended == 3);
}

TEST_CASE("session: frames that wait keep no old versions of variables, but the last one of each plan") {
    tracked_allocator memory;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    constexpr int count = 20, size = 1000; // 4 kB each
    std::vector<operation> updates;
    std::optional<tensor<float>> sum;
    for (int i = 0; i < count; ++i) {
        const variable<float, size> w("w", zeros());
        updates.emplace_back(w.assign_add(1.f).node());
        const tensor<float> part(reduce_sum(w));
        sum.emplace(sum ? tensor<float>(*sum + part) : part);
    }
    const tensor<float> y(*sum + reduce_sum(x));
    const std::size_t variables = count * size * sizeof(float);
    {
        const session s(g, {.memory = &memory});
        s.run(global_variables_initializer());
        const auto step = s.make_callable(group(updates));
        const auto look = s.make_callable(y, x);
        for (int round = 0; round < 20; ++round) {
            step();
            look(
                std::vector<float>(static_cast<std::size_t>(1 + round), 0.f)); // a shape of its own: a frame of its own
        }
        CHECK(memory.bytes_in_use() < 5 * variables);
        CHECK(std::get<0>(look(std::vector<float>{0.5f})) == 20.f * count * size + 0.5f);
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("session: options stand behind any number of feeds that a call can have, and behind a vector of them") {
    const graph g;
    const graph_scope here(g);
    placeholder<float> a("a"), b("b"), c("c"), d("d"), e("e");
    const session s(g);
    const run_options long_enough{.timeout = std::chrono::hours(1)};
    const auto at = [](const auto& x) { return feed(x, 1.f); };
    CHECK(s.run(a + b, at(a), at(b), {.timeout = std::chrono::hours(1)}) == 2.f);
    CHECK(s.run(a + b + c, at(a), at(b), at(c), long_enough) == 3.f);
    CHECK(s.run(a + b + c + d, at(a), at(b), at(c), at(d), {.timeout = std::chrono::hours(1)}) == 4.f);
    CHECK(s.run(a + b + c + d + e, at(a), at(b), at(c), at(d), at(e), long_enough) == 5.f);
    CHECK(s.run(a + b + c + d + e, std::vector{at(a), at(b), at(c), at(d), at(e)}, long_enough) == 5.f);
    placeholder<float, 2> f("f");
    const std::vector<float> two{1, 2};
    CHECK(s.run(reduce_sum(f), feed(f, two), long_enough) == 3.f);
    CHECK(s.run_traced(reduce_sum(f), feed(f, two)).first == 3.f);
}

TEST_CASE("session: as many CPUs as it is told to have, in one memory") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto on = [](const char* device, const auto& make) {
        const device_scope there(device);
        return make();
    };
    const auto v = on("/cpu:1", [] { return variable<float>("v", 2.f); });
    const auto squared = on("/cpu:2", [&] { return tensor(square(x)); });
    const auto y = on("/cpu:3", [&] { return tensor(squared * v); });
    const session s({.device_count = {{"cpu", 4}}});
    s.run(global_variables_initializer());
    const auto [value, trace] = s.run_traced(y, feed(x, {1.f, 3.f}));
    CHECK(value(1) == 18.f);
    CHECK(std::none_of(trace.entries.begin(), trace.entries.end(), [](const auto& e) { return e.op == "Copy"; }));
    const session fewer({.device_count = {{"cpu", 3}}});
    CHECK_THROWS_AS(fewer.run(y, feed(x, {1.f})), invalid_argument);
    CHECK_THROWS_WITH(fewer.run(y, feed(x, {1.f})), contains("device:cpu:3'") && contains("(Mul") &&
                                                        contains("session.cpp:") && contains("task:0/device:cpu:2"));
    CHECK_THROWS_WITH(session({.device_count = {{"gpu", 1}}}), contains("'gpu'") && contains("cpu"));
    CHECK_THROWS_AS(session({.device_count = {{"cpu", 0}}}), invalid_argument);
}

TEST_CASE("session: the device of each node is logged once, loops and the nodes of their bodies included") {
    std::vector<std::string> heard;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto [n, sum] = while_loop([](auto i, auto) { return i < 3; },
                                     [&](auto i, auto t) {
                                         const name_scope named("inner");
                                         return std::tuple(i + 1, tensor(t + x, "sum"));
                                     },
                                     0, x);
    const tensor a(sum * 2.f, "a"), b(sum * 3.f, "b");
    const any_tensor sized = boolean_mask(a, a > 1.f); // runs in stages
    {
        const session s({.log_device_placement = true});
        set_log_sink([&](log_level, std::string_view text) { heard.emplace_back(text); });
        s.run(a, feed(x, {1.f, 2.f}));
        s.run(std::tuple(a, b), feed(x, {1.f, 2.f, 3.f})); // another plan
        s.run(b, feed(x, {1.f, 2.f}));
        s.run(sized, feed(x, {1.f, 2.f}));
    }
    set_log_sink({});
    const auto times = [&](const std::string& name) {
        return std::count_if(heard.begin(), heard.end(),
                             [&](const std::string& line) { return line.starts_with(name + ": ("); });
    };
    CHECK(times("a") == 1);
    CHECK(times("b") == 1);
    CHECK(times(sum.node()->name) == 1);
    CHECK(std::count_if(heard.begin(), heard.end(),
                        [](const auto& line) { return line.find("inner/sum: (") != line.npos; }) == 1);
    CHECK(std::count_if(heard.begin(), heard.end(),
                        [](const auto& line) { return line.find(": (While): ") != line.npos; }) == 1);
    std::sort(heard.begin(), heard.end());
    CHECK(std::adjacent_find(heard.begin(), heard.end()) == heard.end());
}
