// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <rill/core/half.hpp>
#include <rill/core/thread_pool.hpp>
#include <rill/device/cpu/primitives/windows.hpp>
#include <rill/device/cpu/simd/simd_memory.hpp>

// Registers whose halves or quarters alone have the instruction serve no tiles: AVX without AVX2, AVX-512 without its bytes.
#if RILL_SIMD_REGISTERS && defined(__SSE2__) && (defined(__AVX2__) || !defined(__AVX__)) &&                            \
    (RILL_ISA_LEVEL >= 4 || !defined(__AVX512F__))
#define RILL_DETAIL_BYTE_TILES 1
#include <immintrin.h>
#else
#define RILL_DETAIL_BYTE_TILES 0
#endif

// Products of quantised bytes with exact sums of 32 bits. Both operands are copied: neighbours along k share the 32 bits of a lane, and
// an instruction multiplies and adds them. Zero points are not subtracted from the bytes: they add a term per row and one per column.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// True if the processor's registers multiply bytes.
inline constexpr bool has_byte_tiles = RILL_DETAIL_BYTE_TILES;

/// Returns the bytes of scratch memory of multiply_bytes.
inline std::size_t byte_product_bytes(index_t m, index_t n, index_t k);
/// Computes y = (x - x0) (f - f0) for matrices [m, k] and [k, n], modulo 2^32.
template <class Q>
void multiply_bytes(index_t m, index_t n, index_t k, const Q* x, const Q* f, std::uint32_t x0, std::uint32_t f0,
                    qint32* y, void* scratch, thread_pool* pool);

#if RILL_DETAIL_BYTE_TILES

#if defined(__AVX512VNNI__) && RILL_ISA_LEVEL >= 4
/// Four products a lane. The left bytes are unsigned and the right ones signed, as the instruction takes them.
struct byte_group {
    using left = std::uint8_t;
    using right = std::int8_t;

    RILL_FN static __m512i add_products(__m512i sum, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(sum, a, b); }
};
#else
/// Two products a lane, of 16 bits each: an older instruction for bytes saturates.
struct byte_group {
    using left = std::int16_t;
    using right = std::int16_t;

    RILL_FN static __m128i add_products(__m128i sum, __m128i a, __m128i b) {
        return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
    }
#if defined(__AVX2__)
    RILL_FN static __m256i add_products(__m256i sum, __m256i a, __m256i b) {
        return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
    }
#endif
#if RILL_ISA_LEVEL >= 4
    RILL_FN static __m512i add_products(__m512i sum, __m512i a, __m512i b) {
        return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
    }
#endif
};
#endif

/// The largest tile of a product of bytes. Its sums, a row of b and one lane of a fill the 32 or 16 registers.
struct byte_tile_shape {
    static constexpr index_t lanes = native_lanes<std::int32_t>, rows = RILL_ISA_LEVEL >= 4 ? 8 : 4,
                             vectors = RILL_ISA_LEVEL >= 4 ? 3 : 2;
    static constexpr index_t together = 4 / sizeof(byte_group::left); // neighbours along k in a lane
    /// The groups along k of a block: the columns of one tile fit the L1 cache.
    static constexpr index_t most_groups = 128;
};

/// The division of scratch memory: copies of the operands [rows, groups] and [columns / lanes, groups, lanes], and the terms.
struct byte_product_memory {
    index_t groups, columns, numbers; // the columns of whole registers; numbers in the memory
    std::uint32_t *left = nullptr, *right = nullptr, *row_terms = nullptr, *column_terms = nullptr;

    byte_product_memory(index_t m, index_t n, index_t k, void* scratch) {
        using shape = byte_tile_shape;
        groups = (k + shape::together - 1) / shape::together;
        columns = (n + shape::lanes - 1) / shape::lanes * shape::lanes;
        numbers = (m + columns) * (groups + 1);
        if (!scratch) return; // only the size is asked for
        left = static_cast<std::uint32_t*>(scratch);
        right = left + m * groups;
        row_terms = right + columns * groups;
        column_terms = row_terms + m;
    }
};
inline std::size_t byte_product_bytes(index_t m, index_t n, index_t k) {
    return static_cast<std::size_t>(byte_product_memory(m, n, k, nullptr).numbers) * sizeof(std::uint32_t);
}

struct byte_tile_operands {
    const std::uint32_t* a;
    index_t a_row;
    const std::uint32_t* b;
    index_t b_vector; // from one register of columns to the next
    index_t groups;
    qint32* y;
    index_t y_row;
    index_t columns;                // the last register may be partial
    const std::uint32_t* row_terms; // null: add to y
    const std::uint32_t* column_terms;
};

/// Adds the terms to a tile of sums, or the sums to y. The sums come by memory: with this code behind its loop, g++ 12 does not keep
/// them in registers.
RILL_NO_INLINE inline void finish_byte_tile(const byte_tile_operands& o, const std::int32_t* sums, int rows,
                                            int sums_row) {
    using V = simd<std::int32_t>;
    const auto* const terms = reinterpret_cast<const std::int32_t*>(o.column_terms);
    const int columns = static_cast<int>(o.columns);
    for (index_t i = 0; i < rows; ++i) {
        auto* const y = reinterpret_cast<std::int32_t*>(o.y + i * o.y_row);
        const V term(o.row_terms ? static_cast<std::int32_t>(o.row_terms[i]) : 0);
        for (int j = 0; j < columns; j += V::lanes) {
            const V sum = V::load(sums + i * sums_row + j) + term;
            if (columns - j >= V::lanes)
                (sum + V::load((o.row_terms ? terms : y) + j)).store(y + j);
            else
                store_some(sum + (o.row_terms ? V::load(terms + j) : load_some_or_zero(y, j, columns)), y, j, columns);
        }
    }
}

/// Computes a tile of Rows × Vectors registers.
template <int Rows, int Vectors> struct byte_tile {
    using V = simd<std::int32_t>;
    static constexpr int lanes = V::lanes;

    struct row_of_sums {
        V v[Vectors];
    };
    struct tile_of_sums {
        row_of_sums row[Rows];
    };

    RILL_NO_INLINE static void run(const byte_tile_operands& o) {
        run(o, std::make_index_sequence<Rows>{}, std::make_index_sequence<Vectors>{});
    }

private:
    static V load(const std::uint32_t* from) { return V::load(reinterpret_cast<const std::int32_t*>(from)); }

    template <std::size_t... R, std::size_t... J>
    RILL_FN static void run(const byte_tile_operands& operands, std::index_sequence<R...>,
                            std::index_sequence<J...> all) {
        const byte_tile_operands o = operands;
        tile_of_sums sum;
        ((sum.row[R] = ((void)R, row_of_sums{{((void)J, V(0))...}})), ...);
        const auto fetch = [&](index_t row) { // rows of y lie in different pages
            (_mm_prefetch(reinterpret_cast<const char*>(o.y + row * o.y_row + static_cast<index_t>(J) * lanes),
                          _MM_HINT_T0),
             ...);
        };
        (fetch(static_cast<index_t>(R)), ...);
        const std::uint32_t *a = o.a, *b = o.b;
        for (index_t g = o.groups; g > 0; --g, ++a, b += lanes) {
            const row_of_sums right{{load(b + static_cast<index_t>(J) * o.b_vector)...}};
            (add_products(sum.row[R], V(static_cast<std::int32_t>(a[static_cast<index_t>(R) * o.a_row])), right, all),
             ...);
        }
        alignas(64) std::int32_t sums[static_cast<std::size_t>(Rows * Vectors * lanes)];
        (store(sum.row[R], sums + static_cast<index_t>(R) * Vectors * lanes, all), ...);
        finish_byte_tile(o, sums, Rows, Vectors * lanes);
    }
    template <std::size_t... J>
    RILL_FN static void add_products(row_of_sums& sum, V left, const row_of_sums& right, std::index_sequence<J...>) {
        ((sum.v[J] = typename V::native(
              byte_group::add_products(in_register(sum.v[J]), in_register(left), in_register(right.v[J])))),
         ...);
    }
    template <std::size_t... J>
    RILL_FN static void store(const row_of_sums& sum, std::int32_t* to, std::index_sequence<J...>) {
        (sum.v[J].store(to + static_cast<index_t>(J) * lanes), ...);
    }
};

using byte_tile_function = void (*)(const byte_tile_operands&);

/// Returns the kernel for 2^log_rows rows.
inline byte_tile_function byte_tile_for(int log_rows, index_t vectors) {
    static constexpr auto of_rows = []<std::size_t... J>(auto rows, std::index_sequence<J...>) {
        return std::array<byte_tile_function, sizeof...(J)>{&byte_tile<rows(), static_cast<int>(J) + 1>::run...};
    };
    constexpr std::make_index_sequence<static_cast<std::size_t>(byte_tile_shape::vectors)> all;
    static constexpr std::array tiles{of_rows(std::integral_constant<int, 1>{}, all),
                                      of_rows(std::integral_constant<int, 2>{}, all),
                                      of_rows(std::integral_constant<int, 4>{}, all),
                                      of_rows(std::integral_constant<int, byte_tile_shape::rows>{}, all)};
    return tiles[static_cast<std::size_t>(log_rows)][static_cast<std::size_t>(vectors - 1)];
}

/// A quantised operand as the tiles take it: as integers of type Integer, from which the difference to its own is subtracted.
template <class Q, class Integer, int Lowest> struct shifted_bytes {
    using own = decltype(Q::value);
    static constexpr int difference = std::numeric_limits<own>::min() - Lowest;

    /// Returns the zero point after the shift, modulo 2^32.
    static std::uint32_t zero_point(std::uint32_t own_point) {
        return own_point - static_cast<std::uint32_t>(difference);
    }
    RILL_FN static Integer number(Q q) { return static_cast<Integer>(static_cast<int>(q.value) - difference); }
    /// Returns the number in the bits of a lane for the `place`-th neighbour.
    RILL_FN static std::uint32_t bits(Integer x, index_t place) {
        constexpr unsigned width = 8 * sizeof(Integer);
        return static_cast<std::uint32_t>(static_cast<std::make_unsigned_t<Integer>>(x))
               << (width * static_cast<unsigned>(place));
    }
};
template <class Q> using left_bytes = shifted_bytes<Q, byte_group::left, 0>;
template <class Q> using right_bytes = shifted_bytes<Q, byte_group::right, -128>;

/// Copies a row of the left operand. Returns the sum of its numbers, modulo 2^32.
template <class Q> std::uint32_t copy_left_row(const Q* x, index_t k, std::uint32_t* to) {
    using bytes = left_bytes<Q>;
    using number = byte_group::left;
    if (k % byte_tile_shape::together != 0) to[k / byte_tile_shape::together] = 0;
    auto* const numbers = reinterpret_cast<unsigned char*>(to);
    std::uint32_t sum = 0;
    for (index_t l = 0; l < k; ++l) {
        const number v = bytes::number(x[l]);
        std::memcpy(numbers + l * static_cast<index_t>(sizeof(number)), &v, sizeof(number));
        sum += static_cast<std::uint32_t>(v);
    }
    return sum;
}

/// Copies `count` columns of the right operand [k, n], up to one register of them. Adds their numbers to `sums`.
template <class Q>
void copy_right_columns(const Q* f, index_t k, index_t n, index_t count, std::uint32_t* to, std::uint32_t* sums) {
    using bytes = right_bytes<Q>;
    constexpr index_t together = byte_tile_shape::together, lanes = byte_tile_shape::lanes;
    const auto copy = [&](index_t here, auto columns) {
        for (index_t j = 0; j < columns; ++j) to[j] = 0;
        for (index_t t = 0; t < here; ++t)
            for (index_t j = 0; j < columns; ++j) {
                const auto v = bytes::number(f[t * n + j]);
                to[j] |= bytes::bits(v, t);
                sums[j] += static_cast<std::uint32_t>(v);
            }
    };
    for (index_t l = 0; l < k; l += together, f += together * n, to += lanes) {
        const index_t here = std::min(together, k - l);
        if (count < lanes || here < together) {
            copy(here, count);
            std::fill(to + count, to + lanes, 0u);
        } else {
            copy(together, std::integral_constant<index_t, lanes>{});
        }
    }
}

/// Computes the rows of y from `row` to `end`, after both operands are copied.
inline void multiply_byte_rows(const byte_product_memory& memory, index_t row, index_t end, index_t n, qint32* y) {
    using shape = byte_tile_shape;
    byte_tile_operands o{};
    o.a_row = memory.groups;
    o.b_vector = memory.groups * shape::lanes;
    o.y_row = n;
    for (index_t g = 0; g < memory.groups; g += shape::most_groups) {
        o.groups = std::min(shape::most_groups, memory.groups - g);
        for (index_t j = 0; j < n; j += shape::vectors * shape::lanes) {
            o.columns = std::min(shape::vectors * shape::lanes, n - j);
            o.b = memory.right + j * memory.groups + g * shape::lanes;
            o.column_terms = memory.column_terms + j;
            index_t i = row;
            for (int log_rows = shape::rows == 8 ? 3 : 2; log_rows >= 0; --log_rows) {
                const auto tile = byte_tile_for(log_rows, (o.columns + shape::lanes - 1) / shape::lanes);
                for (; i + (index_t(1) << log_rows) <= end; i += index_t(1) << log_rows) {
                    o.a = memory.left + i * memory.groups + g;
                    o.y = y + i * n + j;
                    o.row_terms = g == 0 ? memory.row_terms + i : nullptr;
                    tile(o);
                }
            }
        }
    }
}

template <class Q>
void multiply_bytes(index_t m, index_t n, index_t k, const Q* x, const Q* f, std::uint32_t x0, std::uint32_t f0,
                    qint32* y, void* scratch, thread_pool* pool) {
    using shape = byte_tile_shape;
    if (k == 0) { // empty operands may be null
        std::fill_n(y, m * n, qint32{});
        return;
    }
    const byte_product_memory memory(m, n, k, scratch);
    const std::uint32_t left_zero = left_bytes<Q>::zero_point(x0), right_zero = right_bytes<Q>::zero_point(f0);
    share_windows(memory.columns / shape::lanes, k * shape::lanes, pool, [&](index_t from, index_t end) {
        for (index_t j = from * shape::lanes; j < end * shape::lanes; j += shape::lanes) {
            std::uint32_t sums[static_cast<std::size_t>(shape::lanes)] = {};
            copy_right_columns(f + j, k, n, std::min(shape::lanes, n - j), memory.right + j * memory.groups, sums);
            for (index_t i = 0; i < shape::lanes; ++i)
                memory.column_terms[j + i] = left_zero * (static_cast<std::uint32_t>(k) * right_zero - sums[i]);
        }
    });
    share_windows((m + shape::rows - 1) / shape::rows, n * k * shape::rows, pool, [&](index_t from, index_t end) {
        const index_t first = from * shape::rows, last = std::min(m, end * shape::rows);
        for (index_t i = first; i < last; ++i)
            memory.row_terms[i] = 0 - right_zero * copy_left_row(x + i * k, k, memory.left + i * memory.groups);
        multiply_byte_rows(memory, first, last, n, y);
    });
}

#else

inline std::size_t byte_product_bytes(index_t, index_t, index_t) { return 0; }

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
