// SPDX-License-Identifier: BSD-3-Clause
// Graphs on a device whose memory the host can't read: what they compute is what the CPU computes, bit for bit.
#include <rill/rill.hpp>

#include <csignal>
#include <numeric>
#include <random>
#include <thread>

#include <sys/wait.h>

#include "../../catch.hpp"
#include "by_default.hpp"

using namespace rill;

static_assert(std::is_same_v<devices, device_list<cpu, far>>, "this program is compiled with RILL_MORE_DEVICES");
static_assert(device_primitives<far> && device_primitives<cpu>);

namespace test_far {

/// Calls f(), which makes a graph and a session, for each device. What it returns is the same.
template <class F> auto on_both(const F& f) {
    const auto run = [&](const char* name) {
        const by_default there(name);
        const graph g;
        const graph_scope here(g);
        return f();
    };
    const auto wanted = run("cpu");
    const auto got = run("far");
    CHECK(got == wanted);
    return got;
}

/// What a device must not be made to do.
struct peeking_op {
    static constexpr auto name = "Peeking";
    using domain_type = domains::every;
    static constexpr auto no_gradient = "a test";

    constexpr shape_result shape(const dims& x) const { return {x}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            *a.out<T>(0) = *a.in<T>(0); // on the host
        });
    }
};

/// The system refuses to read from there.
bool is_readable(const void* p) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const bool fine = write(ends[1], p, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return fine;
}

template <class X> std::vector<float> floats(const X& x) { return {x.begin(), x.end()}; }

std::vector<float> draw(std::size_t n, unsigned seed) {
    std::mt19937 r(seed);
    std::vector<float> all(n);
    for (auto& x : all) x = static_cast<float>(r() % 2001) / 1000.f - 1.f;
    return all;
}

xt::xtensor<float, 2> matrix(std::size_t rows, std::size_t columns, unsigned seed) {
    xt::xtensor<float, 2> all({rows, columns});
    const auto drawn = draw(rows * columns, seed);
    std::copy(drawn.begin(), drawn.end(), all.begin());
    return all;
}

TEST_CASE("far: its memory is read by nobody but its primitives") {
    float* const block = static_cast<float*>(the_memory().allocate(64));
    CHECK_FALSE(is_readable(block));
    CHECK(is_readable(here(block)));
    CHECK(std::isnan(*here(block)));
    far::fill(16, block, 2.f);
    CHECK(here(block)[15] == 2.f);
    float on_host = 0;
    CHECK_THROWS_AS(far::fill(1, &on_host, 2.f), internal);
    the_memory().deallocate(block, 64);
}

TEST_CASE("far: a kernel that reads it on the host ends the program") {
    const by_default there("far");
    const graph g;
    const graph_scope here(g);
    const any_tensor y = apply_node(peeking_op{}, {}, tensor(constant({1.f, 2.f})));
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        session(g, {.inter_op_threads = 1, .intra_op_threads = 1}).run(y);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
}

TEST_CASE("far: constants, elementwise ops, text") {
    const auto hello = on_both([] { return session().run(constant("Hello, dataflow")); });
    CHECK(hello == "Hello, dataflow");
    on_both([] {
        tensor a = constant({{1.f, 2.f}, {3.f, 4.f}});
        auto y = 0.5f * a * (1.f + tanh(a));
        tensor h = sigmoid(y);
        const auto [yv, hv, av] = session().run(std::tuple(y, h, a));
        return std::vector{floats(yv), floats(hv), floats(av)};
    });
}

TEST_CASE("far: nodes run there, and copies bring values") {
    const by_default there("far");
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    tensor y = square(x);
    const session s;
    const auto [value, trace] = s.run_traced(y, feed(x, {1.f, 3.f}));
    CHECK(floats(value) == std::vector{1.f, 9.f});
    CHECK(trace.entries.size() == 3); // there, the node, and back
    CHECK(the_memory().bytes_in_use() > 0);
    {
        const device_scope back("/device:cpu:0");
        tensor z = y + 1.f;
        CHECK(floats(s.run(z, feed(x, {1.f, 3.f}))) == std::vector{2.f, 10.f});
    }
}

TEST_CASE("far: ops that are nodes") {
    on_both([] {
        placeholder<float, dyn, dyn> x("x");
        placeholder<int, dyn> ids("ids");
        tensor a(x), t = transpose(x);
        const std::tuple all(matmul(x, t), matmul(t, x), softmax(x), log_softmax(x), gather<0>(x, ids), concat<1>(x, x),
                             one_hot<7>(ids), reduce_sum<0>(x), reduce_mean(x), reduce_max<1>(x), reshape<dyn>(x),
                             cast<float>(argmax<1>(x)), expand_dims<0>(x), select(x > 0.f, x, 0.f));
        const session s;
        const xt::xtensor<float, 2> value = matrix(5, 7, 3);
        const std::vector<int> chosen{4, 0, 1, 1};
        std::vector<std::vector<float>> got;
        std::apply(
            [&](const auto&... y) {
                (got.push_back([&] {
                    const auto v = s.run(y, feed(x, value), feed(ids, chosen));
                    if constexpr (std::is_arithmetic_v<std::remove_const_t<decltype(v)>>)
                        return std::vector{v};
                    else
                        return floats(v);
                }()),
                 ...);
            },
            all);
        const auto together = s.run(std::tuple_cat(all), feed(x, value), feed(ids, chosen));
        CHECK(floats(std::get<0>(together)) == got[0]);
        return got;
    });
}

TEST_CASE("far: an index outside its range is found there") {
    const by_default there("far");
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> ids("ids");
    tensor y = gather<0>(tensor(constant({1.f, 2.f})), ids);
    CHECK_THROWS_AS(session().run(y, feed(ids, {0, 2})), invalid_argument);
    tensor z = constant({6, 7}) / ids;
    CHECK_THROWS_WITH(session().run(z, feed(ids, {0, 2})), contains("integer division by zero"));
}

TEST_CASE("far: variables are kept there") {
    on_both([] {
        variable<float, 3> v("v", {1.f, 2.f, 3.f}), w("w", zeros());
        variable<float> one("one", 1.f);
        placeholder<float, 3> x("x");
        tensor set = v.assign(x * 2.f), more = v.assign_add(x), less = v.assign_sub(one * x),
               joined = w.assign(v + w * 0.5f);
        const session s;
        CHECK_THROWS_AS(s.run(v), failed_precondition);
        s.run(global_variables_initializer());
        std::vector<std::vector<float>> got;
        const auto now = [&] {
            got.push_back(floats(s.run(v)));
            got.push_back(floats(s.run(w)));
        };
        now();
        for (const tensor<float, 3>& y : {set, more, less, joined, more, joined}) {
            const auto [after, before] = s.run(std::tuple(y, v), feed(x, {1.f, -2.f, 0.25f}));
            got.push_back(floats(after));
            got.push_back(floats(before));
            now();
        }
        CHECK(s.memory_report().starts_with("variables: 28 bytes"));
        return got;
    });
}

TEST_CASE("far: variables of both memories in one step") {
    on_both([] {
        variable<float, 2> a("a", {1.f, 2.f});
        const device_scope back("/device:cpu:0");
        variable<float, 2> b("b", {3.f, 4.f});
        tensor swap_a = a.assign(b), swap_b = b.assign(a); // each reads the other at the step's start
        const session s;
        s.run(global_variables_initializer());
        std::vector<std::vector<float>> got;
        for (int i = 0; i < 3; ++i) {
            s.run(group(swap_a, swap_b));
            const auto [x, y] = s.run(std::tuple(a, b));
            got.push_back(floats(x));
            got.push_back(floats(y));
        }
        return got;
    });
}

TEST_CASE("far: a session stays where it was made") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2> v("v", {1.f, 2.f});
    tensor more = v.assign_add(v);
    const by_default now("far");
    const session s;
    s.run(global_variables_initializer());
    const by_default later("cpu");
    CHECK(floats(s.run(more)) == std::vector{2.f, 4.f});
    const session other;
    CHECK_THROWS_AS(other.run(v), failed_precondition); // has variables of its own
    other.run(global_variables_initializer());
    CHECK(floats(other.run(more)) == std::vector{2.f, 4.f});
    CHECK(floats(s.run(v)) == std::vector{2.f, 4.f});
}

TEST_CASE("far: what the host reads is brought once a step") {
    const by_default there("far");
    const graph g;
    const graph_scope here(g);
    variable<float, 2> a("a", {1.f, 2.f}), b("b", {3.f, 4.f}), c("c", {5.f, 6.f});
    auto loss = reduce_sum(square(a * b + c));
    auto step = adam({.learning_rate = 0.1}).minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    const auto trace = s.run_traced(step);
    CHECK(std::count_if(trace.entries.begin(), trace.entries.end(), [](const auto& e) { return e.op == "Copy"; }) == 2);
}

TEST_CASE("far: several steps at once share its variables") {
    const by_default there("far");
    const graph g;
    const graph_scope here(g);
    variable<double, 4> v("v", zeros());
    placeholder<double, 4> x("x");
    tensor more = v.assign_add(x);
    const session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(operation(more.node()), x);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            const xt::xtensor<double, 1> ones{1, 1, 1, 1};
            for (int i = 0; i < 200; ++i) {
                step(ones);
                const auto now = s.run(v); // one whole version
                if (now(0) != now(3)) std::abort();
            }
        });
    for (auto& t : all) t.join();
    CHECK(s.run(v)(2) == 800);
}

TEST_CASE("far: gradients, and a classifier that is trained") {
    const auto train = [](const auto& optimizer, int threads) {
        return on_both([&] {
            placeholder<float, dyn, 4> x("x");
            placeholder<int, dyn> label("label");
            auto hidden = relu(dense<4, 10>("one", x));
            auto more = tanh(dense<10, 10>("two", hidden));
            auto logits = dense<10, 3>("three", more);
            auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
            auto right = reduce_mean(cast<float>(equal(argmax<1>(logits), label)));
            auto [dx] = gradients(loss, x);
            auto step = optimizer.minimize(loss);
            const session s({.inter_op_threads = threads, .intra_op_threads = threads});
            s.run(global_variables_initializer());
            const xt::xtensor<float, 2> xs = matrix(20, 4, 5);
            std::vector<int> labels(20);
            for (std::size_t i = 0; i < 20; ++i) labels[i] = xs(i, 0) > 0.2f ? 2 : xs(i, 1) > 0 ? 1 : 0;
            const auto run = s.make_callable(std::tuple(loss, dx, step, right), x, label);
            std::vector<float> got;
            for (int i = 0; i < 50; ++i) {
                const auto [l, d, r] = run(xs, labels);
                got.push_back(l);
                got.push_back(r);
                const auto slope = floats(d);
                got.insert(got.end(), slope.begin(), slope.end());
            }
            CHECK(got[got.size() - 82] < got[0]);
            return got;
        });
    };
    train(gradient_descent(0.5f), 1);
    train(gradient_descent(0.5f), 3);
    train(adam({.learning_rate = 0.05}), 1);
    train(adam({.learning_rate = 0.05}), 3);
}

TEST_CASE("far: an embedding that is trained by rows") {
    on_both([] {
        placeholder<int, dyn> ids("ids");
        variable<float, 6, 3> table("table", glorot_uniform());
        auto loss = reduce_mean(square(gather<0>(table, ids) - 0.5f));
        auto step = gradient_descent(0.5f).minimize(loss);
        const session s;
        s.run(global_variables_initializer());
        std::vector<float> got;
        for (int i = 0; i < 5; ++i) got.push_back(std::get<0>(s.run(std::tuple(loss, step), feed(ids, {1, 5, 1}))));
        const auto rows = floats(s.run(table));
        got.insert(got.end(), rows.begin(), rows.end());
        return got;
    });
}

TEST_CASE("far: without a session in sight") {
    on_both([] { return floats(evaluate(2.f * constant({1.f, 2.f}) + 1.f)); });
    on_both([] {
        auto f = value_and_grad([](auto w, auto x) { return reduce_sum(square(w * x)); });
        const xt::xtensor<float, 1> w{1.f, 2.f}, x{3.f, 4.f};
        const auto [value, dw] = f(w, x);
        return std::pair(value, floats(dw));
    });
}

} // namespace test_far
