// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Shared parts of the programs of `make gpu`. nvcc compiles them for the device "gpu". Most are also compiled by other compilers for the device
// "thrust", which runs them in `make check CHECK_KINDS=gpu`. Each prints `ok` or `WRONG` for what it sees, and ends with 1 after a `WRONG`,
// and with 77 where there is no GPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <rill/rill.hpp>

#include "by_default.hpp"

namespace gpu_test {

using namespace rill;

inline int problems = 0;

inline void expect(bool good, const std::string& what) {
    std::printf("%s: %s\n", good ? "ok" : "WRONG", what.c_str());
    std::fflush(stdout);
    problems += good ? 0 : 1;
}

/// Returns the type of the device whose values are compared with the CPU's.
inline std::string device_type_name() {
#if defined(__CUDACC__)
    return "gpu";
#else
    return "thrust";
#endif
}
inline bool has_device() { return find_device(device_type_name()); }

/// Begins a program whose nodes run on the device by default. Ends it where there is none.
inline void begin() {
    if (has_device()) return set_default_device(device_type_name());
    std::printf("no device '%s'\n", device_type_name().c_str());
    std::exit(77);
}
/// Returns the exit status of a program.
inline int end() { return problems ? 1 : 0; }

/// Returns a number of rounds: the argument of the program at a position, or the usual one.
inline int rounds(int count, char** arguments, int at, int usual) {
    return count > at ? std::atoi(arguments[at]) : usual;
}

using numbers = std::vector<double>;

template <class X> numbers values_of(const X& x) {
    if constexpr (std::is_arithmetic_v<X>)
        return {static_cast<double>(x)};
    else
        return {x.begin(), x.end()};
}

inline xt::xtensor<float, 2> drawn(std::size_t rows, std::size_t columns, unsigned seed) {
    std::mt19937 r(seed);
    xt::xtensor<float, 2> all({rows, columns});
    for (auto& x : all) x = static_cast<float>(r() % 2001) / 1000.f - 1.f;
    return all;
}

/// Returns how far apart two numbers are, relative to the second one; 0 for equal infinities and for two NaNs, infinite for one.
inline double apart(double got, double wanted) {
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return 0;
    const double by = std::abs(got - wanted) / std::max(1., std::abs(wanted));
    return std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
}

/// Runs a program on the CPU and on the device: the same numbers, within rounding.
template <class F> void on_both(const std::string& name, const F& f, double tolerance = 1e-4) {
    const auto run = [&](const std::string& device) {
        const graph g;
        const graph_scope here(g);
        const device_scope there(device);
        return f();
    };
    const numbers wanted = run("/device:cpu:0"), got = run("");
    double worst = got.size() == wanted.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i)
        worst = std::max(worst, apart(got[i], wanted[i]));
    expect(worst <= tolerance, name + ", apart by " + std::to_string(worst));
}

} // namespace gpu_test
