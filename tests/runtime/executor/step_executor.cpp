// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/step_executor.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "counting_allocator.hpp"
#include "seeds.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_runtime_step_executor {

TEST_CASE("step_executor: nodes that wait wait together, and hold no thread") {
    const graph_scope here{graph()};
    std::vector<host_result<float>> waiting;
    std::vector<std::thread> threads;
    const auto join = [&](float, host_result<float> done) {
        waiting.push_back(done);
        if (waiting.size() < 100) return;
        for (std::size_t i = 0; i < waiting.size(); ++i)
            threads.emplace_back([done = waiting[i], i] { done(static_cast<float>(i)); });
    };
    std::vector<any_tensor> all;
    for (int i = 0; i < 100; ++i) all.push_back(host_call<float>(join, constant(0.f)));
    any_tensor sum = all[0];
    for (int i = 1; i < 100; ++i) sum = sum + all[static_cast<std::size_t>(i)];
    CHECK(session().run(sum).value<float>() == 4950.f);
    for (auto& t : threads) t.join();
}

TEST_CASE("step_executor: concurrent runs of one session") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const tensor y = reduce_sum(boolean_mask(x, x > 0.f));
    const session s;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 1; i < 100; ++i)
                wrong += s.run(y, feed(x, std::vector<float>(static_cast<std::size_t>(i % 17 + t), 1.f))) !=
                         static_cast<float>(i % 17 + t);
        });
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE("step_executor: a variable that earlier lines of the step read is written where it is") {
    constexpr index_t large = 1 << 16;
    counting_allocator memory(large * sizeof(float));
    const graph g;
    const graph_scope here(g);
    variable<float, large> w("w", constant_initializer(1.f));
    const tensor read = gather(w, constant({1, 2}));
    const tensor sum = reduce_sum(boolean_mask(read, read > 0.f)); // data decides how many: another line
    const auto write = w.scatter_add(constant({0}), expand_dims<0>(sum));
    const session s(g, {.memory = &memory});
    s.run(global_variables_initializer());
    const int before = memory.blocks();
    for (int i = 0; i < 3; ++i) s.run(operation(write.node()));
    CHECK(memory.blocks() == before);
    CHECK(s.run(gather(w, constant(0))) == 1.f + 3 * 2.f);
}

TEST_CASE("step_executor: a large table that is looked up once is not held while the step waits") {
    constexpr index_t large = 1 << 14;
    counting_allocator memory(large * sizeof(float));
    const graph g;
    const graph_scope here(g);
    variable<float, large> w("w", constant_initializer(1.f));
    const operation add(w.scatter_add(constant({3}), constant({1.f})).node());
    const session* running = nullptr;
    const auto meanwhile = [&](int, host_result<int> done) { // while the step waits, another one updates the row
        running->run(add);
        done(3);
    };
    const tensor<int> id{any_tensor(host_call<int>(meanwhile, constant(0)))};
    const tensor row = gather(w, id);
    const session s(g, {.memory = &memory});
    running = &s;
    s.run(global_variables_initializer());
    s.run(row);
    const int before = memory.blocks();
    CHECK(s.run(row) == 3.f); // the version that is current when it runs
    CHECK(memory.blocks() == before);
    const auto [at_start, sum] = s.run(std::tuple(row, reduce_sum(w))); // two uses: the version of the step's start
    CHECK(at_start == 3.f);
    CHECK(sum == static_cast<float>(large) + 2.f);
    CHECK(memory.blocks() == before + 1);
    CHECK(s.run(row) == 5.f);
}

/// Passes on its input; it says of itself that it takes long. If told so, each run of it waits for one that runs at the same time.
struct long_op {
    static constexpr auto name = "Long";
    static constexpr auto no_gradient = "for tests of threads";
    bool meets = false, fails = false;
    static void fields(auto& op, auto& visit) {
        visit("meets", op.meets);
        visit("fails", op.fails);
    }
    shape_result shape(const dims& a) const { return {a}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        r.microseconds = 1000;
        return kernel([op = *this, n = r.inputs[0].shape.size()](const kernel_args& a) {
            if (op.fails) throw out_of_range("too long");
            std::copy_n(a.in<T>(0), n, a.out<T>(0));
            if (!op.meets) return;
            ++here;
            for (int k = 0; k < 20'000'000 && here % 2 != 0; ++k) std::this_thread::yield();
            met += here % 2 == 0;
        });
    }
    friend bool operator==(const long_op&, const long_op&) = default;

    inline static std::atomic<int> here = 0, met = 0;
};

template <class X> auto takes_long(const X& x, const long_op& op = {}, const std::string& name = "") {
    const tensor in(x);
    require_kernel<long_op, value_type_of<decltype(in)>>();
    using result = std::remove_const_t<decltype(in)>;
    return result(any_tensor(endpoint{detail::add_node(in.graph(), make_op(op), {in}, name), 0}));
}

TEST_CASE("step_executor: long lines that are ready at once run beside one another") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto call = [](const auto& v) { return host_call<float>([](float a) { return a + 1.f; }, v); };
    const tensor y = takes_long(call(x), {.meets = true}) * takes_long(call(x * 2.f), {.meets = true});
    const session s({.inter_op_threads = 2, .intra_op_threads = 0});
    for (const float v : {1.f, 2.f}) {
        long_op::here = long_op::met = 0;
        step_trace t;
        CHECK(s.run(y, feed(x, v), {.trace = &t}) == (v + 1.f) * (2.f * v + 1.f));
        CHECK(long_op::met == 2); // neither gave up waiting for the other
        std::vector<int> threads;
        for (const auto& e : t.entries)
            if (e.op == "Long") threads.push_back(e.thread);
        std::ranges::sort(threads);
        CHECK(threads == std::vector<int>{0, 1});
    }
}

TEST_CASE("step_executor: so do lines of several loops") {
    const graph_scope here{graph()};
    placeholder<int> x("x");
    const auto rounds = [&](const auto& begin) {
        return while_loop([](auto k) { return k < 10; },
                          [](auto k) {
                              const tensor n = host_call<int>([](int a) { return a + 1; }, k);
                              return takes_long(n * 1, {.meets = true});
                          },
                          begin);
    };
    const auto both = std::tuple(rounds(tensor(x + 0)), rounds(tensor(x * 1)));
    const session s({.inter_op_threads = 2, .intra_op_threads = 0});
    long_op::here = long_op::met = 0;
    CHECK(s.run(both, feed(x, 0)) == std::tuple(10, 10));
    CHECK(long_op::here == 20);
    CHECK(long_op::met == 20);
}

TEST_CASE("step_executor: the first error of lines beside one another wins, and names its node") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto call = [](const auto& v) { return host_call<float>([](float a) { return a; }, v); };
    const tensor good = takes_long(call(x)), bad = takes_long(call(x + 1.f), {.fails = true}, "bad");
    const auto [k, looped] = while_loop([](auto i, auto) { return i < 3; },
                                        [&](auto i, auto v) {
                                            const tensor n = call(v);
                                            return std::tuple(i + 1, takes_long(n, {.fails = true}, "inner"));
                                        },
                                        0, x);
    const session s({.inter_op_threads = 3, .intra_op_threads = 0});
    CHECK_THROWS_AS(s.run(good + bad, feed(x, 1.f)), out_of_range);
    CHECK_THROWS_WITH(s.run(good + bad, feed(x, 1.f)),
                      contains("too long") && contains("'bad'") && contains("step_executor.cpp:"));
    CHECK_THROWS_WITH(s.run(good + looped, feed(x, 1.f)),
                      contains("too long") && contains("inner'") && contains("in iteration 0"));
    CHECK(s.run(good, feed(x, 1.f)) == 1.f); // the session goes on
}

TEST_CASE("step_executor: lanes of a line, and variables that lines beside one another read and write") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const variable<float> v("v", 1.f), w("w", 1.f);
    const auto call = [](const auto& a) { return host_call<float>([](float b) { return b; }, a); };
    const tensor a = call(x), b = call(x * 2.f);
    // two long lanes behind each node
    const tensor sum_a = takes_long(a * v) + takes_long(a + w), sum_b = takes_long(b * v) + takes_long(b + w);
    const tensor v_next = v.assign_add(sum_a), w_next = w.assign_add(sum_b);
    for (const int threads : {0, 1, 3}) {
        const session s({.inter_op_threads = threads, .intra_op_threads = 0});
        s.run(group(v.initializer(), w.initializer()));
        float ev = 1.f, ew = 1.f;
        for (int i = 0; i < 20; ++i) {
            step_trace t;
            const auto got = s.run(std::tuple(v_next, w_next), feed(x, 1.f), {.trace = &t});
            const float da = ev + 1.f + ew, db = 2.f * ev + 2.f + ew;
            ev += da, ew += db;
            REQUIRE(got == std::tuple(ev, ew));
            int lanes = 0;
            for (const auto& e : t.entries) lanes += e.lane >= 0;
            REQUIRE((lanes > 0) == (threads == 3));
            if (i % 3 == 2) s.run(group(v.initializer(), w.initializer())), ev = ew = 1.f;
        }
    }
}

TEST_CASE("step_executor: under every schedule the same values, and an end", "[random]") {
    const graph_scope here{graph()};
    virtual_environment* world = nullptr;
    std::vector<environment::timer>* slow = nullptr;
    const auto later = [&](int x, host_result<int> done) {
        const auto answer = [x, done] { done(x * 10); };
        if (world->choose(4) > 0) return world->post(answer);
        slow->push_back(world->at(world->now() + std::chrono::milliseconds(world->choose(2500)), answer));
    };
    const auto asked = [&](const auto& x) { return host_call<int>(later, x); };
    const variable<int> v("v", 0);
    const fifo_queue<tensor<int>> q({.capacity = 1});
    placeholder<int> x("x");
    const tensor a = asked(x), b = asked(x + 1), c = asked(takes_long(a + b));
    const auto [rounds, total] = while_loop([](auto k, auto) { return k < 3; },
                                            [&](auto k, auto t) {
                                                const tensor n = asked(takes_long(t + k));
                                                return std::tuple(k + 1, n + q.dequeue());
                                            },
                                            0, x);
    const auto filled = while_loop([](auto k) { return k < 3; },
                                   [&](auto k) {
                                       const control_dependencies after(q.enqueue(takes_long(asked(k))));
                                       return tensor(k + 1, "next");
                                   },
                                   0);
    const auto chosen = cond(c > 50, [&] { return asked(c); }, [&] { return tensor(c + 1); });
    tensor<int> counted;
    {
        const control_dependencies after(chosen);
        counted = v.assign_add(asked(x));
    }
    seeds::each(400, [&](std::uint64_t seed) {
        seeds::draws next(seed);
        virtual_environment drawn(seed);
        std::vector<environment::timer> late;
        world = &drawn;
        slow = &late;
        const int threads = std::array{0, 1, 3}[next(3)];
        const session s({.inter_op_threads = threads,
                         .intra_op_threads = 0,
                         .progress_timeout = std::chrono::seconds(2),
                         .environment = &drawn});
        s.run(v.initializer());
        const int n = static_cast<int>(next(4));
        const cancellation_token token;
        environment::timer cancels;
        if (next(3) == 0)
            cancels = drawn.at(drawn.now() + std::chrono::milliseconds(next(40)), [token] { token.cancel(); });
        const int cc = 10 * (10 * n + 10 * (n + 1));
        int t = n;
        for (int i = 0; i < 3; ++i) t = 10 * (t + i) + 10 * i;
        try {
            const auto got = s.run(std::tuple(c, total, filled, chosen, counted), feed(x, n), {.cancel = token});
            REQUIRE(got == std::tuple(cc, t, 3, cc > 50 ? 10 * cc : cc + 1, 10 * n));
        } catch (const cancelled&) {
            REQUIRE(token.is_cancelled());
        } catch (const deadline_exceeded&) { // its world was slow
        }
        drawn.run(); // nobody listens any more
        // the session goes on, and what was waited for holds nothing up
        while (s.run(q.size()) > 0) s.run(q.dequeue());
        const int before = s.run(v);
        for (;;) try {
                const auto got = s.run(std::tuple(total, filled, counted), feed(x, n));
                REQUIRE(got == std::tuple(t, 3, before + 10 * n));
                break;
            } catch (const deadline_exceeded&) {
                drawn.run();
                while (s.run(q.size()) > 0) s.run(q.dequeue());
                if (s.run(v) != before) break; // it came that far
            }
    });
}

} // namespace test_runtime_step_executor
