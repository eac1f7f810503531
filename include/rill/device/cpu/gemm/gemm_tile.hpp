// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <rill/device/cpu/simd/simd_memory.hpp>
#include <rill/device/product_epilogue.hpp>

// The innermost part of matrix products: a tile of c, kept in registers while k runs. Matrices are read with strides, so one kernel
// serves packed, plain and transposed operands.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

template <class T> struct tile_operands {
    const T* a;
    std::int64_t a_row, a_step; // strides from row to row, and along k
    const T* b;                 // its columns are contiguous
    std::int64_t b_step;
    std::int64_t k;
    T* c;
    std::int64_t c_row;
    std::int64_t strips;      // tiles below each other
    int columns;              // the last vector may be partial
    bool add;                 // to c, instead of overwriting it
    product_epilogue<T> last; // epilogue of these columns
    T* copy = nullptr;        // run_copying: destination of the part of b that it reads, in whole registers

    // gathering tiles: the rows of a lie at these offsets, and k is walked in `runs` of k steps. `next_run` leads from the end of a run
    // in a to the start of the next one.
    const std::int64_t* row_offsets = nullptr;
    std::int64_t runs = 1, next_run = 0;
};

/// The largest tile. Its sums, a row of b and one element of a fill the 32 or 16 registers.
template <class T> struct tile_shape {
    static constexpr int lanes = native_lanes<T>;
    static constexpr int rows = RILL_ISA_LEVEL >= 4 ? 8 : 4;
    static constexpr int vectors = 3;
    static constexpr int columns = lanes * vectors;
};

#if RILL_SIMD_REGISTERS

/// A kernel for tiles of Rows × Vectors registers of c.
template <class T, int Rows, int Vectors, bool Partial> struct gemm_tile {
    using V = simd<T>;
    static constexpr int lanes = V::lanes;
    using each_row = std::make_index_sequence<Rows>;
    using each_vector = std::make_index_sequence<Vectors>;

    struct row_of_sums {
        V v[Vectors];
    };
    struct sums {
        row_of_sums row[Rows];
    };

    /// Computes strips of tiles. If the tile gathers, the rows of a lie at row_offsets.
    template <bool Gathers = false> RILL_NO_INLINE static void run(const tile_operands<T>& operands) {
        tile_operands<T> o = operands; // a copy: for all the compiler knows, stores to c could change `operands`
        T* c = o.c;
        for (std::int64_t strip = 0; strip < o.strips; ++strip, c += Rows * o.c_row) {
            compute<false, Gathers>(o, c, each_row{}, each_vector{});
            if constexpr (Gathers)
                o.row_offsets += Rows;
            else
                o.a += Rows * o.a_row;
        }
    }
    /// Computes one tile and leaves a copy of its part of b for the tiles below it.
    template <bool Gathers = false> RILL_NO_INLINE static void run_copying(const tile_operands<T>& operands) {
        const tile_operands<T> o = operands;
        compute<true, Gathers>(o, o.c, each_row{}, each_vector{});
    }

private:
    template <bool Copies, bool Gathers, std::size_t... R, std::size_t... J>
    RILL_FN static void compute(const tile_operands<T>& o, T* c, std::index_sequence<R...>,
                                std::index_sequence<J...> all) {
        sums sum;
        ((sum.row[R] = ((void)R, row_of_sums{{((void)J, V(T(0)))...}})), ...);
        const T *a = o.a, *b = o.b;
        [[maybe_unused]] T* copy = o.copy;
        if constexpr (Gathers) { // one pointer per row and one index for all
            const T* const row[] = {a + o.row_offsets[R]...};
            std::int64_t at = 0;
            for (std::int64_t run = o.runs; run > 0; --run, at += o.next_run)
                for (std::int64_t l = o.k; l > 0; --l) {
                    const row_of_sums right = row_of<Copies>(b, copy, o.columns, all);
                    (add_products(sum.row[R], row[R][at], right, all), ...);
                    at += o.a_step;
                    b += o.b_step;
                }
        } else {
            for (std::int64_t l = o.k; l > 0; --l) {
                const row_of_sums right = row_of<Copies>(b, copy, o.columns, all);
                (add_products(sum.row[R], a[static_cast<std::int64_t>(R) * o.a_row], right, all), ...);
                a += o.a_step;
                b += o.b_step;
            }
        }
        // all of c is read before it is written: a short row would wait for the overlapping store of the row above
        const auto at = [&](std::size_t row) { return c + static_cast<std::int64_t>(row) * o.c_row; };
        if (o.add) (add_row(sum.row[R], at(R), o.columns, all), ...);
        if (o.last.row) (add_row(sum.row[R], o.last.row, o.columns, all), ...);
        if (o.last.rectified) (rectify(sum.row[R], all), ...);
        (store_row(sum.row[R], at(R), o.columns, all), ...);
    }
    /// Loads a row of b, and appends it to the copy.
    template <bool Copies, std::size_t... J>
    RILL_FN static row_of_sums row_of(const T* b, [[maybe_unused]] T*& copy, int columns, std::index_sequence<J...>) {
        const row_of_sums right{{load<J>(b, columns)...}};
        if constexpr (Copies) {
            (right.v[J].store(copy + J * lanes), ...);
            copy += Vectors * lanes;
        }
        return right;
    }
    template <std::size_t... J>
    RILL_FN static void add_products(row_of_sums& sum, T left, const row_of_sums& right, std::index_sequence<J...>) {
        const V x(left);
        ((sum.v[J] = fma(x, right.v[J], sum.v[J])), ...);
    }
    template <std::size_t... J>
    RILL_FN static void add_row(row_of_sums& sum, const T* row, int columns, std::index_sequence<J...>) {
        ((sum.v[J] = sum.v[J] + load<J>(row, columns)), ...);
    }
    template <std::size_t... J> RILL_FN static void rectify(row_of_sums& sum, std::index_sequence<J...>) {
        ((sum.v[J] = max(sum.v[J], V(T(0)))), ...);
    }
    template <std::size_t... J>
    RILL_FN static void store_row(const row_of_sums& sum, T* c, int columns, std::index_sequence<J...>) {
        (store<J>(sum.v[J], c, columns), ...);
    }

    template <std::size_t J> static constexpr bool partial = Partial && J == Vectors - 1;
    template <std::size_t J> RILL_FN static V load(const T* from, int columns) {
        if constexpr (partial<J>)
            return load_some_or_zero(from, static_cast<int>(J) * lanes, columns);
        else
            return V::load(from + static_cast<int>(J) * lanes);
    }
    template <std::size_t J> RILL_FN static void store(V x, T* to, int columns) {
        if constexpr (partial<J>)
            store_some(x, to, static_cast<int>(J) * lanes, columns);
        else
            x.store(to + static_cast<int>(J) * lanes);
    }
};

/// Computes Σ x[l] y[l] for Rows vectors y, `y_row` elements apart. Adds the sums to `to` or overwrites it.
template <int Rows, class T>
RILL_FN void dot_products(const T* x, const T* y, std::int64_t y_row, std::int64_t k, T* to, bool add) {
    constexpr int lanes = simd<T>::lanes;
    simd<T> sum[Rows];
    for (auto& s : sum) s = simd<T>(T(0));
    std::int64_t l = 0;
    for (; l + lanes <= k; l += lanes) {
        const simd<T> left = simd<T>::load(x + l);
        for (int r = 0; r < Rows; ++r) sum[r] = fma(left, simd<T>::load(y + r * y_row + l), sum[r]);
    }
    if (const int rest = static_cast<int>(k - l); rest > 0) {
        const simd<T> left = load_some_or_zero(x + l, 0, rest);
        for (int r = 0; r < Rows; ++r) sum[r] = fma(left, load_some_or_zero(y + r * y_row + l, 0, rest), sum[r]);
    }
    for (int r = 0; r < Rows; ++r) {
        T v[lanes];
        sum[r].store(v);
        for (int width = lanes / 2; width > 0; width /= 2)
            for (int i = 0; i < width; ++i) v[i] += v[i + width];
        to[r] = add ? to[r] + v[0] : v[0];
    }
}

#endif

template <class T> inline constexpr bool has_tiles = std::is_floating_point_v<T> && native_lanes<T> > 1;

/// Applies the epilogue to rows × columns elements of a product that is already stored.
template <class T>
RILL_NO_INLINE void finish_product(std::int64_t rows, std::int64_t columns, T* c, std::int64_t c_row,
                                   const product_epilogue<T>& last) {
    const auto finish = [&](auto x, const auto& row) {
        if (last.row) x = x + row;
        if constexpr (!is_complex<T>)
            if (last.rectified) x = max(x, decltype(x)(0));
        return x;
    };
    using number = lane<compute_type<T>>;
    const auto number_of = [](T v) { return number(static_cast<compute_type<T>>(v)); };
    for (std::int64_t i = 0; i < rows; ++i, c += c_row) {
        std::int64_t j = 0;
        if constexpr (has_tiles<T>)
            for (constexpr int lanes = simd<T>::lanes; j + lanes <= columns; j += lanes) {
                const auto x = simd<T>::load(c + j);
                finish(x, last.row ? simd<T>::load(last.row + j) : x).store(c + j);
            }
        for (; j < columns; ++j) c[j] = T(finish(number_of(c[j]), number_of(last.row ? last.row[j] : T(0))).v);
    }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
