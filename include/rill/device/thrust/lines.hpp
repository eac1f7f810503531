// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <rill/device/cpu/primitives/windows.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/primitives.hpp>

// Kernels for functions of rows, running values along an axis, and the largest elements of rows. One thread takes a line.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The layout of a row that one thread processes.
template <class C> class serial_row {
public:
    using V = lane<C>;
    static constexpr int lanes = 1, rows = 1;

    RILL_FN explicit serial_row(index_t columns) : columns_(columns) {}

    RILL_FN static V load(const C* from, index_t at) { return V(from[at]); }
    RILL_FN static void store(const V& v, C* to, index_t at) { to[at] = v.v; }
    template <class F> RILL_FN void each(F f) const {
        for (index_t i = 0; i < columns_; ++i) f(i);
    }
    template <class F> RILL_FN V sum(F f) const {
        V all(C(0));
        for (index_t i = 0; i < columns_; ++i) all = all + f(i);
        return all;
    }
    template <class F> RILL_FN V largest(F f) const {
        V all(-std::numeric_limits<C>::infinity());
        for (index_t i = 0; i < columns_; ++i) all = max(all, f(i));
        return all;
    }
    RILL_FN static index_t place(int, index_t column) { return column; }
    RILL_FN static void store_numbers(const V& v, C* to) { *to = v.v; }

private:
    index_t columns_;
};

/// A function object that calls f for one row. A narrow type is widened into scratch memory for one row, so that one layout computes
/// all rows in turn.
template <class T, class I, std::size_t In, std::size_t Out, class F> struct row_function {
    using C = compute_type<T>;
    static constexpr bool widens = !std::is_same_v<C, T>;

    index_t count, columns;
    std::array<const T*, In> in;
    std::array<T*, Out> out;
    row_numbers<T, I> numbers;
    F f;
    C* wide;

    /// Computes row i over a layout of rows; for a narrow type computes all rows, with i = 0.
    template <template <class> class Layout> RILL_FN void run(index_t i) const {
        const Layout<C> layout(columns);
        if constexpr (widens)
            for (index_t row = 0; row < count; ++row) run_widened(layout, row);
        else
            run_row(layout, i);
    }

private:
    template <class Layout> RILL_FN void run_row(const Layout& layout, index_t row) const {
        std::array<const C*, In> from{};
        std::array<C*, Out> to{};
        for (std::size_t k = 0; k < In; ++k) from[k] = in[k] + row * columns;
        for (std::size_t k = 0; k < Out; ++k) to[k] = out[k] + row * columns;
        f(layout, from, to, numbers.from(row));
    }
    template <class Layout> RILL_FN void run_widened(const Layout& layout, index_t row) const {
        std::array<const C*, In> from{};
        std::array<C*, Out> to{};
        for (std::size_t k = 0; k < In; ++k) {
            C* const memory = wide + static_cast<index_t>(k) * columns;
            layout.each([&](index_t c) { memory[c] = static_cast<C>(in[k][row * columns + c]); });
            from[k] = memory;
        }
        for (std::size_t k = 0; k < Out; ++k) to[k] = wide + static_cast<index_t>(In + k) * columns;
        f(layout, from, to, numbers.from(row));
        for (std::size_t k = 0; k < Out; ++k)
            layout.each([&](index_t c) { out[k][row * columns + c] = static_cast<T>(to[k][c]); });
    }
};

/// A function object that computes running sums or products of one line. Narrow floating types accumulate in float; integers wrap.
template <combine How, class T> struct running_line {
    static_assert(How == combine::sum || How == combine::prod);
    using C = compute_type<T>;
    const T* x;
    T* to;
    index_t extent, inner;
    bool exclusive, reverse;

    RILL_FN void operator()(index_t i) const {
        const index_t base = i / inner * extent * inner + i % inner;
        lane<C> so_far(static_cast<C>(How == combine::prod ? 1 : 0));
        for (index_t e = 0; e < extent; ++e) {
            const index_t at = base + (reverse ? extent - 1 - e : e) * inner;
            const lane<C> here(static_cast<C>(x[at]));
            lane<C> next;
            if constexpr (How == combine::sum)
                next = so_far + here;
            else
                next = so_far * here;
            to[at] = static_cast<T>(exclusive ? so_far.v : next.v);
            so_far = next;
        }
    }
};

/// A function object that computes a linear recurrence along one line.
template <class T> struct recurrence_line {
    using C = compute_type<T>;
    const T *factors, *terms;
    T* to;
    index_t extent, inner;
    bool reverse;

    RILL_FN void operator()(index_t i) const {
        const index_t base = i / inner * extent * inner + i % inner;
        lane<C> so_far(C(0));
        for (index_t e = 0; e < extent; ++e) {
            const index_t at = base + (reverse ? extent - 1 - e : e) * inner;
            const lane<C> factor(static_cast<C>(factors[at])), term(static_cast<C>(terms[at]));
            to[at] = static_cast<T>(so_far.v);
            // the first factor times 0 could be NaN, and so could a factor of 0 times what came before
            so_far = e == 0 || factor.v == C(0) ? term : factor * so_far + term;
        }
    }
};

/// An order of a row's elements for top_k: NaN first, then by descending value, then by index.
template <class T> struct larger_first {
    using C = compute_type<T>;
    const T* x;

    RILL_FN bool operator()(std::int32_t i, std::int32_t j) const {
        const C a = static_cast<C>(x[i]), b = static_cast<C>(x[j]);
        const bool a_is_nan = is_missing(a), b_is_nan = is_missing(b);
        if (a_is_nan != b_is_nan) return a_is_nan;
        return a > b || (!(b > a) && i < j);
    }
};

/// A function object that counts the elements of a row that precede one element. It stores the element if fewer than k do.
template <class T> struct rank_element {
    const T* x;
    T* values;
    std::int32_t* ids;
    index_t columns, k;

    RILL_FN void operator()(index_t i) const {
        const index_t row = i / columns;
        const auto own = static_cast<std::int32_t>(i % columns);
        const larger_first<T> before{x + row * columns};
        index_t rank = 0;
        for (std::int32_t c = 0; c < static_cast<std::int32_t>(columns); ++c) rank += before(c, own) ? 1 : 0;
        if (rank >= k) return;
        values[row * k + rank] = before.x[own];
        ids[row * k + rank] = own;
    }
};

struct count_element {
    std::int32_t* to;
    RILL_FN void operator()(index_t i) const { to[i] = static_cast<std::int32_t>(i); }
};

/// A function object that stores element i of a row's order.
template <class T> struct ordered_element {
    const T* x;
    const std::int32_t* order;
    T* values;
    std::int32_t* ids;
    RILL_FN void operator()(index_t i) const {
        ids[i] = order[i];
        values[i] = x[order[i]];
    }
};

/// A function object that computes one element of f.run(x, numbers, y), with the same numbers for all.
template <class F, class X, class Y, std::size_t N> struct transform_element {
    F f;
    const X* x;
    std::array<const float*, N> numbers;
    Y* y;
    RILL_FN void operator()(index_t i) const {
        std::array<float, N> all{};
        for (std::size_t n = 0; n < N; ++n) all[n] = *numbers[n];
        f.run(x[i], all, y[i]);
    }
};

/// A function object that computes a few numbers from others, in double.
template <class F, class T, std::size_t N> struct scalar_function {
    F f;
    std::array<const T*, N> from;
    T* to;
    RILL_FN void operator()(index_t) const {
        std::array<double, N> in{};
        for (std::size_t i = 0; i < N; ++i) in[i] = static_cast<double>(*from[i]);
        const auto all = f(in);
        for (std::size_t i = 0; i < all.size(); ++i) to[i] = convert<T>(all[i]);
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
