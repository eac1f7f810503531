// SPDX-License-Identifier: BSD-3-Clause
// The two placers on the far devices, whose copies end late: a graph that was built for it takes less simulated time where the placer
// knows costs.
#include <rill/rill.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../../catch.hpp"
#include "by_default.hpp"

using namespace rill;

namespace test_far_placers {

/// Makes the far devices ten times as fast as the CPU for the estimates of placers.
class fast_estimates {
public:
    fast_estimates() : type_(const_cast<device_type&>(test_far::device())), before_(type_.flops_per_microsecond) {
        type_.flops_per_microsecond = 10 * cpu_device().flops_per_microsecond;
    }
    ~fast_estimates() { type_.flops_per_microsecond = before_; }
    fast_estimates(const fast_estimates&) = delete;
    const device_type& type() const { return type_; }

private:
    device_type& type_; // the object itself is not const
    const double before_;
};

/// The simulated time of a step, and what it gives.
struct outcome {
    double microseconds = 0;
    std::vector<any_array> values;
    bool uses_both = false;
};

constexpr index_t extent = 192;
constexpr int links = 12;
using matrix = tensor<float, extent, extent>;

outcome run(placers placer, const device_type& type, bool cut) {
    const test_far::by_default there("far");
    const graph g;
    const graph_scope here(g);
    const placeholder<float, extent, extent> x("x"), y("y");
    const auto chain = [&](const matrix& first) {
        matrix m(first);
        for (int i = 0; i < links; ++i) m = matmul(m, x);
        return m;
    };
    const matrix a = chain(x), b = chain(y), meet(matmul(a, b));
    const session s(g, {.inter_op_threads = 1,
                        .intra_op_threads = 1,
                        .device_count = {{"far", 2}},
                        .placer = placer,
                        .partition_devices = cut});
    any_array xs(dtype::float32, dims{extent, extent});
    for (index_t i = 0; i < extent * extent; ++i)
        static_cast<float*>(xs.mutable_data())[i] = static_cast<float>(i % 5 - 2) * 0.1f;
    const std::vector<feed_value> fed{feed(any_tensor(x), xs), feed(any_tensor(y), xs)};
    const std::vector<any_tensor> fetched{meet};
    (void)s.run(fetched, fed); // compiles the plan
    outcome made;
    test_far::all_clocks().start(type.flops_per_microsecond, type.bytes_per_microsecond);
    made.values = s.run(fetched, fed);
    made.microseconds = test_far::all_clocks().end();
    test_far::all_clocks().stop();
    int used = 0;
    for (const auto& p : s.partition({meet}, {x, y})) used += p.device.find("far") != std::string::npos;
    made.uses_both = used == 2;
    return made;
}

TEST_CASE("far: the placer by cost takes less simulated time than the simple one on devices whose copies end late") {
    test_far::all_copies().draw_from(7);
    const fast_estimates fast;
    const auto simple = run(placers::simple, fast.type(), false);
    CHECK(!simple.uses_both);
    const double product = 2. * extent * extent * extent / fast.type().flops_per_microsecond;
    CHECK(simple.microseconds > (2 * links + 1) * product); // all products in line
    for (const bool cut : {false, true}) {
        INFO((cut ? "cut" : "whole"));
        const auto by_cost = run(placers::by_cost, fast.type(), cut);
        CHECK(by_cost.uses_both);
        CHECK(by_cost.microseconds > (links + 1) * product); // the longest way
        CHECK(by_cost.microseconds < 0.8 * simple.microseconds);
        REQUIRE(by_cost.values.size() == 1);
        for (index_t i = 0; i < extent * extent; i += 97)
            CHECK(by_cost.values[0].elements<float>()[static_cast<std::size_t>(i)] ==
                  simple.values[0].elements<float>()[static_cast<std::size_t>(i)]);
    }
}

TEST_CASE("far: in a whole plan a device waits for no work of the other one that it does not need") {
    test_far::all_copies().draw_from(7);
    const test_far::by_default there("far");
    const auto run = [](bool apart) {
        const graph g;
        const graph_scope here(g);
        const auto on = [](const char* device, const auto& make) {
            const device_scope scope(device);
            return make();
        };
        const placeholder<float, extent, extent> x("x");
        const auto w = on("/far:0", [] {
            return variable<float, extent, extent>("w", xt::xtensor<float, 2>(0.1f * xt::eye<float>(extent)));
        });
        const auto chain = [&](const matrix& first) {
            matrix m(first);
            for (int i = 0; i < links; ++i) m = matmul(m, w);
            return m;
        };
        const auto a = on("/far:0", [&] { return chain(matrix(x * 2.f)); });
        const auto between = on("/far:0", [&] { return matrix(x + 1.f); });
        const auto b = on(apart ? "/far:1" : "/far:0", [&] { return chain(matrix(matmul(between, w))); });
        const session s(g, {.inter_op_threads = 1, .intra_op_threads = 1, .device_count = {{"far", 2}}});
        s.run(global_variables_initializer());
        any_array xs(dtype::float32, dims{extent, extent});
        for (index_t i = 0; i < extent * extent; ++i)
            static_cast<float*>(xs.mutable_data())[i] = static_cast<float>(i % 5 - 2) * 0.1f;
        const std::vector<feed_value> fed{feed(any_tensor(x), xs)};
        const std::vector<any_tensor> fetched{a, b};
        (void)s.run(fetched, fed); // compiles the plan
        const auto& type = test_far::device();
        test_far::all_clocks().start(type.flops_per_microsecond, type.bytes_per_microsecond);
        auto values = s.run(fetched, fed);
        const double microseconds = test_far::all_clocks().end();
        test_far::all_clocks().stop();
        return std::pair(microseconds, std::move(values));
    };
    const auto [together, wanted] = run(false);
    const auto [beside, got] = run(true);
    const double product = 2. * extent * extent * extent / test_far::device().flops_per_microsecond;
    CHECK(together > (2 * links + 1) * product);
    CHECK(beside > (links + 1) * product);
    CHECK(beside < 0.7 * together);
    REQUIRE(got.size() == 2);
    for (const std::size_t k : {0u, 1u})
        CHECK(std::ranges::equal(got[k].elements<float>(), wanted[k].elements<float>()));
}

} // namespace test_far_placers
