// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/stack/tensor_stack.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_tensor_stack {

TEST_CASE("tensor_stack: what came last leaves first") {
    const graph_scope here{graph()};
    const tensor_stack<float, 2> st;
    placeholder<float, 2> x("x");
    const operation push = st.push(x);
    const auto pop = st.pop();
    const session s;
    s.run(push, feed(x, {1.f, 2.f}));
    s.run(push, feed(x, {3.f, 4.f}));
    CHECK(s.run(st.size()) == 2);
    CHECK((s.run(pop) == xt::xtensor<float, 1>{3.f, 4.f}));
    CHECK((s.run(pop * 2.f) == xt::xtensor<float, 1>{2.f, 4.f}));
    CHECK(s.run(st.size()) == 0);
    CHECK_THROWS_AS(s.run(pop), failed_precondition);
    CHECK_THROWS_WITH(s.run(pop), contains("stack 'stack' is empty") && contains("node 'pop'"));
    const tensor_stack<std::string> text({.name = "text"});
    s.run(text.push(constant("a")));
    CHECK(s.run(text.pop()) == "a");
    CHECK(text.name() == "text");
}

TEST_CASE("tensor_stack: extents that are not known, in loops") {
    const graph_scope here{graph()};
    const tensor_stack<int, dyn> st;
    const auto pushed = while_loop([](auto i) { return i < 4; },
                                   [&](auto i) {
                                       st.push(boolean_mask(constant({0, 1, 2, 3}), constant({0, 1, 2, 3}) < i));
                                       return i + 1;
                                   },
                                   0);
    const auto popped = while_loop([](auto i, auto) { return i < 4; },
                                   [&](auto i, auto n) { return std::tuple(i + 1, n * 10 + size(st.pop())); }, 0, 0);
    const session s;
    s.run(pushed);
    CHECK(std::get<1>(s.run(popped)) == 3210);
}

TEST_CASE("tensor_stack: threads share one") {
    const graph_scope here{graph()};
    const tensor_stack<int> st({.shared_name = "tensor_stack_test_threads"});
    const operation push = st.push(1);
    const auto pop = st.pop();
    const session one, other;
    std::atomic<int> sum{0};
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            for (int k = 0; k < 50; ++k) {
                (t % 2 ? one : other).run(push);
                if (k % 2) sum += (t % 2 ? other : one).run(pop);
            }
        });
    for (auto& t : all) t.join();
    CHECK(sum == 100);
    CHECK(one.run(st.size()) == 100);
    session::reset();
}

TEST_CASE("tensor_stack: what can't be is refused") {
    const graph_scope here{graph()};
    CHECK_THROWS_AS((tensor_stack<float>({.capacity = 0})), invalid_argument);
    CHECK_THROWS_AS((tensor_stack<float>({.capacity = -2})), invalid_argument);
    const tensor_stack<float, 2> st({.capacity = 1});
    placeholder<float, dyn> x("x");
    const session s;
    CHECK_THROWS_WITH(s.run(st.push(x), feed(x, {1.f})), contains("[2]") && contains("[1]"));
    CHECK_THROWS_AS(s.run(st.push(any_tensor(constant({1, 2})))), invalid_argument);
    s.run(st.push(x), feed(x, {1.f, 2.f}));
    CHECK_THROWS_AS(s.run(st.push(x), feed(x, {1.f, 2.f})), resource_exhausted);
    CHECK((s.run(st.pop()) == xt::xtensor<float, 1>{1.f, 2.f}));
    const tensor_stack<float> a({.shared_name = "tensor_stack_test_types"});
    const tensor_stack<int> b({.shared_name = "tensor_stack_test_types"});
    CHECK(s.run(a.size()) == 0);
    CHECK_THROWS_WITH(s.run(b.size()), contains("float32") && contains("int32"));
    session::reset();
}

} // namespace test_ops_queue_tensor_stack
