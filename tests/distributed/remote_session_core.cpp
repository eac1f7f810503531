// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/remote_session_core.hpp>

#include <rill/distributed.hpp>
#include <rill/distributed/run_by_names.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_remote_session_core {

/// Trains a line by two towers, each with a half of the batch. One graph and one session hold both towers. Returns w, b and the last loss.
std::vector<float> train_by_towers(const char* ps, const std::vector<std::string>& workers, const std::string& target) {
    graph g;
    graph_scope use(g);
    placeholder<float, dyn> x("x"), y("y");
    const device_scope together(ps);
    const variable<float> w("w", 0.f), b("b", 0.f);
    std::vector<tensor<float>> losses, dws, dbs;
    for (int t = 0; t < 2; ++t) {
        const device_scope on(workers[static_cast<std::size_t>(t)]);
        const tensor<float, dyn> own_x = x(slice_range{4 * t, 4 * t + 4}), own_y = y(slice_range{4 * t, 4 * t + 4});
        losses.emplace_back(reduce_mean(square(w * own_x + b - own_y)));
        const auto [dw, db] = gradients(losses.back(), w, b);
        dws.emplace_back(dw), dbs.emplace_back(db);
    }
    const tensor<float> loss((losses[0] + losses[1]) * 0.5f);
    const auto train = group(tensor<float>(w.assign_sub((dws[0] + dws[1]) * 0.01f)),
                             tensor<float>(b.assign_sub((dbs[0] + dbs[1]) * 0.01f)));
    const session s({.target = target});
    s.run(std::tuple(w.initializer(), b.initializer()));
    std::vector<float> xs, ys;
    for (int i = 0; i < 8; ++i) xs.push_back(static_cast<float>(i) - 3.f), ys.push_back(2 * xs.back() + 1);
    if (!target.empty()) CHECK(s.partition({train}, {x, y}).size() == 3);
    const auto step = s.make_callable(std::tuple(loss, train), x, y);
    float last = 0;
    for (int i = 0; i < 100; ++i) last = std::get<0>(step(xs, ys));
    return {s.run(w), s.run(b), last};
}

TEST_CASE("remote session: towers on two workers train one model, with the bits of one process") {
    const auto alone = train_by_towers("", {"", ""}, "");
    CHECK(alone[2] < 1.f);
    local_cluster all({{"ps", 1}, {"worker", 2}});
    const auto together =
        train_by_towers("/job:ps", {"/job:worker/task:0", "/job:worker/task:1"}, all.at("worker", 0).target());
    CHECK(together == alone);
}

TEST_CASE("remote session: an error of an op names its task, whichever that is") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    placeholder<float, dyn> x("x"), y("y");
    const std::vector<float> two{1.f, 2.f}, three{1.f, 2.f, 3.f};
    for (const std::string task : {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"}) {
        const device_scope on(task);
        const tensor<float, dyn> sum(x + y);
        const session s({.target = all.at("worker", 0).target()});
        CHECK_THROWS_AS(s.run(sum, feed(x, two), feed(y, three)), invalid_argument);
        CHECK_THROWS_WITH(s.run(sum, feed(x, two), feed(y, three)), contains(task));
    }
}

TEST_CASE("remote session: errors of other tasks say where the nodes were made") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const graph g;
    const graph_scope use(g);
    const placeholder<float, dyn> x("x"), y("y");
    const placeholder<int> n("n");
    const session s({.target = all.at("worker", 0).target()});
    const auto text_of = [](const auto& run) -> std::string {
        try {
            run();
        } catch (const error& e) {
            return e.what();
        }
        return "";
    };
    const std::vector<float> two{1.f, 2.f}, three{1.f, 2.f, 3.f};
    for (const std::string task : {"/job:ps", "/job:worker"}) {
        const device_scope on(task);
        const tensor<float, dyn> sum(x + y);
        const auto looped = while_loop([](auto i) { return i < 5; },
                                       [&](auto i) { return tensor<int>(i + floordiv(n, i - i)); }, tensor<int>(n * 0));
        const auto of_sum = text_of([&] { s.run(sum, feed(x, two), feed(y, three)); });
        CHECK_THAT(of_sum, contains("node '" + sum.node()->name + "', made at " + to_string(sum.node()->where)));
        const auto of_loop = text_of([&] { s.run(looped, feed(n, 1)); });
        CHECK_THAT(of_loop, contains("zero") && contains("node '" + looped.node()->name + "', made at"));
        for (const auto& text : {of_sum, of_loop}) CHECK_THAT(text, !contains("unknown place"));
    }
    const device_scope there("/job:ps");
    const variable<float> v("v", 1.f);
    const auto of_read = text_of([&] { s.run(v); });
    CHECK_THAT(of_read, contains("'v' (made at remote_session_core.cpp:") && contains("is uninitialized"));
    const device_scope missing("/job:ps/task:7");
    const tensor<float> lost(v * 2.f, "lost");
    const auto of_lost = text_of([&] { s.run(lost); });
    CHECK_THAT(of_lost, contains("'lost' (Mul, made at remote_session_core.cpp:") && contains("asks for device") &&
                            !contains("unknown place"));
    const auto not_fed = text_of([&] { s.run(tensor(x + 1.f)); });
    CHECK_THAT(not_fed, contains("placeholder 'x' (") && contains("made at remote_session_core.cpp:"));
    // a name that the graph lacks
    const auto strange = std::make_exception_ptr(internal("node 'no such', made at an unknown place"));
    CHECK(rill::detail::with_places(strange, g) == strange);
    CHECK_FALSE(rill::detail::with_places(nullptr, g));
    const auto added = rill::detail::with_places(
        std::make_exception_ptr(internal("it waits for node '_x/receive_3', made at an unknown place, and '" +
                                         v.end().from->name + ":0' (made at an unknown place)")),
        g);
    CHECK_THROWS_WITH(std::rethrow_exception(added), contains("'_x/receive_3', added between tasks, and 'v:0' (made at "
                                                              "remote_session_core.cpp:"));
    for (const std::string text : {"'v' (of v) and another, made at an unknown place", ", made at an unknown place",
                                   "made at an unknown place", "it is late, made at an unknown place"}) {
        const auto nameless = std::make_exception_ptr(internal(text));
        CHECK(rill::detail::with_places(nameless, g) == nameless);
    }
}

} // namespace test_remote_session_core
