// SPDX-License-Identifier: BSD-3-Clause
// The device "thrust" in the host's memory: a program of its own, compiled with RILL_MORE_DEVICES=<rill/thrust.hpp>.
#include <rill/device/thrust/host_backend.hpp>

#include <rill/rill.hpp>

#include "../../catch.hpp"
#include "../far/same.hpp"

using namespace rill;

namespace test_thrust_host {

TEST_CASE("thrust host: a session has as many of these devices as it asks for") {
    const graph g;
    const session s(g, {.device_count = {{"thrust", 2}}});
    std::vector<std::string> names;
    for (const auto& d : s.devices())
        if (d.type == "thrust") names.push_back(d.name);
    REQUIRE(names.size() == 2);
    CHECK(names[1].ends_with("THRUST:1"));
}

TEST_CASE("thrust host: a network trains there as on the CPU") {
    const auto train = [](const char* device) {
        const graph g;
        const graph_scope here(g);
        const device_scope there(device);
        placeholder<float, dyn, 4> x("x");
        placeholder<int, dyn> label("label");
        auto logits = dense<10, 3>("two", tanh(dense<4, 10>("one", x)));
        auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
        auto step = adam({.learning_rate = 0.05}).minimize(loss);
        const session s;
        s.run(global_variables_initializer());
        xt::xtensor<float, 2> xs({50, 4});
        std::vector<int> labels(50);
        for (std::size_t i = 0; i < 50; ++i) {
            for (std::size_t k = 0; k < 4; ++k) xs(i, k) = static_cast<float>((i * 7 + k * 13) % 11) / 5.f - 1.f;
            labels[i] = xs(i, 0) > 0.2f ? 2 : xs(i, 1) > 0 ? 1 : 0;
        }
        std::vector<float> got;
        for (int i = 0; i < 30; ++i)
            got.push_back(std::get<0>(s.run(std::tuple(loss, step), feed(x, xs), feed(label, labels))));
        CHECK(got.back() < got.front());
        return got;
    };
    CHECK(test_far::same(train("/device:thrust:0"), train("/device:cpu:0")));
}

TEST_CASE("thrust host: fused nodes with slices of their operands and a padding around their result") {
    const auto run = [](const char* device) {
        const graph g;
        const graph_scope here(g);
        const device_scope there(device);
        placeholder<float, 8, 9> x("x");
        const auto inner =
            slice<6, 7>(x, {1, 1}) * 0.5f + slice<6, 7>(x, {0, 1}) * 0.25f + slice<6, 7>(x, {2, 2}) * 0.25f;
        const tensor padded = pad(tensor(inner), {{1, 1}, {1, 1}});
        xt::xtensor<float, 2> xs({8, 9});
        for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<float>((i * 7) % 23);
        const auto got = session(g).run(padded, feed(x, xs));
        return std::vector<float>(got.begin(), got.end());
    };
    CHECK(run("/device:thrust:0") == run("/device:cpu:0"));
}

TEST_CASE("thrust host: single numbers of several ranks in one group") {
    const auto run = [](const char* device) {
        const graph g;
        const graph_scope here(g);
        const device_scope there(device);
        placeholder<float> one("one");
        placeholder<float, 1> row("row");
        placeholder<float, 1, 1> square("square");
        const tensor a = one * 2.f + 1.f;
        const tensor b = row * row - a;
        const tensor<float> c = reduce_sum(square / 4.f + b);
        const auto all = session(g).run(std::tuple(a, b, c), feed(one, 3.f), feed(row, std::vector<float>{5.f}),
                                        feed(square, xt::xtensor<float, 2>{{8.f}}));
        return std::vector<float>{std::get<0>(all), std::get<1>(all)(0), std::get<2>(all)};
    };
    CHECK(run("/device:cpu:0") == std::vector<float>{7, 18, 20});
    CHECK(run("/device:thrust:0") == std::vector<float>{7, 18, 20});
}

TEST_CASE("thrust host: nodes run there, and errors in data are those of the CPU") {
    const graph g;
    const graph_scope here(g);
    const device_scope there("/device:thrust:0");
    placeholder<int, dyn> x("x");
    tensor y = constant({6, 7}) / x;
    const session s;
    const auto [value, trace] = s.run_traced(y, feed(x, {2, 7}));
    CHECK(value(0) == 3);
    CHECK_THROWS_WITH(s.run(y, feed(x, {2, 0})), contains("integer division by zero"));
    CHECK(s.run(y, feed(x, {1, 1}))(1) == 7);
    const auto rows = gather<0>(tensor(constant({1.f, 2.f})), x);
    CHECK_THROWS_WITH(s.run(rows, feed(x, {0, 7})), contains("id 7 at [1] is outside [0, 2)"));
    // of so many quotients that several threads compute them
    placeholder<int, dyn> many("many");
    tensor z = many / (many - 70000);
    std::vector<int> all(100000);
    for (int i = 0; i < 100000; ++i) all[static_cast<std::size_t>(i)] = i;
    CHECK_THROWS_WITH(s.run(z, feed(many, all)), contains("integer division by zero"));
    all[70000] = 0;
    CHECK(s.run(z, feed(many, all))(70001) == 70001);
}

} // namespace test_thrust_host
