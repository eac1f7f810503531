// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/core/dims.hpp>
#include <rill/device/cpu/pack.hpp>

// Softmax and cross-entropy over rows. Each is written once over a layout: a long row lies in packs one behind the other;
// many short rows lie side by side, one to a lane, which needs no sums across lanes.

namespace rill::inline RILL_ABI::detail::inline RILL_ISA {

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

/// One row in packs, the last of them perhaps in part.
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
        if (rest_) all = max(all, f(part_of_pack{whole_, rest_})); // what pads is a value of the row
        return V(reduce_max(all));
    }
    static index_t place(int, index_t column) { return column; }

private:
    index_t whole_;
    int rest_;
    mask<T, lanes> valid_;
};

/// A row in each lane: the columns lie one behind the other, a pack each.
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
    static index_t place(int row, index_t column) { return column * lanes + row; }

private:
    index_t columns_;
};

/// One number for each row of a layout: all lanes of a long row hold the same.
template <class Layout, class V, class T> RILL_FN void store_per_row(const Layout& l, const V& v, T* to) {
    if (l.rows == Layout::lanes)
        v.store(to);
    else
        v.store_partial(to, l.rows);
}

/// Runs f(layout, in, out, first row) over a matrix of T, computing in C: a row at a time, or as many short ones as there
/// are lanes. Narrow types are widened into scratch memory.
template <class T, std::size_t In, std::size_t Out, class F>
void over_rows(index_t rows, index_t columns, const std::array<const T*, In>& in, const std::array<T*, Out>& out,
               void* scratch, F f) {
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
                for (int r = 0; r < lanes; ++r) { // lanes without a row repeat the last one
                    const T* row = in[k] + (first + std::min(r, n - 1)) * columns;
                    for (index_t c = 0; c < columns; ++c) buffer[k][c * lanes + r] = static_cast<C>(row[c]);
                }
            f(lanes_layout(n, columns), from, to, first);
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
            f(layout, from, to, r);
        } else {
            for (std::size_t k = 0; k < In; ++k) {
                C* const row = wide + static_cast<index_t>(k) * columns;
                std::transform(in[k] + r * columns, in[k] + (r + 1) * columns, row,
                               [](const T& v) { return static_cast<C>(v); });
                from[k] = row;
            }
            for (std::size_t k = 0; k < Out; ++k) to[k] = wide + static_cast<index_t>(In + k) * columns;
            f(layout, from, to, r);
            for (std::size_t k = 0; k < Out; ++k)
                std::transform(to[k], to[k] + columns, out[k] + r * columns,
                               [](const C& v) { return static_cast<T>(v); });
        }
    }
}

/// Stores e^(x - largest) and returns the largest and the sum.
template <class Layout, class C> RILL_FN auto exponentials(const Layout& l, const C* x, C* e) {
    using V = typename Layout::V;
    const V largest = l.largest([&](auto p) { return l.load(x, p); });
    const V sum = l.sum([&](auto p) {
        const V v = exp(l.load(x, p) - largest);
        l.store(v, e, p);
        return v;
    });
    return std::pair<V, V>(largest, sum);
}

} // namespace rill::inline RILL_ABI::detail::inline RILL_ISA

namespace rill::inline RILL_ABI::inline RILL_ISA {

/// Scratch memory of the functions below, which take `arrays` matrices.
template <class T> std::size_t row_scratch_bytes(index_t columns, int arrays) {
    return std::is_same_v<compute_type<T>, T> ? 0
                                              : static_cast<std::size_t>(columns * arrays) * sizeof(compute_type<T>);
}

/// y = e^x / sum(e^x) of each row. y may be x.
template <class T> void softmax_rows(index_t rows, index_t columns, const T* x, T* y, void* scratch) {
    detail::over_rows<T, 1, 1>(rows, columns, {x}, {y}, scratch,
                               [](const auto& l, const auto& in, const auto& out, index_t) {
                                   const auto sum = detail::exponentials(l, in[0], out[0]).second;
                                   l.each([&](auto p) { l.store(l.load(out[0], p) / sum, out[0], p); });
                               });
}

/// y = x - log(sum(e^x)) of each row. y may be x.
template <class T> void log_softmax_rows(index_t rows, index_t columns, const T* x, T* y, void* scratch) {
    detail::over_rows<T, 1, 1>(
        rows, columns, {x}, {y}, scratch, [](const auto& l, const auto& in, const auto& out, index_t) {
            const auto largest = l.largest([&](auto p) { return l.load(in[0], p); });
            const auto log_sum = log(l.sum([&](auto p) { return exp(l.load(in[0], p) - largest); }));
            l.each([&](auto p) { l.store(l.load(in[0], p) - largest - log_sum, out[0], p); });
        });
}

/// loss = -sum(labels * log_softmax(x)), gradient = its gradient by x: softmax(x) * sum(labels) - labels.
template <class T>
void softmax_cross_entropy_rows(index_t rows, index_t columns, const T* x, const T* labels, T* loss, T* gradient,
                                void* scratch) {
    detail::over_rows<T, 2, 1>(
        rows, columns, {x, labels}, {gradient}, scratch,
        [=](const auto& l, const auto& in, const auto& out, index_t first) {
            using V = typename std::remove_cvref_t<decltype(l)>::V;
            using C = typename V::value_type;
            const auto [largest, sum] = detail::exponentials(l, in[0], out[0]);
            const V log_sum = log(sum), total = l.sum([&](auto p) { return l.load(in[1], p); }), top = largest;
            const V entropy = l.sum([&](auto p) {
                const V label = l.load(in[1], p);
                // a class ruled out by both (0 times infinity) costs nothing
                return select(label == V(C(0)), V(C(0)), label * (log_sum - (l.load(in[0], p) - top)));
            });
            const V scale = total / sum;
            l.each([&](auto p) { l.store(l.load(out[0], p) * scale - l.load(in[1], p), out[0], p); });
            C each[V::part_lanes * V::parts];
            detail::store_per_row(l, entropy, each);
            for (int r = 0; r < l.rows; ++r) loss[first + r] = static_cast<T>(each[r]);
        });
}

/// The same for labels that are classes: ids in [0, columns).
template <class T, class I>
void sparse_softmax_cross_entropy_rows(index_t rows, index_t columns, const T* x, const I* ids, T* loss, T* gradient,
                                       void* scratch) {
    detail::over_rows<T, 1, 1>(rows, columns, {x}, {gradient}, scratch,
                               [=](const auto& l, const auto& in, const auto& out, index_t first) {
                                   using V = typename std::remove_cvref_t<decltype(l)>::V;
                                   using C = typename V::value_type;
                                   const auto [largest, sum] = detail::exponentials(l, in[0], out[0]);
                                   const V total = sum;
                                   l.each([&](auto p) { l.store(l.load(out[0], p) / total, out[0], p); });
                                   C top[V::part_lanes * V::parts], log_sum[V::part_lanes * V::parts];
                                   detail::store_per_row(l, largest, top);
                                   detail::store_per_row(l, log(sum), log_sum);
                                   for (int r = 0; r < l.rows; ++r) {
                                       const index_t at = l.place(r, static_cast<index_t>(ids[first + r]));
                                       loss[first + r] = static_cast<T>(log_sum[r] - (in[0][at] - top[r]));
                                       out[0][at] -= C(1);
                                   }
                               });
}

} // namespace rill::inline RILL_ABI::inline RILL_ISA
