// SPDX-License-Identifier: BSD-3-Clause
// Captured loops on virtual devices of type "thrust": a device that runs a loop by itself computes what the host computes by starting each
// iteration.
#include <chrono>
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

namespace test_host_loops {

xt::xtensor<float, 1> numbers(int step, std::size_t n) {
    xt::xtensor<float, 1> x(std::array{n});
    for (std::size_t i = 0; i < n; ++i)
        x(i) = static_cast<float>((i * 7 + static_cast<std::size_t>(step) * 13) % 23) / 11.f + 0.25f;
    return x;
}

TEST_CASE("host recorder: a loop whose length depends on its data runs without the host") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 8> x("x"); // square roots by Newton's method, until no element changes much
        const auto goes_on = [](const auto& root, const auto& before, const auto&) {
            return reduce_max(abs(root - before)) > 1e-4f;
        };
        const auto next = [](const auto& root, const auto&, const auto& of) {
            return std::tuple(tensor(0.5f * (root + of / root)), root, of);
        };
        const auto [result, one_before, number] =
            while_loop(goes_on, next, std::tuple(tensor(x), tensor(x * 0.f), tensor(x)));
        const session s(options);
        std::vector<float> all;
        for (int i = 0; i < 10; ++i) {
            const auto [a, b, c] = s.run(std::tuple(result, one_before, number), feed(x, numbers(i, 8)));
            for (std::size_t k = 0; k < 8; ++k) {
                CHECK(std::abs(a(k) * a(k) - numbers(i, 8)(k)) < 1e-3f);
                all.insert(all.end(), {a(k), b(k), c(k)});
            }
        }
        return all;
    });
    CHECK(seen.loops == 1);
    CHECK(seen.loop_replays == 9);
}

TEST_CASE("host recorder: a loop of 1000 iterations starts four times, and values that change places keep apart") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<int> n("n");
        const auto [count, first, second] =
            while_loop([&](const auto& i, const auto&, const auto&) { return i < n; },
                       [](const auto& i, const auto& a, const auto& b) {
                           return std::tuple(i + 1, b, tensor(a + b)); // a Fibonacci number, modulo 2^64
                       },
                       std::tuple(constant(0), constant(std::int64_t(0)), constant(std::int64_t(1))));
        const session s(options);
        std::vector<std::int64_t> all;
        for (const int k : {7, 1000, 0, 256, 257, 1}) {
            const auto [iterations, x, y] = s.run(std::tuple(count, first, second), feed(n, k));
            CHECK(iterations == k);
            all.insert(all.end(), {x, y});
        }
        CHECK(all[0] == 13);
        CHECK(all[4] == 0);
        return all;
    });
    CHECK(seen.loops == 1);
    CHECK(seen.loop_replays == 4 + 1 + 1 + 2 + 1); // one start runs at most 256 iterations
}

TEST_CASE("host recorder: the condition of a captured loop may be a part of its state") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<int> n("n");
        const auto [goes_on, count] =
            while_loop([](const auto& flag, const auto&) { return flag; },
                       [&](const auto&, const auto& i) { return std::tuple(tensor(i + 1 < n), i + 1); },
                       std::tuple(constant(true), constant(0)));
        const session s(options);
        std::vector<int> all;
        for (const int k : {2, 2, 3, 4, 3, 2, 1, 1}) {
            all.push_back(s.run(count, feed(n, k)));
            CHECK(all.back() == k);
        }
        return all;
    });
    CHECK(seen.loops == 1);
    CHECK(seen.loop_replays == 7);
}

TEST_CASE(
    "host recorder: a captured loop ends at maximum_iterations, though its condition could not be evaluated again") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 4> limits("limits");
        const auto count =
            while_loop([&](const auto& i) { return reduce_sum(gather<0>(limits, reshape<1>(i))) > 0.f; },
                       [](const auto& i) { return tensor(i + 1); }, constant(0), {.maximum_iterations = 4});
        const session s(options);
        std::vector<int> all;
        for (int k = 0; k < 6; ++k) all.push_back(s.run(count, feed(limits, {1.f, 1.f, 1.f, k == 4 ? -1.f : 1.f})));
        CHECK(all == std::vector<int>{4, 4, 4, 4, 3, 4});
        return all;
    });
    CHECK(seen.loops == 1);
    CHECK(seen.loop_replays == 5);
}

TEST_CASE("host recorder: maximum_iterations ends a captured loop, and one that never runs is never captured") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 3> x("x");
        const auto looped = [&](float limit) {
            return while_loop([=](const auto& v) { return reduce_sum(v) < limit; },
                              [](const auto& v) { return std::tuple(tensor(cumsum<0>(v) * 1.01f)); },
                              std::tuple(tensor(x)), {.maximum_iterations = 5});
        };
        const auto some = looped(1e30f), none = looped(-1.f);
        const session s(options);
        std::vector<float> all;
        for (int i = 0; i < 5; ++i) {
            const auto [a, b] = s.run(std::tuple(some, none), feed(x, numbers(i, 3)));
            for (std::size_t k = 0; k < 3; ++k) all.insert(all.end(), {a(k), b(k)});
        }
        return all;
    });
    CHECK(seen.loops == 1);
    CHECK(seen.loop_replays == 4);
}

TEST_CASE("host recorder: a scan is one range, with its slices and its state") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 6, 4> x("x");
        variable<float, 4, 4> w("w", constant_initializer(0.3f));
        const auto [last, sums] = scan(
            [&](const auto& h, const auto& slice) {
                const auto next = tensor(tanh(matmul(h, w) + reshape<1, 4>(slice)));
                return std::tuple(next, reduce_sum(next));
            },
            zeros<float, 1, 4>(), x);
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<float> values;
        for (int i = 0; i < 5; ++i) {
            const auto [h, each] =
                s.run(std::tuple(last, sums), feed(x, xt::xtensor<float, 2>(xt::reshape_view(numbers(i, 24), {6, 4}))));
            values.insert(values.end(), h.begin(), h.end());
            values.insert(values.end(), each.begin(), each.end());
        }
        return values;
    });
    CHECK(seen.captures == 1);
    CHECK(seen.replays == 4);
}

TEST_CASE("host recorder: scans of no slices, and those whose body only hands values on") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, dyn> x("x");
        const auto [last, before] =
            scan([](const auto& h, const auto& slice) { return std::tuple(slice, tensor(h)); }, constant(0.5f), x);
        const session s(options);
        std::vector<float> all;
        for (int k = 0; k < 4; ++k)
            for (const std::size_t n : {0, 3}) {
                const std::vector<float> value(n, static_cast<float>(k));
                const auto [end, each] = s.run(std::tuple(last, before), feed(x, value));
                all.push_back(end);
                all.insert(all.end(), each.begin(), each.end());
            }
        return all;
    });
    CHECK(seen.captures <= 1);
}

TEST_CASE("host recorder: an error in an iteration is told as without captures, and later runs are right") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<int, 4> ids("ids");
        placeholder<int> n("n");
        variable<float, 5> table("table", constant_initializer(1.5f));
        variable<float> total("total", constant_initializer(0.f));
        const auto [count, all, last] =
            while_loop([&](const auto& i, const auto&, const auto&) { return i < n; },
                       [&](const auto& i, const auto& sum, const auto& at) {
                           return std::tuple(i + 1, tensor(sum + reduce_sum(gather<0>(table, at))), tensor(at + 1));
                       },
                       std::tuple(constant(0), constant(0.f), tensor(ids)));
        const auto add = total.assign_add(all);
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<std::string> said;
        for (int k = 0; k < 12; ++k) {
            try {
                s.run(add, feed(ids, {0, 0, 1, 1}), feed(n, k % 4 == 3 ? 6 : 3));
                CHECK(k % 4 != 3);
            } catch (const error& problem) {
                said.emplace_back(problem.what());
                CHECK_THAT(said.back(), contains("in iteration 4: "));
                CHECK_THAT(said.back(), contains("id 5 at [2] is outside [0, 5)"));
            }
            said.push_back(std::to_string(s.run(total)));
        }
        CHECK(said.back() == "162.000000");
        return said;
    });
    CHECK(seen.loops == 1);
}

TEST_CASE("host recorder: an error in a captured scan is told as without captures") {
    same_without([](const session_options& options) {
        placeholder<int, 5> ids("ids");
        placeholder<float, 4> table("table");
        const auto all =
            scan([&](const auto& h,
                     const auto& id) { return tensor(h + reduce_sum(gather<0>(table, reshape<1>(id))) * 2.f); },
                 0.f, ids);
        const session s(options);
        std::vector<std::string> said;
        for (int k = 0; k < 8; ++k) try {
                const auto values = s.run(all, feed(ids, {0, 1, 2, k % 4 == 3 ? 9 : 3, 0}), feed(table, numbers(k, 4)));
                for (const float v : values) said.push_back(std::to_string(v));
            } catch (const error& problem) {
                said.emplace_back(problem.what());
                CHECK_THAT(said.back(), contains("in iteration 3: "));
                CHECK(k % 4 == 3);
            }
        return said;
    });
}

TEST_CASE("host recorder: a captured loop without an end is cancelled by the limit of its run") {
    const graph g;
    const graph_scope here(g);
    counted_device device;
    const device_scope there("/device:thrust:0");
    placeholder<float> limit("limit");
    const auto x = while_loop([&](const auto& v) { return v < limit; },
                              [](const auto& v) { return std::tuple(tensor(v + 1.f)); }, std::tuple(constant(0.f)));
    const session s(g, {.gpu = device.options});
    for (int i = 0; i < 3; ++i) CHECK(s.run(x, feed(limit, 3.f)) == 3.f);
    CHECK(device.now().loops == 1);
    CHECK_THROWS_AS(s.run(x, feed(limit, 1e30f), run_options{.timeout = std::chrono::milliseconds(50)}),
                    deadline_exceeded);
    CHECK(s.run(x, feed(limit, 7.f)) == 7.f);
}

TEST_CASE("host recorder: loops that draw numbers or keep values for gradients are started by the host") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 4> x("x");
        variable<float, 4> w("w", constant_initializer(0.5f));
        const auto drawn = while_loop([](const auto& v) { return reduce_sum(v) < 20.f; },
                                      [](const auto& v) { return tensor(v + random_uniform<float, 4>()); }, tensor(x));
        const auto kept = while_loop([](const auto& v) { return reduce_sum(v) > 0.1f; },
                                     [&](const auto& v) { return tensor(v * w); }, tensor(x));
        const auto step = gradient_descent(0.01f).minimize(reduce_sum(square(kept)));
        const session s(options);
        s.run(global_variables_initializer());
        std::vector<float> all;
        for (int k = 0; k < 6; ++k) {
            const auto [a, b] = s.run(std::tuple(drawn, kept, step), feed(x, numbers(k, 4)));
            for (std::size_t n = 0; n < 4; ++n) all.insert(all.end(), {a(n), b(n)});
        }
        return all;
    });
    CHECK(seen.loops == 0);
}

TEST_CASE("host recorder: a loop in a loop is captured, for each buffer of the outer loop's state") {
    const auto seen = same_without([](const session_options& options) {
        placeholder<float, 4> x("x");
        const auto halved = [](const auto& v) {
            return while_loop([](const auto& u) { return reduce_sum(u) > 1.f; },
                              [](const auto& u) { return tensor(u * 0.5f); }, v);
        };
        const auto [count, last] =
            while_loop([](const auto& i, const auto&) { return i < 5; },
                       [&](const auto& i, const auto& v) { return std::tuple(i + 1, tensor(halved(v) * 9.f)); },
                       std::tuple(constant(0), tensor(x)));
        const session s(options);
        std::vector<float> all;
        for (int k = 0; k < 6; ++k)
            for (const float v : s.run(last, feed(x, numbers(k, 4)))) all.push_back(v);
        return all;
    });
    CHECK(seen.loops >= 1);
    CHECK(seen.loops <= 4);
    CHECK(seen.loop_replays > 6);
}

TEST_CASE("host recorder: threads run the captured loops of their own frames") {
    constexpr int threads = 4, runs = 50;
    const graph g;
    const graph_scope here(g);
    counted_device device;
    const device_scope there("/device:thrust:0");
    placeholder<int> n("n");
    const auto [count, x] = while_loop([&](const auto& i, const auto&) { return i < n; },
                                       [](const auto& i, const auto& v) { return std::tuple(i + 1, tensor(v + 0.5f)); },
                                       std::tuple(constant(0), zeros<float, 300>()));
    const session s(g, {.gpu = device.options});
    std::vector<std::thread> all;
    std::vector<int> wrong(threads);
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (int k = 0; k < runs; ++k) {
                const auto [iterations, v] = s.run(std::tuple(count, x), feed(n, t + k));
                wrong[static_cast<std::size_t>(t)] += iterations != t + k || v(299) != 0.5f * static_cast<float>(t + k);
            }
        });
    for (auto& t : all) t.join();
    CHECK(wrong == std::vector<int>(threads));
}

} // namespace test_host_loops
