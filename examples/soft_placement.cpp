// SPDX-License-Identifier: BSD-3-Clause
// Three requests that can't be met: a type of device that the program lacks, a number that the session lacks, and an op without a kernel
// for the device. Each is an error that says so, or runs on the CPU where soft placement is allowed.
#include <algorithm>
#include <concepts>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <rill/rill.hpp>

#include "accelerator.hpp"
#include "expect.hpp"

using namespace rill;

/// The median of a vector, by code for the CPU alone.
struct median_op {
    static constexpr auto name = "Median";
    using domain_type = domains::real_floating;
    static constexpr auto no_gradient = "a number between its neighbours";

    constexpr shape_result shape(const dims&) const { return {dims{}}; }
    template <std::same_as<cpu> Device, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        return kernel([n](const kernel_args& a) {
            std::vector<T> sorted(a.in<T>(0), a.in<T>(0) + n);
            std::ranges::sort(sorted);
            *a.out<T>(0) = sorted[sorted.size() / 2];
        });
    }
};

template <graph_operand X>
auto median(const X& x, const std::source_location& where = std::source_location::current()) {
    return apply_node(median_op(), [](const dims& shape) { return median_op().shape(shape); }, where, x);
}

int main() {
    const std::string type = accelerator(), first = "/device:" + type + ":0";
    placeholder<float, dyn> x("x");
    const auto pinned = [](const std::string& device, const auto& make) {
        const device_scope there(device);
        return make();
    };
    const auto nowhere = pinned("/device:tpu:0", [&] { return tensor(x + 1.f, "nowhere"); });
    const auto too_far = pinned("/device:" + type + ":5", [&] { return tensor(x * 2.f, "too_far"); });
    const auto middle = pinned(first, [&] { return tensor(median(x * x) + 0.5f, "middle"); });
    const std::vector<float> value{3, 1, 2};

    const session strict;
    std::printf("devices:");
    for (const auto& d : strict.devices()) std::printf(" %s", d.name.c_str());
    std::printf("\n");
    const auto refused = [&](const auto& y, const std::string& words) {
        try {
            strict.run(y, feed(x, value));
        } catch (const invalid_argument& problem) {
            std::printf("error: %s\n", problem.what());
            expect(std::string(problem.what()).find(words) != std::string::npos, "the error says what is missing");
            return;
        }
        expect(false, "a request that can't be met is refused");
    };
    refused(nowhere, "'/device:tpu:0'");
    refused(too_far, "'/device:" + type + ":5'");
    refused(middle, "no kernel of the op");

    std::vector<std::string> placed;
    set_log_sink([&](log_level, std::string_view line) { placed.emplace_back(line); });
    const session soft({.allow_soft_placement = true, .log_device_placement = true});
    expect(soft.run(nowhere, feed(x, value))(1) == 2, "runs on the CPU");
    expect(soft.run(too_far, feed(x, value))(0) == 6, "runs on the CPU");
    expect(soft.run(middle, feed(x, value)) == 4.5f, "the median on the CPU, the rest where it was asked for");
    set_log_sink({});
    for (const auto& line : placed) std::printf("%s\n", line.c_str());
    const auto on_cpu = [&](const std::string& node) {
        for (const auto& line : placed)
            if (line.starts_with(node)) return line.ends_with("CPU:0");
        return false;
    };
    expect(on_cpu("nowhere") && on_cpu("too_far") && !on_cpu("middle"), "the log says where each runs");
}
