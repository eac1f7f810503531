// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <rill/core/dtype.hpp>
#include <rill/core/index.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Throws invalid_argument. It is not constexpr, so a call makes constant evaluation fail.
[[noreturn]] void refuse_rank(const char* what);

} // namespace detail

/// The shape of a tensor as a value: rank and extents, each possibly unknown. It is a structural type: one constexpr
/// shape rule serves the types of expressions and the nodes of graphs. Extents beyond the rank are 0.
struct dims {
    int rank = 0; // -1: unknown rank
    std::array<index_t, max_rank> extent{};

    constexpr dims() = default;
    constexpr dims(std::initializer_list<index_t> values) {
        for (const index_t v : values) push(v);
    }

    static constexpr dims unknown() {
        dims d;
        d.rank = -1;
        return d;
    }

    constexpr bool known_rank() const { return rank >= 0; }
    constexpr index_t operator[](int i) const { return extent[i]; }
    constexpr index_t& operator[](int i) { return extent[i]; }
    /// Appends an extent. Throws invalid_argument if there are 8 already.
    constexpr void push(index_t v) {
        if (rank >= max_rank) detail::refuse_rank("dims: a shape has at most 8 extents");
        extent[rank++] = v;
    }

    /// Returns true if the rank and every extent are known.
    constexpr bool complete() const {
        if (rank < 0) return false;
        for (int i = 0; i < rank; ++i)
            if ((*this)[i] == dyn) return false;
        return true;
    }
    /// Returns the number of elements of a complete shape.
    constexpr index_t size() const {
        index_t n = 1;
        for (int i = 0; i < rank; ++i) n *= (*this)[i];
        return n;
    }
    constexpr int dynamic_extents() const {
        int n = 0;
        for (int i = 0; i < rank; ++i) n += (*this)[i] == dyn;
        return n;
    }
    friend constexpr bool operator==(const dims&, const dims&) = default;
};

/// Integers, one per axis, such as the start of a slice. Unlike extents they may be negative.
struct index_list : dims {
    using dims::dims;
    constexpr index_list() = default;
    constexpr index_list(const dims& list) : dims(list) {}
};

/// The dtype and shape of a value, known before the value exists.
struct tensor_type {
    dtype type = dtype::invalid;
    dims shape;

    /// Returns the bytes of all elements; every extent must be known.
    constexpr std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(type); }
    /// Returns true if the number of elements and their bytes do not overflow.
    constexpr bool countable() const {
        std::uint64_t bytes = 16; // size of the largest element
        for (int i = 0; i < shape.rank; ++i) {
            const auto extent = static_cast<std::uint64_t>(shape[i]);
            if (shape[i] < 0 || (extent != 0 && bytes > (std::uint64_t(1) << 62) / extent)) return false;
            bytes *= extent;
        }
        return shape.known_rank();
    }
    friend constexpr bool operator==(const tensor_type&, const tensor_type&) = default;
};

/// Returns the shape as text: "[2, ?, 3]", "[]" for a scalar, "unknown rank".
std::string to_string(const dims& d);

/// Returns the type as text: "float32 [2, ?]".
std::string to_string(const tensor_type& t);

/// A static shape as a type: `extents<2, dyn>`.
template <index_t... D> struct extents {
    static constexpr int rank = static_cast<int>(sizeof...(D));
    static_assert(rank <= max_rank, "extents: at most 8 dimensions");
    static_assert(((D >= 0 || D == dyn) && ...), "extents: an extent is 0 or more, or dyn");
    static constexpr dims value{D...};
};

/// The shape E::value of extents. Initializers of variable templates pass it to rules in place of E::value: for each such argument,
/// cudafe++ of CUDA 13.0 takes 65 MB.
template <class E> inline constexpr dims static_dims = E::value;

namespace detail {

template <class Rule, class> struct extents_from;
template <class Rule, std::size_t... I> struct extents_from<Rule, std::index_sequence<I...>> {
    using type = extents<Rule::value.extent[I]...>;
};

} // namespace detail

/// The static extents of the constexpr shape `Rule::value`. (A dims as template argument crashes g++ 12.)
template <class Rule>
using extents_of_rule =
    typename detail::extents_from<Rule, std::make_index_sequence<static_cast<std::size_t>(Rule::value.rank)>>::type;

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/dims.ipp>
#endif
