// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the C++ programs share: the data, the timing loop and the protocol. common.py is the same for Python and says what
// the commands are.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace peers {

// ---- data: the same formulas in every program ------------------------------------------------------------------------
inline std::vector<float> filled(std::int64_t n, int salt = 0) {
    std::vector<float> v;
    v.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        v.push_back(static_cast<float>(static_cast<double>((i * 37 + salt * 11) % 101) / 101 - 0.5));
    return v;
}
inline std::vector<int> labels(int n, int classes) {
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(i * 7 % classes);
    return v;
}
/// A thousand of them, a tenth of which come twice.
inline std::vector<int> table_ids(std::int64_t rows) {
    std::vector<int> v;
    for (std::int64_t i = 0; i < 1'000; ++i) v.push_back(static_cast<int>(i % 900 * 7919 % rows));
    return v;
}
/// The lengths of 64 sequences with 28 steps at most.
inline std::vector<int> sequence_lengths() {
    std::vector<int> v;
    for (int i = 0; i < 64; ++i) v.push_back(1 + i * 11 % 28);
    return v;
}
inline std::vector<float> weights(std::int64_t in, std::int64_t out) {
    std::vector<float> v;
    for (std::int64_t i = 0; i < in; ++i)
        for (std::int64_t j = 0; j < out; ++j)
            v.push_back(static_cast<float>((static_cast<double>((i * 31 + j * 17) % 23) / 23 - 0.5) * 2 /
                                           std::sqrt(static_cast<double>(in))));
    return v;
}
inline std::vector<float> filters(std::int64_t height, std::int64_t width, std::int64_t in, std::int64_t out) {
    auto v = filled(height * width * in * out, 2);
    const auto scale = static_cast<float>(2 / std::sqrt(static_cast<double>(height * width * in)));
    for (float& x : v) x *= scale;
    return v;
}
/// Of the states of the recurrent network.
inline std::vector<float> rnn_state_weights() {
    auto v = filled(32 * 32, 1);
    for (float& x : v) x /= 4;
    return v;
}

// ---- what is checked -------------------------------------------------------------------------------------------------
using numbers = std::vector<double>;

/// Sum, first, middle and last element.
inline numbers of_array(std::span<const float> y) {
    double sum = 0;
    for (const float v : y) sum += v;
    return {sum, y.front(), y[y.size() / 2], y.back()};
}
/// Sums of products may cancel, so the sum is that of the absolute values.
inline numbers of_product(std::span<const float> c) {
    double sum = 0;
    for (const float v : c) sum += std::abs(v);
    return {sum, c.front(), c[c.size() / 2], c.back()};
}
inline numbers of_products(std::initializer_list<std::span<const float>> arrays) {
    numbers all;
    for (const auto& array : arrays)
        for (const double v : of_product(array)) all.push_back(v);
    return all;
}
/// y = y * 1.0001 + x by so many nodes from x = y = 1, over what it is without rounding: 1.
inline double relative_to_chain(double y, int nodes) {
    const double power = std::pow(1.0001, nodes / 2);
    return y / (power + (power - 1) / 0.0001);
}

// ---- rows and their times --------------------------------------------------------------------------------------------
using clock = std::chrono::steady_clock;

template <class Work> double seconds_of(const Work& work) {
    const auto begin = clock::now();
    work();
    return std::chrono::duration<double>(clock::now() - begin).count();
}

/// The compiler must take a value for used.
template <class T> void used(const T& value) { asm volatile("" : : "r,m"(value) : "memory"); }

/// A row made ready: `repeat` executes it n times, or `once` measures it, in seconds.
struct row {
    std::function<numbers()> check;
    std::function<void(std::int64_t)> repeat;
    std::function<double()> once = {};
};
using row_list = std::vector<std::pair<std::string, std::function<row()>>>;

template <class Check, class Step> row steps(Check check, Step step) {
    return {std::move(check), [step = std::move(step)](std::int64_t n) mutable {
                for (std::int64_t i = 0; i < n; ++i) step();
            }};
}
/// Ten steps, then the loss and how far it fell.
template <class Step, class Loss> row training(Step step, Loss loss) {
    return steps(
        [=]() mutable {
            const double before = loss();
            for (int i = 0; i < 10; ++i) step();
            const double after = loss();
            return numbers{after, before - after};
        },
        step);
}

/// Median microseconds of one execution, over batches long enough (1 ms) for the clock not to count.
inline std::pair<double, std::int64_t> measure(const row& r, double seconds) {
    if (r.once) return {r.once() * 1e6, 1};
    const auto batch_time = [&](std::int64_t n) { return seconds_of([&] { r.repeat(n); }); };
    batch_time(2);
    std::int64_t count = 1;
    for (double warm; (warm = batch_time(count)) < 1e-3;)
        count = warm > 1e-5 ? std::max(2 * count, static_cast<std::int64_t>(static_cast<double>(count) * 1.1e-3 / warm))
                            : 10 * count;
    std::vector<double> batches;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    while (batches.size() < 3 || clock::now() < end) batches.push_back(batch_time(count));
    const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2);
    std::nth_element(batches.begin(), middle, batches.end());
    return {*middle / static_cast<double>(count) * 1e6, count * static_cast<std::int64_t>(batches.size())};
}

// ---- the protocol ----------------------------------------------------------------------------------------------------
inline std::string answer(const std::string& line, const row_list& rows, std::map<std::string, row>& ready) {
    std::istringstream words(line);
    std::ostringstream reply;
    std::string verb, name;
    words >> verb >> name;
    if (verb == "rows") {
        for (const auto& [each, make] : rows) reply << each << ' ';
        return reply.str();
    }
    if (!ready.contains(name)) {
        ready.clear(); // one row at a time: some hold much memory
        const auto at = std::ranges::find(rows, name, &row_list::value_type::first);
        if (at == rows.end()) return "error no row " + name;
        ready[name] = at->second();
    }
    if (verb == "check") {
        reply.precision(9);
        for (const double v : ready[name].check()) reply << v << ' ';
    } else if (double seconds; verb == "time" && words >> seconds) {
        const auto [median, count] = measure(ready[name], seconds);
        reply << median << ' ' << count;
    } else {
        return "error unknown command: " + line;
    }
    return reply.str();
}

inline void serve(const row_list& rows) {
    std::map<std::string, row> ready;
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
        try {
            std::cout << answer(line, rows, ready) << std::endl;
        } catch (const std::exception& problem) {
            std::string what = problem.what();
            std::ranges::replace(what, '\n', ' ');
            std::cout << "error " << what << std::endl;
        }
    }
}

} // namespace peers
