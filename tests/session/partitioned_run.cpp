// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/partitioned_run.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/graph/serialization/dot.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/runtime/executor/partitioned_step.hpp>
#include <rill/runtime/plan/partitioned_plan.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"
#include "random_control_flow.hpp"
#include "random_graph.hpp"
#include "random_parts.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_partitioned_run {

using random_parts::cpus;
using random_parts::drawn_devices;
using random_parts::drawn_threads;
using random_parts::on_threads;
using random_parts::same_bits;

int differing(const std::vector<any_array>& a, const std::vector<any_array>& b) {
    int n = a.size() != b.size();
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) n += !same_bits(a[i], b[i]);
    return n;
}

/// A run that is cut, with its own state.
struct cut_run {
    session_options options;
    std::shared_ptr<detail::resource_store> resources =
        detail::make_shared<detail::resource_store>(default_allocator(), detail::step_threads{});
    std::shared_ptr<placement> where = detail::make_placement(options);
    std::unique_ptr<detail::partitioned_plan> plan;

    explicit cut_run(const detail::plan_key& key, const session_options& how = on_threads(1, true)) : options(how) {
        plan = detail::partitioned_plan::make(key, options, resources, *where);
    }

    /// Returns the fetched values, and the bytes of each edge.
    static std::pair<std::vector<any_array>, std::vector<std::size_t>> run(const detail::partitioned_plan& p,
                                                                           const std::vector<any_array>& feeds) {
        detail::partitioned_step step(p, feeds);
        step.start(detail::no_step);
        CHECK(step.drive());
        return {step.fetched(), step.exchange().bytes()};
    }
};

/// Returns the part as another program has it: saved and loaded again.
detail::part_graph loaded(const detail::part_graph& p) {
    detail::part_graph made(p);
    made.of = detail::load_graph(detail::save_graph(p.of, {.initializers = false}));
    const auto same = [&](const node* n) { return made.of.state().find(n->name); };
    for (auto* ends : {&made.feeds, &made.fetches})
        for (auto& e : *ends) e.from = same(e.from);
    for (auto& t : made.targets) t = same(t);
    return made;
}

TEST_CASE("partitioned run: random graphs, whole and cut, give the same bits, so do parts saved and loaded",
          "[random]") {
    const random_parts::equal_rounding everywhere;
    int cuts = 0;
    seeds::each(8, [&](std::uint64_t seed) {
        random_graph::random r(static_cast<random_graph::random::result_type>(seed));
        const graph g;
        const graph_scope here(g);
        const auto m = [&] {
            const device_scope on(drawn_devices(cpus(1 + seed % 4), seed));
            return random_graph::build(r);
        }();
        std::vector<feed_value> feeds;
        for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
        const auto wanted = session(g, on_threads(0, false)).run(m.values, feeds);
        for (const int threads : {0, 1, 3})
            CHECK(differing(session(g, on_threads(threads, true)).run(m.values, feeds), wanted) == 0);
        detail::plan_key key;
        for (const auto& v : m.values) key.fetches.push_back(v.end());
        for (std::size_t i = 0; i < m.feeds.size(); ++i) key.feeds.push_back(m.values[i].end());
        const cut_run cut(key);
        if (!cut.plan) return;
        ++cuts;
        std::vector<detail::part_graph> parts;
        for (const auto& p : cut.plan->parts()) parts.push_back(loaded(p.made));
        const detail::partitioned_plan again(std::move(parts), cut.plan->edges(), key.fetches.size(), cut.options,
                                             cut.resources);
        CHECK(differing(cut_run::run(again, m.feeds).first, wanted) == 0);
    });
    if (cuts == 0 && seeds::all()) FAIL("no graph was cut");
}

TEST_CASE("partitioned run: variables, queues, branches, loops and control edges as in one piece", "[random]") {
    const random_parts::equal_rounding everywhere;
    seeds::each(25, [&](std::uint64_t seed) {
        const graph g;
        const graph_scope here(g);
        const random_parts::program p(seed, drawn_devices(cpus(2 + seed % 3), seed));
        for (const bool few : {false, true}) {
            const auto wanted = p.outcomes(session(g, on_threads(0, false)), few);
            CHECK(differing(p.outcomes(session(g, on_threads(drawn_threads(seed), true)), few), wanted) == 0);
        }
    });
}

TEST_CASE("partitioned run: random control flow, with writes in bodies and gradients", "[random]") {
    using namespace test_random_control_flow;
    const random_parts::equal_rounding everywhere;
    each_program(20, drawn::all, [&](std::uint64_t seed, const trial& t) {
        if (!t.is_clear()) return;
        built b(t.p, drawn_devices(cpus(3), seed));
        const auto [dx, dw] = gradients(b.z, b.x, b.w);
        const session s(on_threads(drawn_threads(seed), true));
        s.run(global_variables_initializer());
        const auto [z] = b.run(s, std::tuple(b.z, b.writes), t.x);
        CHECK(t.is(z, t.value.v));
        const double written = s.run(b.written);
        CHECK(t.is(written, t.written));
        const session whole(on_threads(0, false));
        whole.run(global_variables_initializer());
        CHECK(std::get<0>(b.run(whole, std::tuple(b.z, b.writes), t.x)) == z);
        CHECK(whole.run(b.written) == written);
        const auto slopes = b.run(s, std::tuple(dx, dw), t.x);
        CHECK(t.is(std::get<0>(slopes), t.value.d[0]));
        CHECK(t.is(std::get<1>(slopes), t.value.d[1]));
        CHECK(b.run(whole, std::tuple(dx, dw), t.x) == slopes);
    });
}

template <class F> auto on(const std::string& device, const F& make) {
    const device_scope there(device);
    return make();
}

/// Two devices: y is computed on the second, of a value from the first.
struct two_devices {
    graph g;
    graph_scope here{g};
    placeholder<float, 100> x{"x"};
    tensor<float, 100> h = on("/cpu:0", [&] { return tensor(x * 2.f, "h"); });
    tensor<float, 100> y = on("/cpu:1", [&] { return tensor(h + 1.f, "y"); });
};

TEST_CASE("partitioned run: one pair for each value and part, and the bytes that cross") {
    const two_devices t;
    const auto z = on("/cpu:1", [&] { return tensor(t.h * 3.f, "z"); });
    const cut_run cut({.fetches = {t.y, z}, .targets = {}, .feeds = {t.x}});
    REQUIRE(cut.plan);
    any_array x(dtype::float32, dims{100});
    for (int i = 0; i < 100; ++i) static_cast<float*>(x.mutable_data())[i] = 1.f;
    const auto [values, bytes] = cut_run::run(*cut.plan, {x});
    CHECK(bytes == std::vector<std::size_t>{400});
    CHECK(values[0].elements<float>()[99] == 3.f);
}

/// Returns the bytes of each edge of a run, in rising order, and checks what it fetches against the whole run.
std::vector<std::size_t> crossing_bytes(const std::vector<any_tensor>& fetches, const std::vector<any_tensor>& inputs,
                                        const std::vector<any_array>& feeds, wire_format wire = wire_format::as_is) {
    detail::plan_key key;
    std::vector<feed_value> fed;
    for (const auto& f : fetches) key.fetches.push_back(f.end());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        key.feeds.push_back(inputs[i].end());
        fed.push_back(feed(inputs[i], feeds[i]));
    }
    auto how = on_threads(1, true);
    how.wire = wire;
    const cut_run cut(key, how);
    REQUIRE(cut.plan);
    auto [values, bytes] = cut_run::run(*cut.plan, feeds);
    if (wire == wire_format::as_is) CHECK(differing(values, session(on_threads(1, false)).run(fetches, fed)) == 0);
    std::sort(bytes.begin(), bytes.end());
    return bytes;
}

TEST_CASE("partitioned run: a value that is read for its shape only does not cross, nor what follows from types") {
    const graph_scope here{graph()};
    const placeholder<float, 1000, 8> table("table");
    const placeholder<float, dyn, 8> open("open");
    const placeholder<int, 4> ids("ids");
    const auto big = on("/cpu:0", [&] { return tensor(table * 2.f, "big"); });
    const auto grown = on("/cpu:0", [&] { return tensor(open * 2.f, "grown"); });
    const auto rows = on("/cpu:0", [&] { return tensor(gather(big, ids), "rows"); });
    const auto extents = on("/cpu:0", [&] { return tensor(shape(big)); });
    std::vector<any_tensor> fetches;
    {
        const device_scope there("/cpu:1");
        const tensor loss(reduce_sum(square(rows)) * 2.f, "loss");
        fetches = gradients({any_tensor(loss)}, {any_tensor(big)}); // dense: of the table it needs the shape
        fetches.push_back(any_tensor(tensor(ones_like(grown) * 3.f)));
        fetches.push_back(any_tensor(tensor(extents * 2)));
    }
    const auto array = [](const dims& shape) {
        any_array a(dtype::float32, shape);
        for (index_t i = 0; i < shape.size(); ++i) static_cast<float*>(a.mutable_data())[i] = static_cast<float>(i % 7);
        return a;
    };
    any_array four(dtype::int32, dims{4});
    for (int i = 0; i < 4; ++i) static_cast<int*>(four.mutable_data())[i] = 100 * i;
    const std::vector<any_array> feeds{array(dims{1000, 8}), array(dims{5, 8}), four};
    const std::vector<any_tensor> inputs{any_tensor(table), any_tensor(open), any_tensor(ids)};
    // in one message: the shape of `grown`, and the rows
    CHECK(crossing_bytes(fetches, inputs, feeds) == std::vector<std::size_t>{0, 16 + 128});
    for (const auto wire : {wire_format::bfloat16, wire_format::upper16})
        CHECK(crossing_bytes(fetches, inputs, feeds, wire) == std::vector<std::size_t>{0, 16 + 64});
}

TEST_CASE("partitioned run: a value that asks for a form crosses in it, others as the session says") {
    const graph_scope here{graph()};
    const placeholder<float, 10> x("x");
    const auto plain = on("/cpu:0", [&] { return tensor(x * 0.3f, "plain"); });
    const auto half = send_as(plain, wire_format::upper16); // beside `plain`
    const auto whole = on("/cpu:0", [&] { return send_as(tensor(x * 0.7f), wire_format::as_is); });
    std::vector<any_tensor> fetches;
    {
        const device_scope there("/cpu:1");
        for (const auto& v : {half, whole}) fetches.push_back(any_tensor(tensor(v * 2.f)));
    }
    any_array ones(dtype::float32, dims{10});
    for (int i = 0; i < 10; ++i) static_cast<float*>(ones.mutable_data())[i] = 1.f;
    const auto bytes_of = [&](wire_format wire) { return crossing_bytes(fetches, {any_tensor(x)}, {ones}, wire); };
    CHECK(bytes_of(wire_format::upper16) == std::vector<std::size_t>{20, 40});
    CHECK(bytes_of(wire_format::bfloat16) == std::vector<std::size_t>{20, 40});
    const auto [dx] = gradients(half, x);
    CHECK(session(on_threads(1, true)).run(dx, feed(any_tensor(x), ones))(0) == 0.3f);
    const auto got = session(on_threads(1, true)).run(fetches, {feed(any_tensor(x), ones)});
    CHECK(got[0].elements<float>()[0] != 0.6f); // rounded
    CHECK(got[0].elements<float>()[0] == Approx(0.6f).epsilon(0.01));
    CHECK(got[1].elements<float>()[0] == 1.4f);
    CHECK(session(on_threads(1, false)).run(fetches, {feed(any_tensor(x), ones)})[0].elements<float>()[0] == 0.6f);
    CHECK_THROWS_WITH(send_as(constant(1), wire_format::upper16), contains("float32"));
    CHECK_THROWS_WITH(send_as(plain, static_cast<wire_format>(7)), contains("wire is 7"));
}

TEST_CASE("partitioned run: the parts of a run can be looked at") {
    const two_devices t;
    const session s(t.g, on_threads(1, false));
    const auto parts = s.partition({t.y}, {t.x});
    REQUIRE(parts.size() == 2);
    CHECK_THAT(parts[0].device, contains("cpu:0"));
    CHECK(parts[0].graph.state().find("h"));
    CHECK(parts[1].graph.state().find("y"));
    CHECK(!parts[1].graph.state().find("h"));
    CHECK(parts[1].graph.state().find("_x/receive_0")->control_inputs.empty());
    CHECK(s.partition({t.h}, {t.x}).size() == 1);
    const auto devices = s.devices();
    REQUIRE(devices.size() >= 4);
    CHECK(devices[3].name == "/job:localhost/replica:0/task:0/device:CPU:3");
    CHECK(devices[0].memory == devices[3].memory);
}

TEST_CASE("partitioned run: the parts of a run are written to files that their devices name") {
    const io_test::temporary_directory folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const two_devices t;
    session s(t.g, on_threads(1, false));
    for (auto& p : s.partition({t.y}, {t.x})) write_dot(p.graph, p.device + ".dot");
    for (auto& p : s.partition({t.h}, {t.x})) write_dot(p.graph, "whole_" + p.device + ".dot"); // one part
    std::filesystem::current_path(before);
    const auto text_of = [&](const std::string& name) {
        std::ifstream file(folder / name);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    CHECK_THAT(text_of("job:localhost_replica:0_task:0_device:cpu:0.dot"), contains("digraph") && contains("_x/send_"));
    CHECK_THAT(text_of("job:localhost_replica:0_task:0_device:cpu:1.dot"), contains("_x/receive_0"));
    CHECK_THAT(text_of("whole_job:localhost_replica:0_task:0_device:cpu:0.dot"), contains("digraph"));
}

/// Three devices: the state of a loop lies on two, its counter and condition on the third.
struct loop_on_three_devices {
    graph g;
    graph_scope here{g};
    placeholder<float, 3> x{"x"};
    tensor<int> k;
    tensor<float, 3> a, b;

    loop_on_three_devices() {
        std::tie(k, a, b) = while_loop([](auto i, auto, auto) { return on("/cpu:2", [&] { return tensor(i < 4); }); },
                                       [](auto i, auto p, auto q) {
                                           const auto next = on("/cpu:2", [&] { return tensor(i + 1); });
                                           const auto sum = on("/cpu:0", [&] { return tensor(p * 0.5f + q); });
                                           return std::tuple(next, sum, on("/cpu:1", [&] { return tensor(q - p); }));
                                       },
                                       constant(0), tensor(x * 1.f), tensor(x * 2.f));
    }
};

TEST_CASE("partitioned run: a loop with nodes of three devices runs on each of them") {
    const loop_on_three_devices t;
    const std::vector<any_tensor> all{t.k, t.a, t.b};
    any_array x(dtype::float32, dims{3});
    for (int i = 0; i < 3; ++i) static_cast<float*>(x.mutable_data())[i] = 0.3f * static_cast<float>(i + 1);
    const std::vector<feed_value> fed{feed(any_tensor(t.x), x)};
    const auto wanted = session(t.g, on_threads(0, false)).run(all, fed);
    for (const int threads : {0, 1, 3})
        CHECK(differing(session(t.g, on_threads(threads, true)).run(all, fed), wanted) == 0);
    const auto parts = session(t.g, on_threads(1, false)).partition({t.k, t.a, t.b}, {t.x});
    REQUIRE(parts.size() == 3);
    for (const auto& p : parts) CHECK(p.graph.state().find("while"));
    // in each of four iterations: a vector to and fro, and in each of five decisions a bool for two parts
    const cut_run cut({.fetches = {t.k, t.a, t.b}, .targets = {}, .feeds = {t.x}});
    REQUIRE(cut.plan);
    std::vector<detail::part_graph> saved;
    for (const auto& p : cut.plan->parts()) saved.push_back(loaded(p.made));
    const detail::partitioned_plan again(std::move(saved), cut.plan->edges(), 3, cut.options, cut.resources);
    auto [values, bytes] = cut_run::run(again, {x});
    CHECK(differing(values, wanted) == 0);
    std::sort(bytes.begin(), bytes.end());
    REQUIRE(bytes.size() >= 4);
    CHECK(std::vector<std::size_t>(bytes.end() - 2, bytes.end()) == std::vector<std::size_t>{48, 48});
    CHECK(std::count(bytes.begin(), bytes.end(), std::size_t{5}) == 2);
}

TEST_CASE("partitioned run: what follows a part of a loop follows the writes before its other parts") {
    const graph_scope here{graph()};
    const variable<float> v("v", 1.f);
    const tensor start = [&] {
        const control_dependencies after(v.assign_add(1.f));
        return tensor(constant(8.f) * 1.f, "start");
    }();
    // the count lies on one device; the state, which starts after the write, on the other
    const auto [k, s] =
        while_loop([](auto i, auto) { return i < 3; },
                   [](auto i, auto t) { return std::tuple(i + 1, on("/cpu:1", [&] { return tensor(t * 0.5f); })); },
                   constant(0), start);
    const tensor seen = [&] {
        const control_dependencies after(tensor(k * 2, "twice"));
        return tensor(v * 10.f, "seen");
    }();
    for (const bool cut : {false, true}) {
        const session run(on_threads(1, cut));
        run.run(global_variables_initializer());
        const auto [got, last] = run.run(std::tuple(seen, s));
        CHECK(got == 20.f);
        CHECK(last == 1.f);
    }
}

TEST_CASE("partitioned run: a part need not have what computed a value that a body is fed") {
    const graph_scope here{graph()};
    const placeholder<float, 2, 2> x("x");
    const variable<float, 2, 2> w("w", std::vector<float>{0.5f, -1.f, 2.f, 0.25f});
    const auto next = [&](const auto& s) { return tensor(s * stop_gradient(matmul(s, w))); };
    const auto branch = cond(reduce_sum(x) > 0.f, [&] { return next(x); }, [&] { return tensor(x * 2.f); });
    const auto loop = while_loop([](auto s) { return reduce_sum(s) < 50.f; }, next, branch);
    const auto dx = on("/cpu:1", [&] { return gradients(reduce_sum(loop), x); }); // reads what the products gave, not w
    xt::xtensor<float, 2> ones = xt::ones<float>({2, 2});
    const session whole(on_threads(1, false)), cut(on_threads(1, true));
    for (const auto& s : {&whole, &cut}) s->run(global_variables_initializer());
    CHECK(cut.run(dx, feed(x, ones)) == whole.run(dx, feed(x, ones)));
}

TEST_CASE("partitioned run: a loop in a body and the one that keeps values for its gradient are one") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const auto twice = tensor(x * 2.f, "twice");
    const device_scope there("/cpu:1");
    const variable<float> count("count", 0.f);
    const auto grown = [&] {
        const auto squared = while_loop([](auto s) { return s < 10.f; },
                                        [&](auto s) {
                                            count.assign_add(1.f);
                                            return tensor(s * s);
                                        },
                                        twice);
        const auto [slope] = gradients(squared, twice);
        return tensor(squared + slope);
    };
    const auto y = cond(twice > 0.f, grown, [&] { return tensor(twice * 1.f); });
    for (const bool cut : {false, true}) {
        const session s(on_threads(1, cut));
        s.run(global_variables_initializer());
        CHECK(s.run(y, feed(x, 1.f)) == 16.f + 32.f);
        CHECK(s.run(count) == 2.f);
    }
}

TEST_CASE("partitioned run: calls of a function in one part, before and after a write") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const variable<float> v("v", 1.f);
    const auto f = function([&](auto y) { return tensor(tanh(y) * v); });
    const auto call = [&] { return on("/cpu:1", [&] { return f(x); }); };
    const auto first = call();
    const auto second = [&] {
        const control_dependencies after(v.assign_add(1.f));
        return call();
    }();
    const session s(on_threads(1, true));
    s.run(global_variables_initializer());
    const auto [a, b] = s.run(std::tuple(first, second), feed(x, 0.5f));
    CHECK(b == 2.f * a);
}

TEST_CASE("partitioned run: a loop that is cut can't use a resource of another part") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float>> q;
    const auto sum = while_loop([](auto s) { return s < 8.f; },
                                [&](auto s) {
                                    const auto taken = on("/cpu:1", [&] { return q.dequeue(); });
                                    return on("/cpu:2", [&] { return tensor(s + taken); });
                                },
                                constant(0.f));
    const session s(on_threads(1, true));
    try {
        s.run(sum);
        FAIL("it ran");
    } catch (const unimplemented& problem) {
        CHECK_THAT(problem.what(), contains("cut between devices"));
        CHECK_THAT(problem.what(), contains(q.name()));
    }
}

TEST_CASE("partitioned run: a branch that is made of primitives is cut as cond is") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const auto ways = switch_(x, sealed(x > 0.f));
    const auto more = on("/cpu:1", [&] { return tensor(ways.if_true * 2.f); });
    const auto less = on("/cpu:3", [&] { return tensor(ways.if_false * 3.f); });
    const auto merged = merge(more, less).value;
    const auto y = on("/cpu:2", [&] { return tensor(merged + 1.f, "y"); });
    const session whole(on_threads(1, false)), cut(on_threads(1, true));
    CHECK(cut.partition({y}, {x}).size() >= 3);
    for (const float v : {1.f, -1.f}) {
        CHECK(whole.run(y, feed(x, v)) == (v > 0 ? 3.f : -2.f));
        CHECK(cut.run(y, feed(x, v)) == (v > 0 ? 3.f : -2.f));
    }
}

TEST_CASE("partitioned run: primitives that run one by one stay in one part, or are refused by name") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    const auto looped = on("/cpu:1", [&] {
        const auto s = merge(enter(tensor(x * 1.f), "loop"));
        const auto go = loop_cond(sealed(s.value < 10.f));
        const auto ways = switch_(s.value, go);
        close_loop({{s, next_iteration(sealed(ways.if_true * 2.f))}});
        return tensor(leave(ways.if_false) + 1.f, "inside");
    });
    const auto beside = on("/cpu:0", [&] { return tensor(x * 3.f, "beside"); });
    auto how = on_threads(1, true);
    how.raise_primitives = false;
    const session cut(how);
    CHECK(cut.partition({looped, beside}, {x}).size() == 2);
    CHECK(cut.run(std::tuple(looped, beside), feed(x, 3.f)) == std::tuple(13.f, 9.f));
    CHECK(cut.run(looped, feed(x, 20.f)) == 21.f);
    const auto y = on("/cpu:2", [&] { return tensor(looped * 2.f, "far_away"); });
    CHECK_THROWS_AS(cut.run(std::tuple(y, beside), feed(x, 1.f)), unimplemented);
    CHECK_THROWS_WITH(cut.run(std::tuple(y, beside), feed(x, 1.f)),
                      contains("'far_away'") && contains("cpu:2") && contains("cpu:1") && contains("partitioned_run.cpp"));
    CHECK(session(on_threads(1, true)).run(std::tuple(y, beside), feed(x, 3.f)) == std::tuple(26.f, 9.f));
}

TEST_CASE("partitioned run: random control flow made of primitives, cut and in one part", "[random]") {
    using namespace test_random_control_flow;
    int cut_up = 0;
    each_program(20, drawn::with_primitives, [&](std::uint64_t seed, const trial& t) {
        if (!t.is_clear()) return;
        const int threads = drawn_threads(seed);
        try {
            const built b(t.p, drawn_devices(cpus(3), seed));
            const session s(on_threads(threads, true));
            s.run(global_variables_initializer());
            const auto [z] = b.run(s, std::tuple(b.z, b.writes), t.x);
            CHECK(t.is(z, t.value.v));
            CHECK(t.is(s.run(b.written), t.written));
            ++cut_up;
        } catch (const unimplemented& problem) { // primitives that form no branch or loop
            CHECK_THAT(problem.what(), contains("run in one part"));
        }
        const device_scope there("/cpu:1"); // also of the variables: what writes them lies where they do
        const built b(t.p);
        auto how = on_threads(threads, true);
        how.raise_primitives = false;
        const session s(how);
        s.run(global_variables_initializer());
        const device_scope elsewhere("/cpu:0");
        const tensor<double> beside(b.x * 2., "beside");
        const auto [z, twice] = b.run(s, std::tuple(b.z, b.writes, beside), t.x);
        CHECK(t.is(z, t.value.v));
        CHECK(twice == 2 * t.x);
        CHECK(t.is(s.run(b.written), t.written));
    });
    if (seeds::all()) CHECK(cut_up > 0);
}

TEST_CASE("partitioned run: starts, times out, is cancelled, is closed") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float>> q;
    const auto got = on("/cpu:1", [&] { return tensor(q.dequeue() * 2.f, "twice"); });
    session s(on_threads(1, true));
    const auto run = s.make_callable(got);
    CHECK_THROWS_AS(s.run(got, {.timeout = 1ms}), deadline_exceeded);
    const cancellation_token token;
    token.cancel();
    CHECK_THROWS_AS(s.run(got, {.cancel = token}), cancelled);
    std::promise<float> promise;
    run.start([&](std::exception_ptr problem, auto values) {
        if (problem) return promise.set_exception(problem);
        promise.set_value(std::get<0>(values));
    });
    s.run(q.enqueue(4.f));
    CHECK(promise.get_future().get() == 8.f);
    s.close();
    CHECK_THROWS_AS(s.run(got), cancelled);
}
TEST_CASE("partitioned run: a large value crosses beside a branch that is made of primitives") {
    const graph_scope here{graph()};
    const placeholder<float, 300, 300> x("x");
    const auto big = on("/cpu:0", [&] { return tensor(x * 2.f, "big"); }); // 360,000 bytes
    const auto ways = switch_(x, sealed(reduce_sum(x) > 0.f));
    const auto more = on("/cpu:1", [&] { return tensor(matmul(ways.if_true, ways.if_true)); });
    const auto less = on("/cpu:0", [&] { return tensor(ways.if_false * 3.f); });
    const auto merged = merge(more, less).value;
    const auto y = on("/cpu:1", [&] { return tensor(reduce_sum(matmul(merged, x)) + reduce_sum(big), "y"); });
    const session whole(on_threads(1, false)), cut(on_threads(1, true));
    for (const float by : {1.f, -1.f}) {
        const xt::xtensor<float, 2> xs = by * xt::eye<float>(300);
        CHECK(cut.run(y, feed(x, xs)) == whole.run(y, feed(x, xs)));
    }
}

std::size_t cramped_room = 0; // in the memory of "cramped": none for other tests, which have this device as well

/// A type of device with little memory. Variables lie there, and nothing runs.
const device_type& cramped() {
    using space = memory_space;
    static const space there{.name = "cramped:0",
                             .blocks = &default_allocator(),
                             .from_host = [](const space&, const void* host, void* to,
                                             std::size_t n) { std::memcpy(to, host, n); },
                             .to_host = [](const space&, const void* from, void* host,
                                           std::size_t n) -> std::uint64_t {
                                 std::memcpy(host, from, n);
                                 return 0;
                             },
                             .within = [](const space&, const void* from, void* to,
                                          std::size_t n) { std::memcpy(to, from, n); },
                             .wait = [](const space&, std::uint64_t) {},
                             .bytes = 1 << 20,
                             .free_bytes = [](const space&) { return cramped_room; }};
    static const device_type type{.name = "cramped", .spaces = {&there}};
    register_device(type);
    return type;
}

TEST_CASE("partitioned run: a later run finds a variable where it lies, though it fills more than half of the memory") {
    cramped();
    const graph g;
    const graph_scope here(g);
    const auto v = on("/cramped:0", [&] { return variable<float, 40>("v", 1.f); }); // 160 bytes
    any_array first(dtype::float32, dims{40});
    for (int i = 0; i < 40; ++i) static_cast<float*>(first.mutable_data())[i] = 1.f;
    g.state().set_value(v.node(), first);
    const auto y = on("/cpu:0", [&] { return tensor(v * 2.f, "y"); });
    const auto z = on("/cpu:0", [&] { return tensor(v * 3.f, "z"); });
    auto how = on_threads(1, true);
    how.allow_soft_placement = true;
    const session s(g, how);
    cramped_room = 200;
    CHECK(s.partition({y}, {}).size() == 2);
    CHECK(s.run(y)(7) == 2.f);
    cramped_room = 40;
    CHECK(s.run(z)(7) == 3.f);
    CHECK(s.run(std::tuple(y, z)) == std::tuple(s.run(y), s.run(z)));
    cramped_room = 0;
}

} // namespace test_partitioned_run
