// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>

#include <rill/device/thrust/host_recorder.hpp>
#include <rill/rill.hpp>

#include "../../catch.hpp"

namespace test_thrust {

using namespace rill;

constexpr std::size_t mega = std::size_t(1) << 20;

/// The captures and replays of a virtual device.
struct counts {
    int captures = 0, replays = 0; // of ranges of steps
    int loops = 0, loop_replays = 0;
};

/// A virtual device whose captures and replays are counted.
class counted_device {
public:
    explicit counted_device(bool graphs = true, std::size_t limit = 37 * mega) {
        options.virtual_devices = {{limit}};
        options.cuda_graphs = graphs;
        space = chosen_host_memories(*find_device("thrust"), options).at(0);
        now() = {};
        const_cast<memory_space*>(space)->capture = [](const memory_space&,
                                                       const std::function<void()>& start) -> std::function<void()> {
            ++std::atomic_ref(now().captures);
            return [inner = detail::host_recorder::capture(start)] {
                ++std::atomic_ref(now().replays);
                inner();
            };
        };
        const_cast<memory_space*>(space)->capture_loop = [](const memory_space&,
                                                            const recorded_loop& loop) -> std::function<void()> {
            ++std::atomic_ref(now().loops);
            return [inner = detail::host_recorder::capture_loop(loop)] {
                ++std::atomic_ref(now().loop_replays);
                inner();
            };
        };
    }
    counted_device(const counted_device&) = delete;

    static counts& now() {
        static counts all;
        return all;
    }
    gpu_options options;
    const memory_space* space = nullptr;
};

/// Runs `make()` in a graph of its own with and without captures, and checks that the outcomes are equal. Returns the counts with them.
template <class Run> counts same_without(const Run& run) {
    const auto outcome = [&](bool graphs) {
        const graph g;
        const graph_scope here(g);
        counted_device device(graphs);
        const device_scope there("/device:thrust:0");
        return run(session_options{.gpu = device.options});
    };
    const auto eager = outcome(false);
    CHECK(counted_device::now().captures + counted_device::now().loops == 0);
    const auto replayed = outcome(true);
    CHECK(eager == replayed);
    return counted_device::now();
}

} // namespace test_thrust
