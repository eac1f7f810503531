// SPDX-License-Identifier: BSD-3-Clause
// Captured steps on virtual devices of type "thrust": replays compute what the steps compute one by one.
#include <rill/device/thrust/host_recorder.hpp>

#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <rill/rill.hpp>

#include "../../catch.hpp"
#include "counted_device.hpp"

using namespace rill;
using test_thrust::counted_device;
using test_thrust::same_without;

namespace test_host_recorder {

std::vector<float> batch(int step, std::size_t n) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i)
        x[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(step) * 13) % 23) / 11.f - 1.f;
    return x;
}

TEST_CASE("host recorder: kernels that a thread starts are kept and run by each replay") {
    using detail::host_recorder;
    int runs = 0;
    const auto replay = host_recorder::capture([&] {
        REQUIRE(host_recorder::current());
        host_recorder::current()->add([&] { ++runs; });
        host_recorder::current()->add([&] { runs *= 2; });
    });
    CHECK_FALSE(host_recorder::current());
    CHECK(runs == 0);
    replay();
    replay();
    CHECK(runs == 6);
}

TEST_CASE("host recorder: 1000 replayed training steps with changing feeds equal those without captures") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, dyn, 4> x("x");
        const auto hidden = dropout(relu(dense<4, 10>("one", x)), 0.8f);
        placeholder<int, dyn> label("label"); // a feed behind the first kernels
        const auto logits = dense<10, 3>("two", hidden);
        const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
        const auto step = adam({.learning_rate = 0.01}).minimize(loss);
        const session s(options);
        s.run(global_variables_initializer());
        const auto call = s.make_callable(std::tuple(loss, step), x, label);
        std::vector<float> losses;
        for (int i = 0; i < 1000; ++i) {
            const std::size_t rows = i % 10 == 9 ? 5 : 16;
            std::vector<int> labels(rows);
            for (std::size_t k = 0; k < rows; ++k) labels[k] = static_cast<int>((k + static_cast<std::size_t>(i)) % 3);
            losses.push_back(std::get<0>(call(batch(i, rows * 4), labels)));
        }
        return losses;
    });
    CHECK(seen.captures == 2); // one of each size
    CHECK(seen.replays >= 996);
}

TEST_CASE("host recorder: replays draw new random numbers") {
    const auto seen = same_without([](const session_options& options) {
        const tensor x = random_uniform<float, 8>() + random_normal<float, 8>();
        const auto y = tensor(random_shuffle(x) * 2.f);
        const session s(options);
        std::vector<float> all;
        for (int i = 0; i < 10; ++i)
            for (const float v : s.run(y)) all.push_back(v);
        CHECK(all[0] != all[72]);
        return all;
    });
    CHECK(seen.captures == 1);
    CHECK(seen.replays == 9);
}

TEST_CASE("host recorder: errors in data of a replay are reported, variables keep their values, later runs are right") {
    const auto seen = same_without([](const session_options& options) {
        variable<float, 5, 2> table("table", constant_initializer(1.f));
        variable<int> count("count", constant_initializer(0));
        placeholder<int, dyn> ids("ids");
        const auto rows = gather<0>(table, ids);
        const auto step = group(count.assign_add(1), gradient_descent(0.5f).minimize(reduce_sum(square(rows))));
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<std::string> said;
        int failed_replays = 0;
        for (int i = 0; i < 48; ++i) {
            const int before = counted_device::now().replays;
            try {
                s.run(step, feed(ids, {i % 5, i % 8 == 5 ? 7 : 1}));
                CHECK(i % 8 != 5);
            } catch (const error& problem) {
                said.emplace_back(problem.what());
                CHECK_THAT(said.back(), contains("id 7 at [1] is outside [0, 5)"));
                failed_replays += counted_device::now().replays - before;
            }
            if (i % 8 < 6) continue; // a run that reads the variables holds them, and the next write takes other blocks
            for (const float v : s.run(table)) said.push_back(std::to_string(v));
            said.push_back(std::to_string(s.run(count)));
        }
        CHECK(said.back() == "42");
        CHECK(failed_replays == (options.gpu.cuda_graphs ? 6 : 0));
        return said;
    });
    CHECK(seen.captures >= 1);
    CHECK(seen.replays >= 24);
}

TEST_CASE("host recorder: two nodes of a shared variable are not held together") {
    const auto seen = same_without([](const session_options& options) {
        const std::string name = options.gpu.cuda_graphs ? "host_recorder_with" : "host_recorder_without";
        variable<int> a("a", 0, {.shared_name = name});
        variable<int> b("b", 0, {.shared_name = name});
        const auto step = group(a.assign_add(1), b.assign_add(10));
        const session s(options);
        s.run(global_variables_initializer());
        for (int i = 0; i < 5; ++i) s.run(step);
        return s.run(a);
    });
    CHECK(seen.captures == 0);
}

TEST_CASE("host recorder: a fetch after a replay is the version that the replay has written") {
    const auto seen = same_without([](const session_options& options) {
        variable<float, 600, 4> table("table",
                                      constant_initializer(1.f)); // large: versions are held only where it is needed
        placeholder<int, 3> ids("ids");
        const auto rows = gather<0>(table, ids), others = gather<0>(table, tensor(ids + 1));
        const auto update = table.scatter_sub(ids, rows * 0.5f + others * 0.125f);
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<float> all;
        for (int i = 0; i < 6; ++i) {
            const auto after = s.run(update, feed(ids, {i, i + 1, i + 7}));
            for (std::size_t r = 0; r < 20; ++r) all.push_back(after(r, 3));
        }
        return all;
    });
    CHECK(seen.replays > 0);
}

TEST_CASE("host recorder: a step of the host divides a run into two ranges") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, dyn> x("x");
        const auto a = cumsum<0>(tensor(exp(x)));
        const auto b = [&] {
            const device_scope host("/cpu:0");
            return tensor(cumsum<0>(a) * 0.5f);
        }();
        const auto c = cumsum<0>(tensor(b + reduce_sum(x)));
        const session s(options);
        std::vector<float> all;
        for (int i = 0; i < 6; ++i)
            for (const float v : s.run(c, feed(x, batch(i, 9)))) all.push_back(v);
        return all;
    });
    CHECK(seen.captures == 2);
    CHECK(seen.replays == 10);
}

TEST_CASE("host recorder: numbers that host code reads keep a step out of the ranges") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 6> x("x");
        placeholder<int> from("from");
        const auto part = slice<3>(tensor(x * 2.f), reshape<1>(from));
        const auto y = cumsum<0>(tensor(part + 1.f));
        const session s(options);
        std::vector<float> all;
        for (int i = 0; i < 8; ++i)
            for (const float v : s.run(y, feed(x, batch(i, 6)), feed(from, i % 4))) all.push_back(v);
        return all;
    });
    CHECK(seen.captures <= 1);
}

TEST_CASE("host recorder: addresses that change lead to another capture, and never to a wrong replay") {
    const auto seen = same_without([](const session_options& options) {
        variable<float, 2000> v("v", constant_initializer(1.f)); // large: writes beside a reader take another block
        placeholder<float> by("by");
        const auto add = v.assign_add(broadcast_to<2000>(by));
        const auto sum = reduce_sum(v * 2.f);
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<float> all;
        for (int i = 0; i < 12; ++i) {
            // a run that returns the old value and the new one writes to another block
            if (i % 3 == 0) all.push_back(std::get<0>(s.run(std::tuple(v, sum, add), feed(by, 1.f)))(0));
            s.run(add, feed(by, static_cast<float>(i)));
            all.push_back(s.run(sum));
            if (i == 7) s.run(global_variables_initializer());
        }
        return all;
    });
    CHECK(seen.replays > 0);
}

TEST_CASE("host recorder: a loop on the device is the same with captures of its body") {
    same_without([](const session_options& options) {
        variable<float, 8> w("w", constant_initializer(0.9f));
        placeholder<float, 3, 8> x("x");
        const auto next = [&](const auto& i, const auto& h) {
            return std::tuple(i + 1, tensor(tanh(h * w) + cumsum<0>(h) * 0.01f));
        };
        const auto [count, last] =
            while_loop([](const auto& i, const auto&) { return i < 20; }, next, std::tuple(constant(0), tensor(x)));
        const auto loss = reduce_sum(square(last));
        const auto step = gradient_descent(0.01f).minimize(loss);
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<float> all;
        for (int i = 0; i < 5; ++i)
            all.push_back(std::get<0>(
                s.run(std::tuple(loss, step),
                      feed(x, xt::xtensor<float, 2>(0.1f * static_cast<float>(i) * xt::ones<float>({3, 8}))))));
        return all;
    });
}

TEST_CASE("host recorder: threads that run one session replay the graphs of their own frames") {
    constexpr int threads = 4, runs = 100;
    const graph g;
    const graph_scope here(g);
    counted_device device;
    const device_scope there("/device:thrust:0");
    variable<float, 3000> v("v", constant_initializer(0.f));
    variable<int> count("count", constant_initializer(0));
    placeholder<float> by("by");
    const auto step = group(v.assign_add(broadcast_to<3000>(by * 2.f)), count.assign_add(1));
    const session s(g, {.gpu = device.options});
    s.run(global_variables_initializer());
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&] {
            for (int i = 0; i < runs; ++i) s.run(step, feed(by, 0.5f));
        });
    for (auto& t : all) t.join();
    CHECK(s.run(count) == threads * runs);
    CHECK(s.run(v)(2999) == static_cast<float>(threads * runs));
}

TEST_CASE("host recorder: where a device refuses a capture, a frame asks once, and its kernels run one by one") {
    const graph g;
    const graph_scope here(g);
    counted_device device;
    const_cast<memory_space*>(device.space)->capture = [](const memory_space&, const std::function<void()>&) {
        ++counted_device::now().captures;
        return std::function<void()>();
    };
    const device_scope there("/device:thrust:0");
    variable<int> count("count", constant_initializer(0));
    const auto step = group(count.assign_add(1), count.assign_add(1));
    const session s(g, {.gpu = device.options});
    s.run(global_variables_initializer());
    for (int i = 0; i < 8; ++i) s.run(step);
    CHECK(s.run(count) == 16);
    CHECK(counted_device::now().captures == 1);
}

TEST_CASE("host recorder: traced runs and sessions that swap start the kernels one by one") {
    const graph g;
    const graph_scope here(g);
    counted_device device;
    const device_scope there("/device:thrust:0");
    placeholder<float, dyn> x("x");
    const auto y = cumsum<0>(tensor(cumsum<0>(tensor(x + 1.f)) * 2.f));
    const std::vector<float> value{1, 2, 3};
    const session s(g, {.gpu = device.options});
    for (int i = 0; i < 4; ++i) {
        const auto [result, trace] = s.run_traced(y, feed(x, value));
        CHECK(result(2) == 32.f);
        CHECK(trace.entries.size() > 3);
    }
    CHECK(counted_device::now().captures == 0);
    for (int i = 0; i < 4; ++i) CHECK(s.run(y, feed(x, value))(2) == 32.f);
    CHECK(counted_device::now().captures == 1);
    device.options.swap_memory = true;
    const session swaps(g, {.gpu = device.options});
    for (int i = 0; i < 4; ++i) CHECK(swaps.run(y, feed(x, value))(2) == 32.f);
    CHECK(counted_device::now().captures == 1);
}

} // namespace test_host_recorder
