// SPDX-License-Identifier: BSD-3-Clause
// Virtual devices of type "thrust": a program of its own with host_backend.cpp, compiled with RILL_MORE_DEVICES=<rill/thrust.hpp>.
#include <rill/device/thrust/host_memory.hpp>

#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "../../catch.hpp"
#include "../far/same.hpp"

using namespace rill;

namespace test_host_memory {

constexpr std::size_t mega = std::size_t(1) << 20;

/// Returns the pool of a session's virtual device, whose limit no other test uses.
const memory_pool& pool_of(std::size_t limit) {
    const auto spaces = chosen_host_memories(*find_device("thrust"), {.virtual_devices = {{limit}}});
    return static_cast<const virtual_host_memory&>(*spaces.at(0)).pool();
}

TEST_CASE("host memory: virtual devices are listed with their limits, and sessions have as many as they name") {
    const graph g;
    const auto listed = [&](const session_options& options) {
        const session s(g, options);
        std::vector<std::size_t> bytes;
        for (const auto& d : s.devices())
            if (d.type == "thrust") bytes.push_back(d.memory);
        return bytes;
    };
    CHECK(listed({.gpu = {.virtual_devices = {{3 * mega, 5 * mega}}}}) == std::vector{3 * mega, 5 * mega});
    CHECK(listed({.device_count = {{"thrust", 1}}, .gpu = {.virtual_devices = {{3 * mega, 5 * mega}}}}) ==
          std::vector{3 * mega});
    CHECK(listed({.gpu = {.visible_devices = {0}}}).size() == 1);
    CHECK(listed({.gpu = {.visible_devices = {0}}}) == listed({})); // the host's memory
    const auto refused = [&](const session_options& options, const char* words) {
        CHECK_THROWS_AS(session(g, options), invalid_argument);
        CHECK_THROWS_WITH(session(g, options), contains(words));
    };
    refused({.gpu = {.visible_devices = {1}}}, "device 1 of type 'thrust' is requested; there are 1");
    refused({.gpu = {.virtual_devices = {{mega}, {mega}}}}, "limits for 2 devices of type 'thrust', 1 are visible");
    refused({.device_count = {{"thrust", 3}}, .gpu = {.virtual_devices = {{mega, mega}}}},
            "3 devices of type 'thrust' are requested, there are 2");
}

TEST_CASE("host memory: a network over two virtual devices trains as on one, whole or in parts") {
    const auto train = [](bool divided, bool cut, int threads) {
        const graph g;
        const graph_scope here(g);
        placeholder<float, dyn, 4> x("x");
        placeholder<float, dyn, 3> y("y");
        const auto on = [&](int i) { return "/device:thrust:" + std::to_string(divided ? i : 0); };
        tensor<float, dyn, 10> hidden;
        tensor<float> loss;
        {
            const device_scope there(on(0));
            hidden = tanh(dense<4, 10>("one", x));
        }
        {
            const device_scope there(on(1));
            loss = reduce_mean(square(dense<10, 3>("two", hidden) - y));
        }
        const auto step = adam({.learning_rate = 0.05}).minimize(loss);
        const session s(g, {.inter_op_threads = threads,
                            .intra_op_threads = threads,
                            .partition_devices = cut,
                            .gpu = {.virtual_devices = {{4 * mega, 4 * mega}}}});
        s.run(global_variables_initializer());
        xt::xtensor<float, 2> xs({20, 4}), ys({20, 3});
        for (std::size_t i = 0; i < 20; ++i) {
            for (std::size_t k = 0; k < 4; ++k) xs(i, k) = static_cast<float>((i * 7 + k * 13) % 11) / 5.f - 1.f;
            for (std::size_t k = 0; k < 3; ++k) ys(i, k) = xs(i, k) * xs(i, k + 1);
        }
        std::vector<float> got;
        for (int i = 0; i < 20; ++i)
            got.push_back(std::get<0>(s.run(std::tuple(loss, step), feed(x, xs), feed(y, ys))));
        CHECK(got.back() < got.front());
        return got;
    };
    const auto one = train(false, false, 1);
    CHECK(train(true, false, 1) == one);
    for (const int threads : {1, 3}) CHECK(train(true, true, threads) == one);
}

TEST_CASE("host memory: nothing crosses to a virtual device that stays there, and values come back by copies") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto on = [&](int i, const auto& make) {
        const device_scope there("/device:thrust:" + std::to_string(i));
        return make();
    };
    const auto a = on(0, [&] { return tensor(square(x)); });
    const auto b = on(1, [&] { return tensor(a + 1.f); });
    const auto c = on(1, [&] { return tensor(exp(b) * 0.f + b); });
    const session s(g, {.gpu = {.virtual_devices = {{7 * mega, 7 * mega}}}});
    const auto [value, trace] = s.run_traced(c, feed(x, {2.f, 3.f}));
    CHECK(value(0) == 5.f);
    CHECK(value(1) == 10.f);
    int copies = 0;
    for (const auto& e : trace.entries) copies += e.op == "Copy" ? 1 : 0;
    CHECK(copies == 3); // the feed, a, and the fetch
}

TEST_CASE("host memory: out of memory names the bytes and the largest blocks, and the session stays usable") {
    constexpr std::size_t limit = 2 * mega;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x"), y("y");
    const auto sum = [&] {
        const device_scope there("/device:thrust:0");
        variable<float, 65536> w("w", constant_initializer(1.f));
        return tensor(reduce_sum(x + y) + reduce_mean(w));
    }();
    const session s(g, {.gpu = {.virtual_devices = {{limit}}}});
    s.run(global_variables_initializer());
    const std::size_t before = pool_of(limit).bytes_in_use();
    CHECK(before >= 65536 * sizeof(float));
    const xt::xtensor<float, 2> column = xt::ones<float>({1000, 1}), row = xt::ones<float>({1, 1000}),
                                one = xt::ones<float>({1, 1});
    CHECK(s.run(sum, feed(x, one), feed(y, one)) == 3.f);
    std::string words;
    try {
        s.run(sum, feed(x, column), feed(y, row));
    } catch (const resource_exhausted& problem) {
        words = problem.what();
    }
    CHECK_THAT(words, contains("memory of virtual device 0 of thrust:0") && contains("bytes are requested") &&
                          contains(" of 2097152 are in use; the largest blocks have ") &&
                          contains("262144 (variable float32 [65536])"));
    CHECK(s.run(sum, feed(x, one), feed(y, one)) == 3.f);
    CHECK(pool_of(limit).bytes_held() <= limit);
}

TEST_CASE("host memory: errors in data reach the run, and a variable keeps its value") {
    const graph g;
    const graph_scope here(g);
    const device_scope there("/device:thrust:1");
    variable<int, 2> v("v", constant_initializer(6));
    placeholder<int, dyn> by("by");
    const auto divided = group(v.assign(reshape<2>(v / by)));
    const session s(g, {.gpu = {.virtual_devices = {{6 * mega, 6 * mega}}}});
    s.run(global_variables_initializer());
    CHECK_THROWS_WITH(s.run(divided, feed(by, {2, 0})), contains("integer division by zero"));
    CHECK(s.run(v)(1) == 6);
    s.run(divided, feed(by, {2, 3}));
    CHECK(s.run(v)(0) == 3);
}

} // namespace test_host_memory
