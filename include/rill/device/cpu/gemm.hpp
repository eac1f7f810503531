// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <rill/core/thread_pool.hpp>
#include <rill/device/cpu/gemm_library.hpp>
#include <rill/device/cpu/gemm_tile.hpp>
#include <rill/device/cpu/interleave.hpp>

// Matrix products. Most read their operands in place; large ones, and those with a transposed right operand, copy blocks of
// the right one into the order in which tiles read it. The order of summation depends on shapes alone.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// c = op(a) op(b) as everything below needs it.
struct product_shape {
    bool trans_a, trans_b;
    std::int64_t m, n, k;
};

/// A matrix times a column is a row times the transpose, in the same memory; and a row is its own transpose.
inline product_shape without_column(product_shape s) {
    if (s.n == 1) s = {false, !s.trans_a, 1, s.m, s.k};
    if (s.m == 1) s.trans_a = false;
    return s;
}

template <class T> std::size_t tiled_scratch_bytes(product_shape s, int threads);
template <class T>
void tiled_product(const product_shape& s, const T* a, const T* b, T* c, T* scratch, thread_pool* pool,
                   const product_epilogue<T>& last);

/// A part of c: rows and columns from first to last.
struct product_part {
    std::int64_t row, last_row, column, last_column;
};

/// Threads cost some microseconds: as long as a million multiplications and additions take.
inline constexpr double shared_from = 4e6;

/// How many threads share a product.
inline int product_threads(const product_shape& s, int threads) {
    const double work = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    return work < shared_from ? 1 : threads;
}

/// The i-th of `parts` equal parts of c: whole columns of tiles where there are enough, else whole rows. Every number of c is
/// the same sum in the same order, whatever the parts.
template <class T> product_part part_of(const product_shape& s, int i, int parts) {
    const auto cut = [&](std::int64_t all, std::int64_t step, int at) {
        const std::int64_t steps = (all + step - 1) / step;
        return std::min(all, steps * at / parts * step);
    };
    const auto lanes = static_cast<std::int64_t>(native_lanes<T>);
    if (s.n >= 2 * lanes * parts) return {0, s.m, cut(s.n, lanes, i), cut(s.n, lanes, i + 1)};
    return {cut(s.m, 8, i), cut(s.m, 8, i + 1), 0, s.n};
}

#if RILL_WITH_XSIMD

/// How a product is cut when b is copied: b into blocks whose tile-wide parts fit the first cache or nearly so, a (read in
/// place: copying it never paid) into blocks that fit the second.
template <class T> struct product_blocks {
    std::int64_t m, n, k;

    explicit product_blocks(const product_shape& s) {
        k = even_part(s.k, most_k, 8);
        m = s.m * k <= second_cache ? s.m : even_part(s.m, second_cache / k, tile_shape<T>::rows);
        n = s.n * k <= third_cache ? s.n : even_part(s.n, third_cache / k, tile_shape<T>::columns);
    }
    /// Elements of the copy of a block of b that is `columns` wide.
    std::int64_t copied(std::int64_t columns) const {
        return (std::min(n, columns) + tile_shape<T>::lanes - 1) / tile_shape<T>::lanes * tile_shape<T>::lanes * k;
    }

    static constexpr std::int64_t most_k = 48 * 1024 / static_cast<std::int64_t>(sizeof(T)) / tile_shape<T>::columns;

private:
    // in elements of T
    static constexpr std::int64_t second_cache = 256 * 1024 / sizeof(T), third_cache = 4 * 1024 * 1024 / sizeof(T);

    /// The length of equal parts of `all`, of at most `most` and a multiple of `step`.
    static std::int64_t even_part(std::int64_t all, std::int64_t most, std::int64_t step) {
        if (all <= most) return all;
        const std::int64_t parts = (all + most - 1) / most;
        return std::min(all, ((all + parts - 1) / parts + step - 1) / step * step);
    }
};

template <class T> using tile_function = void (*)(const tile_operands<T>&);

/// The kernel for 2^log_rows rows.
template <class T> tile_function<T> tile_for(int log_rows, int vectors, bool partial) {
    static_assert(tile_shape<T>::vectors == 3);
    static constexpr auto of_rows = []<int Rows>(std::integral_constant<int, Rows>) {
        return std::array<tile_function<T>, 6>{&gemm_tile<T, Rows, 1, false>::run, &gemm_tile<T, Rows, 1, true>::run,
                                               &gemm_tile<T, Rows, 2, false>::run, &gemm_tile<T, Rows, 2, true>::run,
                                               &gemm_tile<T, Rows, 3, false>::run, &gemm_tile<T, Rows, 3, true>::run};
    };
    static constexpr std::array<std::array<tile_function<T>, 6>, 4> all{
        of_rows(std::integral_constant<int, 1>{}), of_rows(std::integral_constant<int, 2>{}),
        of_rows(std::integral_constant<int, 4>{}), of_rows(std::integral_constant<int, tile_shape<T>::rows>{})};
    return all[log_rows][2 * (vectors - 1) + partial];
}

/// The columns of the next tile: as many registers as the ones after it, rather than one lonely register at last.
template <class T> int next_columns(std::int64_t rest) {
    constexpr std::int64_t lanes = tile_shape<T>::lanes, most = tile_shape<T>::vectors;
    const std::int64_t vectors = (rest + lanes - 1) / lanes;
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

/// to[l * width + j] = op(b)(first_k + l, first + j) for one tile's columns; width is a whole number of registers.
template <class T>
void copy_right(const product_shape& s, const T* b, std::int64_t first, int columns, std::int64_t first_k,
                std::int64_t k, T* to) {
    constexpr int lanes = tile_shape<T>::lanes;
    const int vectors = (columns + lanes - 1) / lanes, width = vectors * lanes;
    for (int j = 0; j < columns; j += lanes) {
        const int here = std::min(columns - j, lanes);
        if (s.trans_b && std::min<std::int64_t>(here, k) < lanes / 2) { // too little for registers
            for (int r = 0; r < here; ++r)
                for (std::int64_t l = 0; l < k; ++l) to[l * width + j + r] = b[(first + j + r) * s.k + first_k + l];
            continue;
        }
        if (s.trans_b) {
            interleave_rows<lanes>(b + (first + j) * s.k + first_k, s.k, here, k, to + j, width);
            continue;
        }
        const T* from = b + first_k * s.n + first + j;
        for (std::int64_t l = 0; l < k; ++l, from += s.n)
            (here == lanes ? simd<T>::load(from) : load_some(from, 0, here)).store(to + l * width + j);
    }
}

/// One tile's columns of c, m rows of it; o holds what is the same for all.
template <class T> RILL_FN void column_of_tiles(tile_operands<T>& o, const T* a, std::int64_t m, T* c) {
    constexpr int lanes = tile_shape<T>::lanes;
    const int vectors = (o.columns + lanes - 1) / lanes;
    const bool partial = o.columns % lanes != 0;
    for_strips<T>(m, [&](std::int64_t i, std::int64_t strips, int log_rows) {
        o.a = a + i * o.a_row;
        o.c = c + i * o.c_row;
        o.strips = strips;
        tile_for<T>(log_rows, vectors, partial)(o);
    });
}

/// What tiles of c share.
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

/// Reads both operands where they are.
template <class T>
void product_in_place(const product_shape& s, const product_part& p, const T* a, const T* b, T* c,
                      const product_epilogue<T>& last) {
    auto o = operands_of<T>(s);
    for (std::int64_t j = p.column; j < p.last_column; j += o.columns) {
        o.columns = next_columns<T>(p.last_column - j);
        o.b = b + j;
        o.last = last.from_column(j);
        column_of_tiles(o, a + p.row * o.a_row, p.last_row - p.row, c + p.row * s.n + j);
    }
}

template <class T>
void product_by_blocks(const product_shape& s, const product_part& p, const T* a, const T* b, T* c, T* copy,
                       const product_epilogue<T>& last) {
    constexpr int lanes = tile_shape<T>::lanes;
    const product_blocks<T> block(s);
    auto o = operands_of<T>(s);
    for (std::int64_t jc = p.column; jc < p.last_column; jc += block.n) {
        const std::int64_t n = std::min(block.n, p.last_column - jc);
        for (std::int64_t pc = 0; pc < s.k; pc += block.k) {
            o.k = std::min(block.k, s.k - pc);
            o.add = pc > 0;
            for (std::int64_t ic = p.row; ic < p.last_row; ic += block.m) {
                const std::int64_t m = std::min(block.m, p.last_row - ic);
                for (std::int64_t j = 0; j < n; j += o.columns) {
                    o.columns = next_columns<T>(n - j);
                    o.b_step = (o.columns + lanes - 1) / lanes * lanes;
                    if (ic == p.row) copy_right(s, b, jc + j, o.columns, pc, o.k, copy + j * o.k);
                    o.b = copy + j * o.k;
                    o.last = pc + o.k == s.k ? last.from_column(jc + j) : product_epilogue<T>();
                    column_of_tiles(o, a + ic * o.a_row + pc * o.a_step, m, c + ic * s.n + jc + j);
                }
            }
        }
    }
}

/// c[j] = row j of b times the row a: both are read along k.
template <class T> void row_by_rows(const T* a, const T* b, T* c, std::int64_t n, std::int64_t k) {
    constexpr int together = 8;
    std::int64_t j = 0;
    for (; j + together <= n; j += together) dot_products<together>(a, b + j * k, k, c + j);
    for (; j < n; ++j) dot_products<1>(a, b + j * k, k, c + j);
}

enum class product_kind { by_rows, in_place, by_blocks };

template <class T> product_kind kind_of(const product_shape& s) {
    if (s.trans_b) return s.m < 4 && !s.trans_a ? product_kind::by_rows : product_kind::by_blocks;
    // measured: a copy of b pays where b is beyond the second cache and read often
    const bool copy =
        s.m > 64 && s.k > product_blocks<T>::most_k && s.k * s.n * static_cast<std::int64_t>(sizeof(T)) > (1 << 20);
    return copy ? product_kind::by_blocks : product_kind::in_place;
}

/// Scratch memory of one of `threads`: they may take parts of different sizes.
template <class T> std::int64_t copied_by_each(const product_shape& s, int threads) {
    const product_blocks<T> block(s);
    std::int64_t most = 0;
    for (int i = 0; i < threads; ++i) {
        const auto p = part_of<T>(s, i, threads);
        most = std::max(most, block.copied(p.last_column - p.column));
    }
    return most;
}

template <class T> std::size_t tiled_scratch_bytes(product_shape s, int threads) {
    s = without_column(s);
    if (kind_of<T>(s) != product_kind::by_blocks) return 0;
    threads = product_threads(s, threads);
    return static_cast<std::size_t>(copied_by_each<T>(s, threads) * threads) * sizeof(T);
}

template <class T>
void tiled_product(const product_shape& s, const T* a, const T* b, T* c, T* scratch, thread_pool* pool,
                   const product_epilogue<T>& last) { // no column
    const auto kind = kind_of<T>(s);
    const auto run = [&](const product_part& p, T* copy) {
        switch (kind) {
        case product_kind::by_rows:
            for (std::int64_t i = p.row; i < p.last_row; ++i)
                row_by_rows(a + i * s.k, b + p.column * s.k, c + i * s.n + p.column, p.last_column - p.column, s.k);
            if (last.empty()) return;
            return finish_product(p.last_row - p.row, p.last_column - p.column, c + p.row * s.n + p.column, s.n,
                                  last.from_column(p.column));
        case product_kind::in_place: return product_in_place(s, p, a, b, c, last);
        case product_kind::by_blocks: return product_by_blocks(s, p, a, b, c, copy, last);
        }
    };
    const int threads = product_threads(s, pool ? pool->threads() : 1);
    if (threads == 1) return run({0, s.m, 0, s.n}, scratch);
    const std::int64_t each = kind == product_kind::by_blocks ? copied_by_each<T>(s, threads) : 0;
    pool->run(threads, [&](int i) { run(part_of<T>(s, i, threads), scratch + i * each); });
}

#endif

/// How a library's product is cut: into rows or columns.
struct library_cut {
    bool rows;
    std::int64_t all, parts;
};

/// By shape alone, so that the result is the same for any number of threads. Measured: parts of 512 cost nothing, up to four
/// smaller ones, of 64 at least and 32 million operations, less than 1 %.
inline library_cut cut_for_library(const product_shape& s) {
    const double work = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    const auto parts_of = [&](std::int64_t all) {
        const auto small = static_cast<std::uint64_t>(std::min({4.0, static_cast<double>(all) / 64, work / 32e6}));
        return std::max({all / 512, static_cast<std::int64_t>(std::bit_floor(small)), std::int64_t(1)});
    };
    // a transposed right operand is turned anew for each part of the rows
    const std::int64_t rows = parts_of(s.m), columns = parts_of(s.n);
    if (s.m >= s.n || (!s.trans_b && rows >= columns)) return {true, s.m, rows};
    return {false, s.n, columns};
}

/// Parts of about equal size; each is one call on one thread. False if there is no library, or if it declined: c is then
/// undefined.
template <class T>
bool product_by_library(const product_shape& s, const T* a, const T* b, T* c, thread_pool* pool,
                        const product_epilogue<T>& last) {
    const auto [rows, all, parts] = cut_for_library(s);
    std::atomic<bool> done{true};
    const auto run = [&, by_rows = rows, extent = all, count_of_parts = parts](int i) {
        const std::int64_t first = extent * i / count_of_parts, count = extent * (i + 1) / count_of_parts - first;
        library_product<T> p{s.trans_a, s.trans_b, s.m, s.n, s.k, a, s.trans_a ? s.m : s.k, b, s.trans_b ? s.k : s.n,
                             c,         s.n};
        if (by_rows) {
            p.m = count;
            p.a += first * (s.trans_a ? 1 : s.k);
            p.c += first * s.n;
        } else {
            p.n = count;
            p.b += first * (s.trans_b ? s.k : 1);
            p.c += first;
        }
        if (done && !library_gemm(p)) done = false;
        if (done && !last.empty()) finish_product(p.m, p.n, p.c, s.n, last.from_column(by_rows ? 0 : first));
    };
    if (pool && parts > 1)
        pool->run(static_cast<int>(parts), run);
    else
        for (int i = 0; i < static_cast<int>(parts); ++i) run(i);
    return done;
}

/// Whether several threads take part in it.
template <class T> bool product_is_shared(const product_shape& s, int threads) {
    if (library_serves<T>(s.m, s.n, s.k)) return threads > 1 && cut_for_library(s).parts > 1;
    return has_tiles<T> && product_threads(s, threads) > 1;
}

/// Any element type, in no hurry: columns of c in a buffer of the type that sums are kept in.
template <class T> void plain_product(const product_shape& s, const T* a, const T* b, T* c) {
    using sum_type = lane<compute_type<T>>;
    constexpr std::int64_t most = 64;
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t first = 0; first < s.n; first += most) {
            sum_type sum[most];
            const std::int64_t columns = std::min(most, s.n - first);
            for (std::int64_t j = 0; j < columns; ++j) sum[j] = sum_type(0);
            for (std::int64_t l = 0; l < s.k; ++l) {
                const sum_type x(static_cast<compute_type<T>>(a[s.trans_a ? l * s.m + i : i * s.k + l]));
                const T* right = s.trans_b ? b + first * s.k + l : b + l * s.n + first;
                const std::int64_t step = s.trans_b ? s.k : 1;
                for (std::int64_t j = 0; j < columns; ++j)
                    sum[j] = fma(x, sum_type(static_cast<compute_type<T>>(right[j * step])), sum[j]);
            }
            for (std::int64_t j = 0; j < columns; ++j) c[i * s.n + first + j] = T(sum[j].v);
        }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Bytes of scratch memory that gemm wants for a product of this shape.
template <class T>
std::size_t gemm_scratch_bytes(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                               int threads = 1) {
    if (m == 0 || n == 0 || k == 0) return 0;
    if constexpr (detail::has_tiles<T>)
        return detail::tiled_scratch_bytes<T>({trans_a, trans_b, m, n, k}, threads);
    else
        return 0;
}

/// c = op(a) op(b) for dense row-major matrices, and what is done to it last; op transposes where asked. op(a) is m × k and
/// op(b) k × n; c is overwritten, with zeros where k is 0. scratch is aligned to 64 bytes and holds gemm_scratch_bytes for the
/// pool's threads; it may be null where that is 0. Without a pool, the caller's thread does it all; the result is the same.
template <class T>
void gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c,
          void* scratch, [[maybe_unused]] thread_pool* pool = nullptr, const product_epilogue<T>& last = {}) {
    if (m == 0 || n == 0) return;
    const detail::product_shape s{trans_a, trans_b, m, n, k};
    if (k > 0) {
        if (detail::library_serves<T>(m, n, k) && detail::product_by_library(s, a, b, c, pool, last)) return;
        if constexpr (detail::has_tiles<T>) {
            auto* const own = static_cast<T*>(scratch);
            if (m > 1 && n > 1) return detail::tiled_product(s, a, b, c, own, pool, last);
            if (n > 1) return detail::tiled_product(detail::without_column(s), a, b, c, own, pool, last);
            detail::tiled_product(detail::without_column(s), b, a, c, own, pool, {}); // columns are rows there
        } else {
            detail::plain_product(s, a, b, c);
        }
    } else {
        std::fill_n(c, m * n, T(0));
    }
    if (!last.empty()) detail::finish_product(m, n, c, n, last);
}

}}} // namespace rill::RILL_ABI::RILL_ISA
