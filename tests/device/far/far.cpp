// SPDX-License-Identifier: BSD-3-Clause
// Graphs on a device whose memory the host can't read: what they compute is what the CPU computes, bit for bit.
#include <rill/rill.hpp>
#include <rill/session/local_session_core.hpp>

#include <csignal>
#include <numeric>
#include <random>
#include <thread>

#include <sys/wait.h>

#include "../../catch.hpp"
#include "by_default.hpp"
#include "same.hpp"

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
    CHECK(same(got, wanted));
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
    far::fill({}, 16, block, 2.f);
    CHECK(here(block)[15] == 2.f);
    float on_host = 0;
    CHECK_THROWS_AS(far::fill({}, 1, &on_host, 2.f), internal);
    using numbers = update_constants<float, 1>; // neither are constants of updates and random streams the host's
    const std::array<const float*, 1> was{block};
    CHECK_THROWS_AS(far::update<detail::take_times>({}, 1, was, std::array{block}, was, numbers{&on_host}), internal);
    const random_stream stream;
    CHECK_THROWS_AS(far::random_uniform({}, 1, &stream, 0, 1, block), internal);
    the_memory().deallocate(block, 64);
}

TEST_CASE("far: a step that has failed stops later steps, not earlier ones") {
    struct site final : error_site {
        error describe(const refused_element&) const override { return internal("not here"); }
    };
    const site one, other;
    auto* const block = static_cast<std::byte*>(the_memory().allocate(128));
    auto* const record = reinterpret_cast<error_record*>(block);
    auto* const x = reinterpret_cast<float*>(block + 64);
    *here(record) = {};
    const auto step = [&](std::int32_t number) { return execution_context{.errors = record, .step = number}; };
    far::fill({}, 1, x, 1.f);
    far::check(step(5), x, 1, [](float) { return false; }, one);
    CHECK(here(record)->where == &one);
    for (const std::int32_t later : {5, 6}) {
        far::fill(step(later), 1, x, 2.f);
        CHECK(*here(x) == 1.f);
    }
    far::fill(step(4), 1, x, 3.f);
    CHECK(*here(x) == 3.f);
    far::check(step(3), x, 1, [](float v) { return v == 0.f; }, other);
    CHECK(here(record)->step == 3);
    CHECK(here(record)->where == &other);
    far::check(step(4), x, 1, [](float) { return false; }, one);
    CHECK(here(record)->where == &other);
    the_memory().deallocate(block, 128);
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

TEST_CASE("far: a device learns the limits that a session names for its memory") {
    test_far::device();
    const session_options limited{.gpu = {.memory_fraction = 0.4, .allow_growth = true}};
    session(limited).run(constant(1.f));
    CHECK(last_limits.memory_fraction == 0.4);
    CHECK(last_limits.allow_growth);
}

TEST_CASE("far: ops that are nodes") {
    on_both([] {
        placeholder<float, dyn, dyn> x("x");
        placeholder<int, dyn> ids("ids");
        tensor a(x), t = transpose(x);
        const std::tuple all(matmul(x, t), matmul(t, x), softmax(x), log_softmax(x), gather<0>(x, ids), concat<1>(x, x),
                             one_hot<7>(ids), reduce_sum<0>(x), reduce_mean(x), reduce_max<1>(x), reshape<dyn>(x),
                             cast<float>(argmax<1>(x)), expand_dims<0>(x), select(x > 0.f, x, 0.f),
                             gather_nd(x, expand_dims<1>(ids)), one_hot<7, float, 0>(ids), roll<0>(x, 2),
                             tensor_scatter_add(x, expand_dims<1>(ids), gather<0>(x, ids)),
                             unsorted_segment_max<6>(gather<0>(x, ids), ids), bincount(ids, cast<float>(ids)));
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

/// The code and the words of the error that f() ends with, the same on each device.
template <class F> std::string error_on_both(const F& f) {
    return on_both([&] {
        try {
            f();
        } catch (const error& problem) {
            return std::string(to_string(problem.code())) + ": " + problem.what();
        }
        return std::string("no error");
    });
}

TEST_CASE("far: errors in data are found there, and told in the same words") {
    const auto checks = [](const char* words, const auto& f) {
        const auto text = error_on_both(f);
        CHECK_THAT(text, contains(words) && contains("far.cpp:"));
    };
    checks("id 7 at [1] is outside [0, 2)", [] {
        placeholder<int, dyn> ids("ids");
        const auto y = gather<0>(tensor(constant({1.f, 2.f})), ids);
        session().run(y, feed(ids, {0, 7}));
    });
    checks("id -1 at [0] is outside [0, 3)", [] {
        variable<float, 3, 2> table("table", ones());
        placeholder<int, dyn> ids("ids");
        const auto step = adagrad(0.5f).minimize(reduce_sum(gather<0>(table, ids)));
        const session s;
        s.run(global_variables_initializer());
        s.run(step, feed(ids, {-1, 2}));
    });
    checks("label 3 at [1] is outside [0, 3)", [] {
        placeholder<float, 2, 3> x("x");
        placeholder<int, 2> label("label");
        session().run(sparse_softmax_cross_entropy(x, label), feed(x, matrix(2, 3, 1)), feed(label, {0, 3}));
    });
    checks("a NaN at [1]: here", [] {
        placeholder<float, 2> x("x");
        session().run(check_numerics(x, "here"), feed(x, {0.f, std::nanf("")}));
    });
    checks("the rate is 1.500000, and must lie in [0, 1)", [] {
        placeholder<float, 2> x("x");
        placeholder<float> rate("rate");
        session().run(dropout(x, rate), feed(x, {1.f, 2.f}), feed(rate, 1.5f));
    });
    checks("row 1 of the logits gives no class a probability", [] {
        placeholder<float, 2, 2> logits("logits");
        const float never = -std::numeric_limits<float>::infinity();
        const xt::xtensor<float, 2> at{{0, never}, {never, never}};
        session().run(multinomial<3>(logits), feed(logits, at));
    });
    checks("the limit 1 is reached", [] {
        variable<int> n("n", 0);
        const auto next = n.count_up_to(1);
        const session s;
        s.run(global_variables_initializer());
        s.run(next);
        s.run(next);
    });
    checks("integer division by zero", [] {
        placeholder<int, dyn> x("x");
        session().run(tensor(constant({6, 7}) / x), feed(x, {0, 2}));
    });
    checks("integer division by zero", [] {
        placeholder<int> x("x");
        session().run(tensor(7 / x), feed(x, 0));
    });
    CHECK(error_on_both([] { session().run(constant(1.f) + 1.f); }) == "no error");
}

TEST_CASE("far: of two bad nodes the one that was made first is told, whatever is fetched first") {
    for (const int threads : {1, 3})
        for (const bool swapped : {false, true}) {
            const auto text = error_on_both([&] {
                placeholder<int, dyn> ids("ids");
                const tensor three = constant({1.f, 2.f, 3.f});
                const tensor two = constant({1.f, 2.f});
                const auto first = gather<0>(three, ids), second = gather<0>(two, ids);
                const session s({.inter_op_threads = threads, .intra_op_threads = threads});
                if (swapped)
                    s.run(std::tuple(second, first), feed(ids, {9, 8}));
                else
                    s.run(std::tuple(first, second), feed(ids, {9, 8}));
            });
            CHECK_THAT(text, contains("id 9 at [0] is outside [0, 3)"));
        }
}

TEST_CASE("far: nothing is written after a bad id, there or on the host") {
    on_both([] {
        auto host = [] {
            const device_scope there("/device:cpu:0");
            return variable<float, 3>("host", {7.f, 8.f, 9.f});
        }();
        variable<float, 3> before("before", {1.f, 2.f, 3.f}), v("v", {1.f, 2.f, 3.f}), w("w", {4.f, 5.f, 6.f}),
            fresh("fresh", zeros());
        placeholder<int, dyn> ids("ids");
        const auto early = before.assign_add(v * 10.f);
        const auto add = [&] {
            const control_dependencies after(early);
            return v.scatter_add(ids, constant({10.f, 20.f}));
        }();
        const auto all = [&] {
            const control_dependencies after(add);
            const auto whole = w.assign(w * 2.f), first = fresh.assign(w + 1.f);
            const device_scope there("/device:cpu:0");
            return group(whole, first, host.assign_add(constant({1.f, 1.f, 1.f})));
        }();
        const session s;
        s.run(group(before.initializer(), v.initializer(), w.initializer(), host.initializer()));
        std::vector<std::vector<float>> got;
        const auto now = [&] {
            for (const auto* one : {&before, &v, &w, &host}) got.push_back(floats(s.run(*one)));
        };
        now(); // these runs hold the versions, so that the first write makes new ones
        for (int i = 0; i < 3; ++i) {
            CHECK_THROWS_WITH(s.run(all, feed(ids, {1, 3})), contains("id 3 at [1] is outside [0, 3)"));
            CHECK_THROWS_AS(s.run(fresh), failed_precondition);
            now();
        }
        CHECK(got[5] == got[1]);
        CHECK(got[6] == got[2]);
        CHECK(got[7] == got[3]);
        s.run(all, feed(ids, {1, 1}));
        now();
        got.push_back(floats(s.run(fresh)));
        CHECK(got.back() == std::vector{5.f, 6.f, 7.f}); // of w when the step began
        return got;
    });
}

TEST_CASE("far: a loop's body that finds a bad id, and what comes behind the loop") {
    const auto text = error_on_both([] {
        variable<int> count("count", 0);
        placeholder<int> most("most");
        const tensor table = constant({1.f, 2.f, 3.f});
        const auto sum =
            std::get<1>(while_loop([&](auto i, auto) { return i < most; },
                                   [&](auto i, auto s) { return std::tuple(i + 1, s + gather<0>(table, i)); }, 0, 0.f));
        const session s;
        s.run(global_variables_initializer());
        const auto more = [&] {
            const control_dependencies after(sum);
            return count.assign_add(1);
        }();
        s.run(more, feed(most, 3));
        CHECK_THROWS_AS(s.run(more, feed(most, 5)), invalid_argument);
        CHECK(s.run(count) == 1);
        s.run(more, feed(most, 5));
    });
    CHECK_THAT(text, contains("in iteration 3") && contains("id 3 at [] is outside [0, 3)"));
}

TEST_CASE("far: random numbers are those of the CPU") {
    on_both([] {
        placeholder<float, dyn> x("x");
        placeholder<float> rate("rate");
        const auto noise = random_normal<float, 6>() + random_uniform<float, 6>() + truncated_normal<float, 6>();
        const auto counts = random_gamma<float, 6>({.alpha = 2}) + cast<float>(random_poisson<int, 6>({.rate = 3}));
        const auto order = random_shuffle(x);
        const auto dropped = dropout(x, rate);
        const auto classes = cast<float>(multinomial<5>(reshape<1, dyn>(x)));
        const session s;
        std::vector<std::vector<float>> got;
        for (int i = 0; i < 3; ++i) {
            const auto [a, b, c, d, e] =
                s.run(std::tuple(noise, counts, order, dropped, classes), feed(x, draw(8, 3)), feed(rate, 0.5f));
            for (const auto& one : {floats(a), floats(b), floats(c), floats(d), floats(e)}) got.push_back(one);
        }
        CHECK(got[0] != got[5]);
        return got;
    });
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

TEST_CASE("far: a variable that is held is written beside its value, in its memory, and not after a bad id") {
    const by_default there("far");
    const graph g;
    const graph_scope here_too(g);
    constexpr index_t n = 2000;
    const variable<float, n> v("v", constant_initializer(1.f));
    placeholder<int, 2> ids("ids");
    const tensor row = gather(v, ids);
    const auto add = [&] {
        const control_dependencies after(row);
        return v.assign_add(1.f);
    }();
    const auto core = detail::make_local_session_core(g, {});
    core->find_run({{}, {v.initializer().node()}, {}})->run({});
    const auto step = core->find_run({{}, {add.node()}, {ids}});
    const auto run = [&](int second) {
        any_array at(dtype::int32, dims{2});
        static_cast<int*>(at.mutable_data())[0] = 0;
        static_cast<int*>(at.mutable_data())[1] = second;
        step->run(std::span(&at, 1));
    };
    const auto state = core->shared(v.node());
    const auto last = [](const auto& version) { return here(static_cast<const float*>(version->data()))[n - 1]; };
    run(1);
    const auto held = state->read();
    const auto before = the_memory().bytes_in_use();
    CHECK_THROWS_WITH(run(n), contains("is outside [0, 2000)"));
    CHECK(state->read() == held);
    CHECK(last(held) == 2.f);
    run(1);
    CHECK(last(held) == 2.f);
    CHECK(last(state->read()) == 3.f);
    CHECK(the_memory().bytes_in_use() == before + n * sizeof(float));
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

TEST_CASE("far: numbers that a step computes are read there: powers of beta, rates of schedules, fed rates") {
    on_both([] {
        variable<float, 2> a("a", {1.f, 2.f}), b("b", {3.f, 4.f}), c("c", {5.f, 6.f});
        variable<int> global_step("global_step", 0, {.trainable = false});
        placeholder<float> fed("fed");
        const auto loss = reduce_sum(square(a * b + c));
        const auto rate = exponential_decay(0.1f, tensor<int>(global_step), 2, 0.5);
        const auto by_adam = adam(rate).minimize(loss, global_step);
        const auto by_rate = momentum(fed).minimize(loss);
        const session s;
        s.run(global_variables_initializer());
        std::vector<std::vector<float>> got;
        for (int i = 0; i < 4; ++i) {
            const auto copies = [](const step_trace& t) {
                return std::count_if(t.entries.begin(), t.entries.end(), [](const auto& e) { return e.op == "Copy"; });
            };
            CHECK(copies(s.run_traced(by_adam)) == 0); // none to the host, none from it
            CHECK(copies(s.run_traced(by_rate, feed(fed, 0.01f))) ==
                  (default_device().spaces.empty() ? 0 : 1)); // the feed
            for (const auto* v : {&a, &b, &c}) got.push_back(floats(s.run(*v)));
        }
        CHECK(s.run(global_step) == 4);
        return got;
    });
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
