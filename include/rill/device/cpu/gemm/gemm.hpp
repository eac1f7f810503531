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
#include <rill/device/cpu/gemm/gemm_blocks.hpp>
#include <rill/device/cpu/gemm/gemm_library.hpp>

// Matrix products: the choice of an algorithm by shape, and the division among threads.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns the shape of the same product without a single column. A matrix times a column becomes a row times the transpose, in the same
/// memory. A single row is its own transpose.
inline product_shape without_column(product_shape s) {
    if (s.n == 1) s = {false, !s.trans_a, 1, s.m, s.k};
    if (s.m == 1) s.trans_a = false;
    return s;
}

template <class T> std::size_t tiled_scratch_bytes(product_shape s, int threads);
template <class T>
void tiled_product(const product_shape& s, const T* a, const T* b, T* c, T* scratch, thread_pool* pool,
                   const product_epilogue<T>& last);

/// The least operations of a product that threads share. Starting threads takes some microseconds, as long as a million multiply-adds.
inline constexpr double shared_from = 4e6;

/// Returns the number of threads that share a product.
inline int product_threads(const product_shape& s, int threads) {
    const double work = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    return work < shared_from ? 1 : threads;
}

/// Returns the i-th of `parts` equal parts of c: whole columns of tiles if there are enough, else whole rows. Every element of c is the
/// same sum in the same order for any number of parts.
template <class T> product_part part_of(const product_shape& s, int i, int parts) {
    const auto cut = [&](std::int64_t all, std::int64_t step, int at) {
        const std::int64_t steps = (all + step - 1) / step;
        return std::min(all, steps * at / parts * step);
    };
    const auto lanes = static_cast<std::int64_t>(native_lanes<T>);
    if (s.n >= 2 * lanes * parts) return {0, s.m, cut(s.n, lanes, i), cut(s.n, lanes, i + 1), 0, s.k};
    return {cut(s.m, 8, i), cut(s.m, 8, i + 1), 0, s.n, 0, s.k};
}

#if RILL_SIMD_REGISTERS

/// Multiplies rows of a by rows of b (a transposed b); both are read along k.
template <class T> void product_by_rows(const product_shape& s, const product_part& p, const T* a, const T* b, T* c) {
    constexpr int together = 8;
    constexpr std::int64_t most = most_in_register * native_lanes<T>;
    for (std::int64_t i = p.row; i < p.last_row; ++i)
        for (std::int64_t l = p.k; l < p.last_k; l += most) {
            const std::int64_t k = std::min(most, p.last_k - l);
            const T *const x = a + i * s.k + l, *const y = b + l;
            T* const to = c + i * s.n;
            std::int64_t j = p.column;
            for (; j + together <= p.last_column; j += together)
                dot_products<together>(x, y + j * s.k, s.k, k, to + j, l > p.k);
            for (; j < p.last_column; ++j) dot_products<1>(x, y + j * s.k, s.k, k, to + j, l > p.k);
        }
}

/// Returns how often a sum is halved. Sums longer than longest_sum are split into halves, so that their error grows with the logarithm of k.
inline std::int64_t halvings(std::int64_t k) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>((k - 1) / longest_sum)));
}

enum class product_kind { by_rows, in_place, by_blocks };

template <class T> product_kind kind_of(const product_shape& s) {
    if (s.trans_b) return s.m < 4 && !s.trans_a ? product_kind::by_rows : product_kind::by_blocks;
    // measured: copying b pays if b exceeds the L2 cache and is read often, or is far larger and read thrice
    const std::int64_t bytes = s.k * s.n * static_cast<std::int64_t>(sizeof(T));
    const bool copy =
        s.k > product_blocks<T>::most_k && ((bytes > 1 << 20 && s.m > 64) || (bytes > 6 << 20 && s.m >= 24));
    return copy ? product_kind::by_blocks : product_kind::in_place;
}

/// Returns the elements of scratch memory for each of `threads`: enough for the largest part, since parts differ in size.
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
    threads = product_threads(s, threads);
    const std::int64_t copies = kind_of<T>(s) == product_kind::by_blocks ? copied_by_each<T>(s, threads) * threads : 0;
    return static_cast<std::size_t>(copies + halvings(s.k) * s.m * s.n) * sizeof(T);
}

/// Calls f(part, memory for its copies) for each part of a product, on the threads that share it.
template <class T, class F>
RILL_FN void share_product(const product_shape& s, product_kind kind, T* copies, thread_pool* pool, const F& f) {
    const int threads = product_threads(s, pool ? pool->threads() : 1);
    if (threads == 1) return f(product_part{0, s.m, 0, s.n, 0, s.k}, copies);
    const std::int64_t each = kind == product_kind::by_blocks ? copied_by_each<T>(s, threads) : 0;
    pool->run(threads, [&](int i) { f(part_of<T>(s, i, threads), copies + each * i); });
}

template <class T>
RILL_FN void finish_part(const product_shape& s, const product_part& p, T* c, const product_epilogue<T>& last) {
    if (last.empty()) return;
    finish_product(p.last_row - p.row, p.last_column - p.column, c + p.row * s.n + p.column, s.n,
                   last.from_column(p.column));
}

/// Computes a part of c whose sums have up to longest_sum products, and applies the epilogue.
template <class T>
RILL_FN void product_of_part(product_kind kind, const product_shape& s, const product_part& p, const T* a, const T* b,
                             T* c, T* copy, const product_epilogue<T>& last) {
    switch (kind) {
    case product_kind::by_rows: product_by_rows(s, p, a, b, c); return finish_part(s, p, c, last);
    case product_kind::in_place: return product_in_place(s, p, a, b, c, last);
    case product_kind::by_blocks: return product_by_blocks(s, p, a, b, c, copy, last);
    }
}

/// Computes a part of c (n columns) with sums of any length. multiply(part, to) computes up to longest_sum products. `spare` has room for
/// the second halves.
template <class T, class Multiply>
void product_by_halves(product_part p, std::int64_t m, std::int64_t n, T* c, T* spare, const Multiply& multiply) {
    if (p.last_k - p.k <= longest_sum) return multiply(p, c);
    product_part second = p;
    p.last_k = second.k = p.k + (p.last_k - p.k + 1) / 2;
    product_by_halves(p, m, n, c, spare, multiply);
    product_by_halves(second, m, n, spare, spare + m * n, multiply);
    for (std::int64_t i = p.row; i < p.last_row; ++i)
        for (std::int64_t at = i * n + p.column; at < i * n + p.last_column; ++at) c[at] += spare[at];
}

template <class T>
RILL_NO_INLINE void long_product(product_kind kind, const product_shape& s, const T* a, const T* b, T* c, T* scratch,
                                 thread_pool* pool, const product_epilogue<T>& last) {
    T* const copies = scratch + halvings(s.k) * s.m * s.n;
    share_product(s, kind, copies, pool, [&](const product_part& whole, T* copy) {
        product_by_halves(whole, s.m, s.n, c, scratch,
                          [&](const product_part& p, T* to) { product_of_part<T>(kind, s, p, a, b, to, copy, {}); });
        finish_part(s, whole, c, last);
    });
}

template <class T>
void tiled_product(const product_shape& s, const T* a, const T* b, T* c, T* scratch, thread_pool* pool,
                   const product_epilogue<T>& last) { // s has no single column (see without_column)
    const auto kind = kind_of<T>(s);
    if (s.k > longest_sum) return long_product(kind, s, a, b, c, scratch, pool, last);
    share_product(s, kind, scratch, pool,
                  [&](const product_part& p, T* copy) { product_of_part(kind, s, p, a, b, c, copy, last); });
}

#endif

/// The division of a library's product: into rows or columns.
struct library_cut {
    bool rows;
    std::int64_t all, parts;
};

/// Returns the division by shape alone, so that the result is the same for any number of threads. Measured: parts of 512 cost nothing. Up
/// to four smaller ones, of at least 64 and 32 million operations, cost less than 1 %.
inline library_cut cut_for_library(const product_shape& s) {
    const double work = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    const auto parts_of = [&](std::int64_t all) {
        const auto small = static_cast<std::uint64_t>(std::min({4.0, static_cast<double>(all) / 64, work / 32e6}));
        return std::max({all / 512, static_cast<std::int64_t>(std::bit_floor(small)), std::int64_t(1)});
    };
    // a division by rows makes each part transpose b again
    const std::int64_t rows = parts_of(s.m), columns = parts_of(s.n);
    if (s.m >= s.n || (!s.trans_b && rows >= columns)) return {true, s.m, rows};
    return {false, s.n, columns};
}

/// Computes a product by a library, in parts of about equal size; each is one call on one thread. Returns false if there is no library,
/// or if it declines; c is then undefined.
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

/// Returns true if several threads share the product.
template <class T> bool product_is_shared(const product_shape& s, int threads) {
    if (library_serves<T>(s.m, s.n, s.k)) return threads > 1 && cut_for_library(s).parts > 1;
    return has_tiles<T> && product_threads(s, threads) > 1;
}

/// The number of columns of c that plain_product computes at once.
inline constexpr std::int64_t plain_columns = 64;

/// Sums the products of row p.row of op(a) and some columns of op(b), from p.k to p.last_k. Long sums are added in halves.
template <class T, class Sum>
void plain_sums(const product_shape& s, const product_part& p, const T* a, const T* b, Sum* sum) {
    const std::int64_t columns = p.last_column - p.column;
    if (p.last_k - p.k > most_in_register) {
        product_part first = p, second = p;
        first.last_k = second.k = p.k + (p.last_k - p.k + 1) / 2;
        Sum other[plain_columns];
        plain_sums(s, first, a, b, sum);
        plain_sums(s, second, a, b, other);
        for (std::int64_t j = 0; j < columns; ++j) sum[j] = sum[j] + other[j];
        return;
    }
    for (std::int64_t j = 0; j < columns; ++j) sum[j] = Sum(0);
    for (std::int64_t l = p.k; l < p.last_k; ++l) {
        const Sum x(static_cast<compute_type<T>>(a[s.trans_a ? l * s.m + p.row : p.row * s.k + l]));
        const T* right = s.trans_b ? b + p.column * s.k + l : b + l * s.n + p.column;
        const std::int64_t step = s.trans_b ? s.k : 1;
        for (std::int64_t j = 0; j < columns; ++j)
            sum[j] = fma(x, Sum(static_cast<compute_type<T>>(right[j * step])), sum[j]);
    }
}

/// Multiplies matrices of any element type without tiles. A buffer keeps the sums in compute_type<T>.
template <class T> void plain_product(const product_shape& s, const T* a, const T* b, T* c) {
    lane<compute_type<T>> sum[plain_columns];
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t first = 0; first < s.n; first += plain_columns) {
            const std::int64_t columns = std::min(plain_columns, s.n - first);
            plain_sums(s, {i, i + 1, first, first + columns, 0, s.k}, a, b, sum);
            for (std::int64_t j = 0; j < columns; ++j) c[i * s.n + first + j] = T(sum[j].v);
        }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Returns the bytes of scratch memory that gemm needs for a product of this shape.
template <class T>
std::size_t gemm_scratch_bytes(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                               int threads = 1) {
    if (m == 0 || n == 0 || k == 0) return 0;
    if constexpr (detail::has_tiles<T>)
        return detail::tiled_scratch_bytes<T>({trans_a, trans_b, m, n, k}, threads);
    else
        return 0;
}

/// Computes c = op(a) op(b) for dense row-major matrices, then applies the epilogue `last`; op transposes if asked. op(a) is m × k and
/// op(b) k × n. c is overwritten, with zeros if k is 0. scratch is aligned to 64 bytes and holds gemm_scratch_bytes for the pool's
/// threads; it may be null if that is 0. Without a pool, the calling thread does all work; the result is the same.
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
            detail::tiled_product(detail::without_column(s), b, a, c, own, pool, {}); // c is a row there
        } else {
            detail::plain_product(s, a, b, c);
        }
    } else {
        std::fill_n(c, m * n, T(0));
    }
    if (!last.empty()) detail::finish_product(m, n, c, n, last);
}

}}} // namespace rill::RILL_ABI::RILL_ISA
