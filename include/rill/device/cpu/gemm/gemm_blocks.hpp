// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <rill/device/cpu/gemm/gemm_tile.hpp>
#include <rill/device/cpu/simd/interleave.hpp>

// Matrix products by tiles. Most read their operands in place. Large ones, and those with a transposed b, copy blocks of b into the order
// in which tiles read it. The order of summation depends on shapes alone.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The shape of a product c = op(a) op(b): op(a) is m × k, op(b) k × n; op transposes if asked.
struct product_shape {
    bool trans_a, trans_b;
    std::int64_t m, n, k;
};

/// A part of c and of its sums: ranges of rows, columns and k, whose ends are exclusive.
struct product_part {
    std::int64_t row, last_row, column, last_column;
    std::int64_t k, last_k;
};

/// The most products that a register sums before it is added to c. The error of a sum grows with the additions in a row.
inline constexpr std::int64_t most_in_register = 512;

/// Returns the length of equal parts of `all`: at most `most`, rounded up to a multiple of `step`.
inline std::int64_t even_part(std::int64_t all, std::int64_t most, std::int64_t step) {
    if (all <= most) return all;
    const std::int64_t parts = (all + most - 1) / most;
    return std::min(all, ((all + parts - 1) / parts + step - 1) / step * step);
}

#if RILL_SIMD_REGISTERS

/// Returns the number of registers that hold `columns` columns.
template <class T, class I> constexpr I registers_for(I columns) {
    constexpr I lanes = tile_shape<T>::lanes;
    return (columns + lanes - 1) / lanes;
}

/// The blocks of a product that copies b. The tile-wide parts of a block of b fit the L1 cache, or nearly so. Blocks of a fit the L2
/// cache; a is read in place, since copying it never paid.
template <class T> struct product_blocks {
    std::int64_t m, n, k;

    explicit product_blocks(const product_shape& s) {
        k = even_part(s.k, most_k, 8);
        m = s.m * k <= second_cache ? s.m : even_part(s.m, second_cache / k, tile_shape<T>::rows);
        n = s.n * k <= third_cache ? s.n : even_part(s.n, third_cache / k, tile_shape<T>::columns);
    }
    /// Returns the number of elements in the copy of a block of b with `columns` columns.
    std::int64_t copied(std::int64_t columns) const {
        return registers_for<T>(std::min(n, columns)) * tile_shape<T>::lanes * k;
    }

    static constexpr std::int64_t most_k = 48 * 1024 / static_cast<std::int64_t>(sizeof(T)) / tile_shape<T>::columns;

private:
    // in elements of T
    static constexpr std::int64_t second_cache = 256 * 1024 / sizeof(T), third_cache = 4 * 1024 * 1024 / sizeof(T);
};

template <class T> using tile_function = void (*)(const tile_operands<T>&);

/// Returns the index of the kernel for a number of columns: by registers, and whether the last one is partial.
template <class T> int kernel_for(int columns) {
    static_assert(tile_shape<T>::vectors == 3);
    return 2 * (registers_for<T>(columns) - 1) + (columns % tile_shape<T>::lanes != 0);
}

/// Returns the kernel for 2^log_rows rows.
template <class T, bool Gathers = false> tile_function<T> tile_for(int log_rows, int columns) {
    static constexpr auto of_rows = []<int Rows>(std::integral_constant<int, Rows>) {
        return std::array<tile_function<T>, 6>{
            &gemm_tile<T, Rows, 1, false>::template run<Gathers>, &gemm_tile<T, Rows, 1, true>::template run<Gathers>,
            &gemm_tile<T, Rows, 2, false>::template run<Gathers>, &gemm_tile<T, Rows, 2, true>::template run<Gathers>,
            &gemm_tile<T, Rows, 3, false>::template run<Gathers>, &gemm_tile<T, Rows, 3, true>::template run<Gathers>};
    };
    static constexpr std::array<std::array<tile_function<T>, 6>, 4> all{
        of_rows(std::integral_constant<int, 1>{}), of_rows(std::integral_constant<int, 2>{}),
        of_rows(std::integral_constant<int, 4>{}), of_rows(std::integral_constant<int, tile_shape<T>::rows>{})};
    return all[log_rows][kernel_for<T>(columns)];
}
/// Returns the kernel for tiles of full height that copies its part of b.
template <class T, bool Gathers = false> tile_function<T> copying_tile_for(int columns) {
    constexpr int rows = tile_shape<T>::rows;
    static constexpr std::array<tile_function<T>, 6> all{&gemm_tile<T, rows, 1, false>::template run_copying<Gathers>,
                                                         &gemm_tile<T, rows, 1, true>::template run_copying<Gathers>,
                                                         &gemm_tile<T, rows, 2, false>::template run_copying<Gathers>,
                                                         &gemm_tile<T, rows, 2, true>::template run_copying<Gathers>,
                                                         &gemm_tile<T, rows, 3, false>::template run_copying<Gathers>,
                                                         &gemm_tile<T, rows, 3, true>::template run_copying<Gathers>};
    return all[kernel_for<T>(columns)];
}

/// Returns the columns of the next tile. The last two tiles share the rest evenly, so that no tile has a single register.
template <class T> int next_columns(std::int64_t rest) {
    constexpr std::int64_t lanes = tile_shape<T>::lanes, most = tile_shape<T>::vectors;
    const std::int64_t vectors = registers_for<T>(rest);
    if (vectors > 2 * most) return static_cast<int>(most * lanes);
    const std::int64_t here = vectors <= most ? vectors : (vectors + 1) / 2;
    return static_cast<int>(std::min(rest, here * lanes));
}

/// Calls f(first row, strips, log2 of the rows of each) for strips as tall as fit.
template <class T, class F> RILL_FN void for_strips(std::int64_t m, const F& f) {
    std::int64_t i = 0;
    for (int log_rows = tile_shape<T>::rows == 8 ? 3 : 2; log_rows >= 0; --log_rows) {
        const std::int64_t strips = (m - i) >> log_rows; // a division takes as long as a small tile
        if (strips > 0) f(i, strips, log_rows);
        i += strips << log_rows;
    }
}

/// Copies to[l * width + j] = b(first + j, first_k + l) for the columns of one tile. width is a whole number of registers.
template <class T>
void copy_transposed(const product_shape& s, const T* b, std::int64_t first, int columns, std::int64_t first_k,
                     std::int64_t k, T* to) {
    constexpr int lanes = tile_shape<T>::lanes;
    const int width = registers_for<T>(columns) * lanes;
    for (int j = 0; j < columns; j += lanes) {
        const int here = std::min(columns - j, lanes);
        const T* const from = b + (first + j) * s.k + first_k;
        if (std::min<std::int64_t>(here, k) >= lanes / 2) {
            interleave_rows<lanes>(from, s.k, here, k, to + j, width);
            continue;
        }
        for (int r = 0; r < here; ++r) // too small for registers
            for (std::int64_t l = 0; l < k; ++l) to[l * width + j + r] = from[r * s.k + l];
    }
}

/// Computes m rows of one tile's columns of c. `o` holds the operands that are the same for all tiles.
template <class T> RILL_FN void column_of_tiles(tile_operands<T>& o, const T* a, std::int64_t m, T* c) {
    for_strips<T>(m, [&](std::int64_t i, std::int64_t strips, int log_rows) {
        o.a = a + i * o.a_row;
        o.c = c + i * o.c_row;
        o.strips = strips;
        tile_for<T>(log_rows, o.columns)(o);
    });
}

/// Returns the operands that all tiles of c share.
template <class T> RILL_FN tile_operands<T> operands_of(const product_shape& s) {
    tile_operands<T> o;
    o.a_row = s.trans_a ? 1 : s.k;
    o.a_step = s.trans_a ? s.m : 1;
    o.b_step = s.n;
    o.k = s.k;
    o.c_row = s.n;
    o.add = false;
    return o;
}

/// Computes c, or adds to it, from rows of a that lie at `offsets`; o says how k walks over a. `o.copy` has room for the columns of one
/// tile, which the first tile copies for the others.
template <class T>
void gathered_product(tile_operands<T> o, const std::int64_t* offsets, std::int64_t m, const T* b, std::int64_t n, T* c,
                      const product_epilogue<T>& last) {
    constexpr std::int64_t rows = tile_shape<T>::rows;
    o.c_row = n;
    for (std::int64_t j = 0; j < n; j += o.columns) {
        o.columns = next_columns<T>(n - j);
        o.last = last.from_column(j);
        o.b = b + j;
        o.b_step = n;
        std::int64_t done = 0;
        if (m > rows) {
            o.row_offsets = offsets;
            o.c = c + j;
            copying_tile_for<T, true>(o.columns)(o);
            o.b = o.copy;
            o.b_step = registers_for<T>(o.columns) * tile_shape<T>::lanes;
            done = rows;
        }
        for_strips<T>(m - done, [&](std::int64_t i, std::int64_t strips, int log_rows) {
            o.row_offsets = offsets + done + i;
            o.c = c + (done + i) * n + j;
            o.strips = strips;
            tile_for<T, true>(log_rows, o.columns)(o);
        });
    }
}

/// Computes a part of c; reads both operands in place.
template <class T>
RILL_FN void product_in_place(const product_shape& s, const product_part& p, const T* a, const T* b, T* c,
                              const product_epilogue<T>& last) {
    auto o = operands_of<T>(s);
    const std::int64_t at_once = even_part(p.last_k - p.k, most_in_register, 8);
    for (std::int64_t l = p.k; l < p.last_k; l += o.k) {
        o.k = std::min(at_once, p.last_k - l);
        o.add = l > p.k;
        const auto after = l + o.k == p.last_k ? last : product_epilogue<T>();
        for (std::int64_t j = p.column; j < p.last_column; j += o.columns) {
            o.columns = next_columns<T>(p.last_column - j);
            o.b = b + l * s.n + j;
            o.last = after.from_column(j);
            column_of_tiles(o, a + p.row * o.a_row + l * o.a_step, p.last_row - p.row, c + p.row * s.n + j);
        }
    }
}

/// Copies one tile's columns of b for all tiles of m rows that read them. If b is not transposed, the first tile copies while it
/// computes; a single tile copies nothing. Returns the number of rows of c that are done.
template <class T>
std::int64_t copy_columns(const product_shape& s, tile_operands<T>& o, const T* a, const T* b, std::int64_t first,
                          std::int64_t first_k, std::int64_t m, T* c) {
    constexpr std::int64_t rows = tile_shape<T>::rows;
    if (s.trans_b) {
        copy_transposed(s, b, first, o.columns, first_k, o.k, o.copy);
        return 0;
    }
    o.b = b + first_k * s.n + first;
    o.b_step = s.n;
    if (m <= rows) {
        column_of_tiles(o, a, m, c);
        return m;
    }
    o.a = a;
    o.c = c;
    copying_tile_for<T>(o.columns)(o);
    return rows;
}

template <class T>
void product_by_blocks(const product_shape& s, const product_part& p, const T* a, const T* b, T* c, T* copy,
                       const product_epilogue<T>& last) {
    const product_blocks<T> block(s);
    auto o = operands_of<T>(s);
    for (std::int64_t jc = p.column; jc < p.last_column; jc += block.n) {
        const std::int64_t n = std::min(block.n, p.last_column - jc);
        for (std::int64_t pc = p.k; pc < p.last_k; pc += block.k) {
            o.k = std::min(block.k, p.last_k - pc);
            o.add = pc > p.k;
            for (std::int64_t ic = p.row; ic < p.last_row; ic += block.m) {
                const std::int64_t m = std::min(block.m, p.last_row - ic);
                for (std::int64_t j = 0; j < n; j += o.columns) {
                    o.columns = next_columns<T>(n - j);
                    o.last = pc + o.k == p.last_k ? last.from_column(jc + j) : product_epilogue<T>();
                    o.copy = copy + j * o.k;
                    const T* const left = a + ic * o.a_row + pc * o.a_step;
                    T* const to = c + ic * s.n + jc + j;
                    const std::int64_t done = ic == p.row ? copy_columns(s, o, left, b, jc + j, pc, m, to) : 0;
                    o.b = o.copy;
                    o.b_step = registers_for<T>(o.columns) * tile_shape<T>::lanes;
                    column_of_tiles(o, left + done * o.a_row, m - done, to + done * o.c_row);
                }
            }
        }
    }
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
