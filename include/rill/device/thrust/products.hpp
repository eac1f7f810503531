// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/index.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/product_epilogue.hpp>

// Kernels for matrix products: one thread computes a small tile in registers. Sums run over k in order, long ones in
// chunks.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// A long sum: elements are added in chunks, and the chunks are added in order. This keeps rounding errors small.
template <class C> class chunked_sum {
public:
    static constexpr index_t chunk = 512;

    RILL_FN void add_product(const lane<C>& a, const lane<C>& b) {
        part_ = fma(a, b, part_);
        if (++in_part_ == chunk) close();
    }
    RILL_FN lane<C> value() {
        close();
        return all_;
    }

private:
    RILL_FN void close() {
        all_ = started_ ? all_ + part_ : part_;
        started_ = true;
        part_ = lane<C>(C(0));
        in_part_ = 0;
    }
    lane<C> all_ = lane<C>(C(0)), part_ = lane<C>(C(0));
    index_t in_part_ = 0;
    bool started_ = false;
};

/// A product c = op(a) op(b) of row-major matrices, and its epilogue.
template <class T> struct product_arguments {
    bool trans_a, trans_b;
    index_t m, n, k;
    const T *a, *b;
    T* c;
    product_epilogue<T> last;
};

/// A function object that applies the epilogue of a product to an element of column j.
template <class T> struct finished_element {
    using C = compute_type<T>;
    product_epilogue<T> last;

    RILL_FN T operator()(const lane<C>& sum, index_t j) const {
        lane<C> x(static_cast<C>(static_cast<T>(sum.v)));
        if (last.row) x = x + lane<C>(static_cast<C>(last.row[j]));
        if constexpr (!is_complex<T>)
            if (last.rectified) x = max(x, lane<C>(C(0)));
        return static_cast<T>(x.v);
    }
};

/// A function object that applies an epilogue to the elements of a matrix that a library computed.
template <class T> struct finish_columns {
    index_t columns;
    finished_element<T> finish;
    T* c;
    RILL_FN void operator()(index_t i) const {
        c[i] = finish(lane<compute_type<T>>(static_cast<compute_type<T>>(c[i])), i % columns);
    }
};

/// A function object that computes a tile of c = op(a) op(b).
template <class T> struct product_tile {
    using C = compute_type<T>;
    static constexpr int side = 4; // rows and columns of a tile
    product_arguments<T> of;

    index_t tiles() const { return (of.m + side - 1) / side * ((of.n + side - 1) / side); }

    RILL_FN void operator()(index_t tile) const {
        const index_t m = of.m, n = of.n, k = of.k;
        const index_t across = (n + side - 1) / side, i = tile / across * side, j = tile % across * side;
        const finished_element<T> finish{of.last};
        lane<C> all[side][side], part[side][side];
        for (index_t first = 0; first < k || first == 0; first += chunked_sum<C>::chunk) {
            const index_t end = k - first < chunked_sum<C>::chunk ? k : first + chunked_sum<C>::chunk;
            for (auto& row : part)
                for (auto& sum : row) sum = lane<C>(C(0));
            for (index_t l = first; l < end; ++l) {
                lane<C> left[side], right[side];
                for (int r = 0; r < side; ++r) left[r] = lane<C>(static_cast<C>(a_at(i + r < m ? i + r : m - 1, l)));
                for (int s = 0; s < side; ++s) right[s] = lane<C>(static_cast<C>(b_at(l, j + s < n ? j + s : n - 1)));
                for (int r = 0; r < side; ++r)
                    for (int s = 0; s < side; ++s) part[r][s] = fma(left[r], right[s], part[r][s]);
            }
            for (int r = 0; r < side; ++r)
                for (int s = 0; s < side; ++s) all[r][s] = first == 0 ? part[r][s] : all[r][s] + part[r][s];
        }
        for (int r = 0; r < side && i + r < m; ++r)
            for (int s = 0; s < side && j + s < n; ++s) of.c[(i + r) * n + j + s] = finish(all[r][s], j + s);
    }

private:
    RILL_FN T a_at(index_t i, index_t l) const { return of.a[of.trans_a ? l * of.m + i : i * of.k + l]; }
    RILL_FN T b_at(index_t l, index_t j) const { return of.b[of.trans_b ? j * of.k + l : l * of.n + j]; }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
