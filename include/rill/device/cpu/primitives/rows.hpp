// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/core/dims.hpp>
#include <rill/device/cpu/simd/pack.hpp>
#include <rill/device/primitives.hpp>

// Functions of rows, such as softmax, written once over a layout. A long row is a sequence of packs.
// Many short rows lie side by side, one per lane, which avoids sums across lanes.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

struct whole_pack {
    index_t at;
};
struct part_of_pack {
    index_t at;
    int count;
};

template <class T> struct row_packs {
    static constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;

    RILL_FN static V load(const T* from, whole_pack p) { return V::load(from + p.at); }
    RILL_FN static V load(const T* from, part_of_pack p) { return V::load_partial(from + p.at, p.count); }
    RILL_FN static void store(const V& v, T* to, whole_pack p) { v.store(to + p.at); }
    RILL_FN static void store(const V& v, T* to, part_of_pack p) { v.store_partial(to + p.at, p.count); }
};

/// The layout of a single row in packs; the last pack may be partial.
template <class T> class long_row : public row_packs<T> {
public:
    using packs = row_packs<T>;
    using V = typename packs::V;
    static constexpr int lanes = packs::lanes, rows = 1;

    explicit long_row(index_t columns) : whole_(columns / lanes * lanes), rest_(static_cast<int>(columns - whole_)) {
        bool in[lanes];
        for (int i = 0; i < lanes; ++i) in[i] = i < rest_;
        valid_ = mask<T, lanes>::load(in);
    }
    template <class F> RILL_FN void each(F f) const {
        for (index_t i = 0; i < whole_; i += lanes) f(whole_pack{i});
        if (rest_) f(part_of_pack{whole_, rest_});
    }
    template <class F> RILL_FN V sum(F f) const {
        V all(T(0));
        for (index_t i = 0; i < whole_; i += lanes) all = all + f(whole_pack{i});
        if (rest_) all = all + select(valid_, f(part_of_pack{whole_, rest_}), V(T(0)));
        return V(reduce_add(all));
    }
    template <class F> RILL_FN V largest(F f) const {
        V all(-std::numeric_limits<T>::infinity());
        for (index_t i = 0; i < whole_; i += lanes) all = max(all, f(whole_pack{i}));
        if (rest_) all = max(all, f(part_of_pack{whole_, rest_})); // the padding repeats a value of the row
        return V(reduce_max(all));
    }
    RILL_FN static index_t place(int, index_t column) { return column; }
    /// Stores the row's number: all lanes of v hold the same value.
    RILL_FN void store_numbers(const V& v, T* to) const { v.store_partial(to, 1); }

private:
    index_t whole_;
    int rest_;
    mask<T, lanes> valid_;
};

/// The layout of short rows, one per lane: each column is one pack.
template <class T> class short_rows : public row_packs<T> {
public:
    using packs = row_packs<T>;
    using V = typename packs::V;
    static constexpr int lanes = packs::lanes;
    static constexpr index_t most_columns = 32;

    int rows;

    short_rows(int count, index_t columns) : rows(count), columns_(columns) {}

    template <class F> RILL_FN void each(F f) const {
        for (index_t c = 0; c < columns_; ++c) f(whole_pack{c * lanes});
    }
    template <class F> RILL_FN V sum(F f) const {
        V all(T(0));
        each([&](whole_pack p) { all = all + f(p); });
        return all;
    }
    template <class F> RILL_FN V largest(F f) const {
        V all(-std::numeric_limits<T>::infinity());
        each([&](whole_pack p) { all = max(all, f(p)); });
        return all;
    }
    RILL_FN static index_t place(int row, index_t column) { return column * lanes + row; }
    RILL_FN void store_numbers(const V& v, T* to) const {
        if (rows == lanes)
            v.store(to);
        else
            v.store_partial(to, rows);
    }

private:
    index_t columns_;
};

/// Runs f(layout, in, out, row numbers) over matrices of T, computing in C: one row at a time, or several short rows, one per lane.
/// Narrow types are widened into scratch memory.
template <class T, std::size_t In, std::size_t Out, class Numbers, class F>
void over_rows(index_t rows, index_t columns, const std::array<const T*, In>& in, const std::array<T*, Out>& out,
               const Numbers& numbers, void* scratch, const F& f) {
    if (columns == 0 && !numbers.written) return; // without columns, only row numbers can be written
    using C = compute_type<T>;
    using lanes_layout = short_rows<C>;
    constexpr int lanes = lanes_layout::lanes;
    std::array<const C*, In> from;
    std::array<C*, Out> to;
    if (rows > 1 && columns <= lanes_layout::most_columns) {
        C buffer[In + Out][lanes_layout::most_columns * lanes];
        for (std::size_t k = 0; k < In; ++k) from[k] = buffer[k];
        for (std::size_t k = 0; k < Out; ++k) to[k] = buffer[In + k];
        for (index_t first = 0; first < rows; first += lanes) {
            const int n = static_cast<int>(std::min<index_t>(lanes, rows - first));
            for (std::size_t k = 0; k < In; ++k)
                for (int r = 0; r < lanes; ++r) { // unused lanes repeat the last row
                    const T* row = in[k] + (first + std::min(r, n - 1)) * columns;
                    for (index_t c = 0; c < columns; ++c) buffer[k][c * lanes + r] = static_cast<C>(row[c]);
                }
            f(lanes_layout(n, columns), from, to, numbers.from(first));
            for (std::size_t k = 0; k < Out; ++k)
                for (int r = 0; r < n; ++r) {
                    T* row = out[k] + (first + r) * columns;
                    for (index_t c = 0; c < columns; ++c) row[c] = static_cast<T>(to[k][c * lanes + r]);
                }
        }
        return;
    }
    const long_row<C> layout(columns);
    auto* wide = static_cast<C*>(scratch);
    for (index_t r = 0; r < rows; ++r) {
        if constexpr (std::is_same_v<C, T>) {
            for (std::size_t k = 0; k < In; ++k) from[k] = in[k] + r * columns;
            for (std::size_t k = 0; k < Out; ++k) to[k] = out[k] + r * columns;
            f(layout, from, to, numbers.from(r));
        } else {
            for (std::size_t k = 0; k < In; ++k) {
                C* const row = wide + static_cast<index_t>(k) * columns;
                std::transform(in[k] + r * columns, in[k] + (r + 1) * columns, row,
                               [](const T& v) { return static_cast<C>(v); });
                from[k] = row;
            }
            for (std::size_t k = 0; k < Out; ++k) to[k] = wide + static_cast<index_t>(In + k) * columns;
            f(layout, from, to, numbers.from(r));
            for (std::size_t k = 0; k < Out; ++k)
                std::transform(to[k], to[k] + columns, out[k] + r * columns,
                               [](const C& v) { return static_cast<T>(v); });
        }
    }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Returns the bytes of scratch memory for a row function over `arrays` matrices.
template <class T> std::size_t row_scratch_bytes(index_t columns, int arrays) {
    return std::is_same_v<compute_type<T>, T> ? 0
                                              : static_cast<std::size_t>(columns * arrays) * sizeof(compute_type<T>);
}

}}} // namespace rill::RILL_ABI::RILL_ISA
