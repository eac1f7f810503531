// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/rows.hpp>

#include <limits>
#include <vector>

#include <rill/core/half.hpp>
#include <rill/ops/nn/log_softmax.hpp>
#include <rill/ops/nn/softmax.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_rows {

template <class T> std::vector<T> numbers(index_t n) {
    std::vector<T> out;
    for (index_t i = 0; i < n; ++i) out.push_back(static_cast<T>(std::sin(static_cast<float>(i) * 1.7f) * 5));
    return out;
}
template <class T> bool near(const std::vector<T>& a, const std::vector<T>& b, double tolerance) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](T x, T y) { return std::abs(static_cast<double>(x) - static_cast<double>(y)) <= tolerance; });
}

/// An op's kernel over rows.
template <class Op, class T> void run_rows(index_t rows, index_t columns, const T* x, T* y, void* = nullptr) {
    const std::vector<tensor_type> type{{dtype_of<T>, dims{rows, columns}}};
    kernel_request request{type, type};
    const kernel k = Op{}.template bind<cpu, T>(request);
    std::vector<std::byte> scratch(request.scratch_bytes);
    void* slots[] = {const_cast<T*>(x), y};
    const std::int32_t numbers[] = {0, 1};
    const execution_context on{.scratch = scratch.data()};
    k({slots, numbers, numbers + 1, on, nullptr});
}

/// Many rows at once and one at a time give the same, whichever layout either takes.
template <class T, class F> void check_layouts(const F& f, double tolerance) {
    for (const index_t columns : {1, 2, 7, 8, 16, 17, 31, 32, 33, 100})
        for (const index_t rows : {1, 2, 3, 8, 16, 21}) {
            const auto x = numbers<T>(rows * columns);
            std::vector<T> all(x.size()), each(x.size());
            f(rows, columns, x.data(), all.data());
            for (index_t r = 0; r < rows; ++r) f(1, columns, x.data() + r * columns, each.data() + r * columns);
            INFO(rows << " rows of " << columns);
            CHECK(near(all, each, tolerance));
            auto in_place = x;
            f(rows, columns, in_place.data(), in_place.data());
            CHECK(in_place == all);
        }
}

TEST_CASE("softmax rows: one result whatever the layout") {
    check_layouts<float>(
        [](index_t r, index_t c, const float* x, float* y) { run_rows<softmax_op>(r, c, x, y, nullptr); }, 1e-6);
    check_layouts<double>(
        [](index_t r, index_t c, const double* x, double* y) { run_rows<softmax_op>(r, c, x, y, nullptr); }, 1e-14);
    check_layouts<float>(
        [](index_t r, index_t c, const float* x, float* y) { run_rows<log_softmax_op>(r, c, x, y, nullptr); }, 2e-6);
    check_layouts<double>(
        [](index_t r, index_t c, const double* x, double* y) { run_rows<log_softmax_op>(r, c, x, y, nullptr); }, 1e-14);
    CHECK(row_scratch_bytes<half>(100, 2) == 800);
    CHECK(row_scratch_bytes<float>(100, 2) == 0);
    check_layouts<half>([&](index_t r, index_t c, const half* x, half* y) { run_rows<softmax_op>(r, c, x, y); }, 1e-3);
}

TEST_CASE("softmax rows: a row sums up to one") {
    for (const index_t columns : {3, 10, 1000}) {
        const auto x = numbers<float>(4 * columns);
        std::vector<float> y(x.size());
        run_rows<softmax_op>(4, columns, x.data(), y.data(), nullptr);
        for (std::size_t r = 0; r < 4; ++r) {
            double sum = 0;
            for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
                sum += static_cast<double>(y[r * static_cast<std::size_t>(columns) + c]);
            CHECK(sum == Approx(1));
        }
    }
}

} // namespace test_device_cpu_rows
