// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What this processor could do at best, measured when a program first asks, and the share of it that a benchmark reached:
// its bytes and operations against memory's bandwidth and the arithmetic of one core, whichever binds.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <rill/core/allocator.hpp>
#include <rill/device/cpu/simd/pack.hpp>

namespace roofline {

struct machine {
    double flops = 0, bytes = 0; // a second, of one core

    static const machine& measured() {
        static const machine m{arithmetic(), bandwidth()};
        return m;
    }

private:
    template <class F> static double best_seconds(const F& f) {
        double best = 1e9;
        for (int i = 0; i < 5; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            f();
            best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        return best;
    }

    static double arithmetic() {
        constexpr int lanes = rill::lanes_for<float>, chains = 12, turns = 1'000'000;
        using V = rill::pack<float, lanes>;
        float start = 1.f;
        const double seconds = best_seconds([&] {
            benchmark::DoNotOptimize(start);
            V sum[chains];
            for (auto& s : sum) s = V(start);
            const V x(0.999f), y(1e-3f);
            for (int i = 0; i < turns; ++i)
                for (auto& s : sum) s = fma(s, x, y);
            V all(0.f);
            for (const auto& s : sum) all = all + s;
            benchmark::DoNotOptimize(all);
        });
        return 2.0 * lanes * chains * turns / seconds;
    }

    static double bandwidth() {
        const std::vector<float> memory(std::size_t(32) << 20, 1.f); // 128 MB
        constexpr int lanes = rill::lanes_for<float>, streams = 4;
        using V = rill::pack<float, lanes>;
        const double seconds = best_seconds([&] {
            V sum[streams];
            for (auto& s : sum) s = V(0.f);
            for (std::size_t i = 0; i + lanes * streams <= memory.size(); i += lanes * streams)
                for (int k = 0; k < streams; ++k)
                    sum[k] = sum[k] + V::load(memory.data() + i + static_cast<std::size_t>(k * lanes));
            benchmark::DoNotOptimize(sum);
        });
        return static_cast<double>(memory.size() * sizeof(float)) / seconds;
    }
};

/// Stands before the loop of a benchmark and counts behind it: of turns that each move so many bytes between core and memory
/// and compute so many operations. Data that fits into a cache can pass a roofline of 1 (the cache is nearer than memory), and
/// so can work that several cores share.
class meter {
public:
    void report(benchmark::State& state, double bytes, double flops) const {
        const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin_;
        const double seconds =
            all.count() / static_cast<double>(std::max<std::int64_t>(1, static_cast<std::int64_t>(state.iterations())));
        const auto& m = machine::measured();
        if (bytes > 0) state.counters["GB/s"] = bytes * 1e-9 / seconds;
        if (flops > 0) state.counters["GFLOP/s"] = flops * 1e-9 / seconds;
        state.counters["roofline"] = std::max(bytes / m.bytes, flops / m.flops) / seconds;
    }

private:
    std::chrono::steady_clock::time_point begin_ = (machine::measured(), std::chrono::steady_clock::now());
};

} // namespace roofline
