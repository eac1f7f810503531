// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/trace/trace.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>
#include <rill/core/text_file.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_trace {

using kind = step_trace::kind;

std::vector<step_trace::entry> of(const step_trace& t, const std::string& node) {
    std::vector<step_trace::entry> found;
    std::ranges::copy_if(t.entries, std::back_inserter(found), [&](const auto& e) { return e.node == node; });
    return found;
}
step_trace::entry one(const step_trace& t, const std::string& node) {
    const auto found = of(t, node);
    REQUIRE(found.size() == 1);
    return found[0];
}
/// The name of the node that it is part of.
std::string around(const step_trace& t, const step_trace::entry& e) {
    return e.inside < 0 ? "" : t.entries[static_cast<std::size_t>(e.inside)].node;
}

/// What the format asks for: slices of one thread nest, what begins beside the threads ends there.
nlohmann::json checked(const step_trace& t) {
    auto j = nlohmann::json::parse(t.chrome_json());
    struct slice {
        std::int64_t begin, end;
    };
    std::map<int, std::vector<slice>> rows;
    std::map<std::string, int> open;
    std::size_t entries = 0;
    for (const auto& e : j.at("traceEvents")) {
        const std::string phase = e.at("ph");
        REQUIRE(e.at("pid") == 1);
        REQUIRE(e.at("name").is_string());
        const int row = e.at("tid");
        if (phase == "M") continue;
        const auto ns = [&](const char* what) { return std::llround(e.at(what).get<double>() * 1000); };
        REQUIRE(ns("ts") >= 0);
        const std::string id = e.at("cat").get<std::string>() + (e.contains("id") ? e["id"].dump() : "");
        if (phase == "X") {
            REQUIRE(ns("dur") >= 0);
            rows[row].push_back({ns("ts"), ns("ts") + ns("dur")});
        } else if (phase == "b") {
            REQUIRE(open.emplace(id, 1).second);
        } else {
            REQUIRE(phase == "e");
            REQUIRE(open.at(id)-- == 1);
        }
        entries += phase != "e";
    }
    REQUIRE(entries == t.entries.size());
    for (const auto& [id, times] : open) REQUIRE(times == 0);
    for (const auto& [row, slices] : rows) // they come in the order in which they begin
        for (std::size_t i = 0; i < slices.size(); ++i)
            for (std::size_t k = 0; k < i; ++k)
                REQUIRE((slices[k].end <= slices[i].begin || slices[i].end <= slices[k].end));
    return j;
}

TEST_CASE("trace: where a node stands in the order of execution") {
    step_trace t;
    CHECK(t.position("a") == -1);
    t.entries = {{"a", "Add", 0, 5}, {"b", "Mul", 5, 9}};
    CHECK(t.position("a") == 0);
    CHECK(t.position("b") == 1);
    CHECK(t.position("c") == -1);
}

TEST_CASE("trace: as Chrome's JSON") {
    step_trace t;
    t.entries = {
        {.node = "say \"a\\b\"\n", .op = "Add", .begin = 1234567, .end = 1240000, .bytes = 16},
        {.node = "loop", .op = "While", .begin = 5, .end = 7, .what = kind::lasted, .stage = 2, .iterations = 3},
        {.node = "get",
         .op = "Dequeue",
         .begin = 6,
         .end = 6,
         .what = kind::waited,
         .thread = 1,
         .inside = 1,
         .iteration = 0},
        {.node = "x", .op = "Mul", .begin = 10, .end = 20, .thread = 2, .lane = 1}};
    const auto j = checked(t);
    const auto& events = j["traceEvents"];
    std::vector<std::string> phases;
    for (const auto& e : events) phases.push_back(e["ph"]);
    CHECK(phases == std::vector<std::string>{"M", "M", "M", "M", "X", "b", "e", "b", "e", "X"});
    CHECK(events[1]["args"]["name"] == "caller");
    CHECK(events[3]["args"]["name"] == "thread 2");
    CHECK(events[4]["name"] == "say \"a\\b\"\n");
    CHECK(events[4]["ts"] == 1234.567);
    CHECK(events[4]["dur"] == 5.433);
    CHECK(events[4]["args"] == nlohmann::json{{"op", "Add"}, {"bytes", 16}});
    CHECK(events[5]["args"] == nlohmann::json{{"op", "While"}, {"bytes", 0}, {"iterations", 3}, {"stage", 2}});
    CHECK(events[7]["args"] == nlohmann::json{{"op", "Dequeue"}, {"bytes", 0}, {"inside", "loop"}, {"iteration", 0}});
    CHECK(events[7]["tid"] == 1);
    CHECK(events[9]["args"] == nlohmann::json{{"op", "Mul"}, {"bytes", 0}, {"lane", 1}});

    const std::string path = std::string("trace_of_") + std::to_string(t.entries.size()) + ".json";
    t.write_chrome(path);
    CHECK(detail::read_file(path, "test") == t.chrome_json());
    std::remove(path.c_str());
    CHECK_THROWS_AS(t.write_chrome("no/such/folder/trace.json"), not_found);
    CHECK(checked(step_trace())["traceEvents"].size() == 2);
}

TEST_CASE("trace: a static segment, its fusion groups and its bytes") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const tensor a(x * 2.f, "a"), b(exp(a), "b");
    const tensor c = reduce_sum(b);
    const variable<float> v("v", 1.f);
    const tensor w = v.assign_add(c);
    const session s;
    s.run(v.initializer());
    const std::vector<float> data(1000, 0.f);
    const auto step = s.make_callable(std::tuple(w), x);
    step(data);
    const auto [got, t] = s.run_traced(w, feed(x, data));
    CHECK(got == 2001.f);
    checked(t);
    CHECK(one(t, "a").begin == one(t, "b").begin); // one fusion group
    CHECK(one(t, "a").end == one(t, "b").end);
    CHECK(one(t, "a").bytes == 0); // nothing else needs it
    CHECK(one(t, w.name().substr(0, w.name().find(':'))).bytes == 4);
    for (const auto& e : t.entries) {
        CHECK(e.what == kind::ran);
        CHECK(e.thread == 0);
        CHECK(e.lane == -1);
        CHECK(e.begin <= e.end);
    }
    const auto [all, kept] = s.run_traced(std::tuple(a, w), feed(x, data));
    CHECK(one(kept, "a").bytes == 4000);
}

TEST_CASE("trace: lanes run beside one another, as without a trace") {
    const graph_scope here{graph()};
    placeholder<float, 64, 64> x("x");
    tensor<float, 64, 64> left = x, right = x;
    for (int i = 0; i < 5; ++i) {
        left = tensor(tanh(matmul(left, x)));
        right = tensor(sigmoid(matmul(right, x)));
    }
    const tensor y(reduce_sum(left) + reduce_sum(right), "y");
    const xt::xtensor<float, 2> data(std::array<std::size_t, 2>{64, 64}, 0.01f);
    const session s({.inter_op_threads = 2, .intra_op_threads = 1});
    const float plain = s.run(y, feed(x, data));
    const auto report = s.memory_report();
    const auto [got, t] = s.run_traced(y, feed(x, data));
    CHECK(got == plain);
    CHECK(s.memory_report() == report); // the same plan
    checked(t);
    std::vector<int> lanes(2);
    for (const auto& e : t.entries)
        if (e.op == "MatMul" && e.lane >= 0) ++lanes[static_cast<std::size_t>(e.lane)];
    CHECK(lanes[0] > 0);
    CHECK(lanes[1] > 0);
    CHECK(one(t, "y").lane == -1);
    for (const auto& e : t.entries) CHECK((e.thread == 0 || e.thread == 1));
}

TEST_CASE("trace: bodies show iterations, a loop of one function how many it had") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto [rounds, grown] = while_loop([&](auto i, auto) { return i < n; },
                                            [](auto i, auto v) {
                                                const tensor inner(v * 2.f, "inner");
                                                return std::tuple(i + 1, tensor<float, 2>(inner + 1.f));
                                            },
                                            constant(0), constant({1.f, 2.f}));
    const auto numbers = while_loop([&](auto i) { return i < n; }, [](auto i) { return i + 2; }, constant(0));
    const auto sums = scan([](auto h, auto x) { return tensor(h + x, "sum"); }, constant(0.f), grown);
    const auto taken =
        cond(n > 2, [&] { return tensor(exp(grown), "yes"); }, [&] { return tensor(grown * 2.f, "no"); });
    const session s;
    const auto [got, t] = s.run_traced(std::tuple(grown, numbers, sums, taken), feed(n, 3));
    CHECK((std::get<0>(got) == xt::xtensor<float, 1>{15.f, 23.f}));
    CHECK(std::get<1>(got) == 4);
    checked(t);
    const auto loops = [&](const char* op) {
        std::vector<step_trace::entry> found;
        std::ranges::copy_if(t.entries, std::back_inserter(found), [&](const auto& e) { return e.op == op; });
        return found;
    };
    REQUIRE(loops("While").size() == 2);
    std::vector<std::int64_t> iterations;
    for (const auto& e : loops("While")) iterations.push_back(e.iterations);
    std::ranges::sort(iterations);
    CHECK(iterations == std::vector<std::int64_t>{2, 3});
    std::vector<std::int64_t> each;
    for (const auto& e : t.entries)
        if (e.node.ends_with("inner")) {
            each.push_back(e.iteration);
            CHECK(t.entries[static_cast<std::size_t>(e.inside)].op == "While");
            CHECK(t.entries[static_cast<std::size_t>(e.inside)].iterations == 3);
        }
    CHECK(each == std::vector<std::int64_t>{0, 1, 2});
    REQUIRE(loops("ScanSlices").size() == 1);
    CHECK(loops("ScanSlices")[0].iterations == 2);
    CHECK(loops("ScanSlices")[0].bytes >= 8);
    int yes = 0;
    for (const auto& e : t.entries) {
        CHECK_FALSE(e.node.ends_with("no"));
        if (!e.node.ends_with("yes")) continue;
        ++yes;
        CHECK(e.iteration == -1);
        CHECK_FALSE(around(t, e).empty());
    }
    CHECK(yes == 1);
}

TEST_CASE("trace: what waits until it is answered, stages and loops of them") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 1});
    const auto filled = while_loop([](auto k) { return k < 3; },
                                   [&](auto k) {
                                       const control_dependencies after(q.enqueue(k));
                                       return tensor(k + 1, "next");
                                   },
                                   0);
    const auto [rounds, total] = while_loop([](auto k, auto) { return k < 3; },
                                            [&](auto k, auto t) { return std::tuple(k + 1, t + q.dequeue()); }, 0, 0);
    const session s;
    const auto [got, t] = s.run_traced(std::tuple(filled, total));
    CHECK(got == std::tuple(3, 3));
    checked(t);
    std::vector<std::int64_t> takes, puts;
    int waited = 0;
    for (const auto& e : t.entries) {
        CHECK(e.begin <= e.end);
        waited += e.what == kind::waited;
        if (e.what != kind::ran) continue;
        if (e.op.find("Dequeue") != std::string::npos) takes.push_back(e.iteration);
        if (e.op.find("Enqueue") != std::string::npos) puts.push_back(e.iteration);
    }
    CHECK(takes == std::vector<std::int64_t>{0, 1, 2});
    CHECK(puts == std::vector<std::int64_t>{0, 1, 2});
    CHECK(waited > 0); // there is room for one
    for (const auto& e : t.entries)
        if (e.op == "While") {
            CHECK(e.what == kind::lasted);
            CHECK(e.iterations == 3);
        }
}

TEST_CASE("trace: what others answer, and what nobody does") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    std::thread other;
    const cancellation_token token;
    const auto ask = [&](float v, host_result<float> done) {
        if (v > 0.f)
            other = std::thread([done] { done(7.f); });
        else
            token.cancel();
    };
    const tensor y(host_call<float>(ask, x) + 1.f, "y");
    const session s;
    const auto [got, t] = s.run_traced(y, feed(x, 1.f));
    other.join();
    CHECK(got == 8.f);
    checked(t);
    REQUIRE(t.entries.size() == 3);
    CHECK(t.entries[0].what == kind::ran);
    CHECK(t.entries[1].what == kind::waited);
    CHECK(t.entries[1].node == t.entries[0].node);
    CHECK(t.entries[1].bytes == 4);
    CHECK(t.entries[1].thread == 0); // where it began
    CHECK(t.entries[2].node == "y");
    CHECK(t.entries[2].begin >= t.entries[1].end);
    CHECK(t.entries[2].stage >= 0);
    CHECK(t.entries[2].stage != t.entries[1].stage);

    step_trace broken_off;
    CHECK_THROWS_AS(s.run(y, feed(x, -1.f), {.cancel = token, .trace = &broken_off}), cancelled);
    checked(broken_off);
    REQUIRE(broken_off.entries.size() == 2);
    CHECK(broken_off.entries[1].what == kind::waited);
    CHECK(broken_off.entries[1].end >= broken_off.entries[1].begin); // it ends with the run
}

TEST_CASE("trace: loops that run by frames") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto i = merge(enter(constant(0), "outer"));
    const auto way = switch_(i.value, loop_cond(i.value < n));
    const tensor next(way.if_true + 1, "next");
    close_loop({{i, next_iteration(next)}});
    const session s({.raise_primitives = false});
    const auto [got, t] = s.run_traced(leave(way.if_false), feed(n, 3));
    CHECK(got == 3);
    checked(t);
    std::vector<std::int64_t> each;
    for (const auto& e : of(t, "next")) {
        each.push_back(e.iteration);
        CHECK(around(t, e) == "outer");
    }
    CHECK(each == std::vector<std::int64_t>{0, 1, 2});
    CHECK(one(t, "outer").what == kind::lasted);
    CHECK(one(t, "outer").iterations == 3);
}

TEST_CASE("trace: arrows lead from each value that is sent to where it is received") {
    step_trace t;
    const auto add = [&](const char* node, const char* op, const char* task, std::int64_t begin, std::int64_t end,
                         kind what = kind::ran) {
        t.entries.push_back({.node = node, .op = op, .begin = begin, .end = end, .what = what, .task = task});
    };
    add("_x/recv_3", "Recv", "b", 0, 10);                  // the first value: it is not there yet
    add("_x/recv_3", "Recv", "b", 10, 40, kind::waited);   // it comes
    add("_x/send_3", "Send", "a", 20, 30);                 // the first value
    add("_x/send_bundle_4", "SendBundle", "a", 45, 50);    // of another edge
    add("_x/send_3", "Send", "a", 50, 60);                 // the second value
    add("_x/recv_3", "Recv", "b", 70, 75);                 // it was there
    add("_x/recv_bundle_4", "RecvBundle", "b", 80, 90);
    add("_x/send_3", "Send", "", 95, 96);                  // within a process
    std::map<std::string, std::vector<double>> begins, ends;
    const auto json = nlohmann::json::parse(t.chrome_json());
    for (const auto& e : json.at("traceEvents"))
        if (e.at("ph") == "s" || e.at("ph") == "f")
            (e.at("ph") == "s" ? begins : ends)[e.at("id").get<std::string>()].push_back(e.at("ts").get<double>());
    using arrows = std::map<std::string, std::vector<double>>;
    CHECK(begins == arrows{{"3.0", {0.03}}, {"3.1", {0.06}}, {"4.0", {0.05}}});
    CHECK(ends == arrows{{"3.0", {0.04}}, {"3.1", {0.075}}, {"4.0", {0.09}}});
}

TEST_CASE("trace: of callables, and of runs that fail") {
    const graph_scope here{graph()};
    placeholder<int, dyn> x("x");
    const tensor before(reduce_sum(x), "before");
    const tensor y(before / reduce_max(x), "y");
    const session s;
    step_trace t;
    const auto step = s.make_callable(std::tuple(y), x).with({.trace = &t});
    CHECK(std::get<0>(step(std::vector<int>{1, 2, 3})) == 2);
    CHECK(t.position("y") > t.position("before"));
    const auto entries = t.entries.size();
    CHECK_THROWS_AS(step(std::vector<int>{0, 0}), invalid_argument);
    CHECK(t.entries.size() == entries); // not those of both
    checked(t);
}

} // namespace test_trace
