// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>

#include <rill/core/half.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/thrust/element_function.hpp>

// The words of a program's text (program_source.hpp): how it reads its arguments and stores results.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The arguments of a program's kernel, in words of 8 bytes: addresses, extents, strides and numbers.
template <int N> struct program_words {
    std::uint64_t word[N];

    template <class T> RILL_FN T number(int at) const {
        T value;
        std::memcpy(&value, word + at, sizeof(T));
        return value;
    }
    /// Reads element i of a dense array, whose address is in a word.
    template <class T> RILL_FN T dense(int at, index_t i) const { return address<const T>(at)[i]; }
    /// Reads the element of an array that has only one.
    template <class T> RILL_FN T single(int at) const { return address<const T>(at)[0]; }
    /// Reads the element at position i of a space from an array whose address and strides are in these words. The extents of the space
    /// are the first words.
    template <class T, int Rank> RILL_FN T strided(int at, index_t i) const {
        index_t offset = 0;
#if defined(__CUDACC__)
#pragma unroll
#endif
        for (int d = Rank - 1; d > 0; --d) {
            const auto extent = static_cast<index_t>(word[d]);
            const index_t above = quotient(i, extent);
            offset += (i - above * extent) * static_cast<index_t>(word[at + 1 + d]);
            i = above;
        }
        return address<const T>(at)[offset + i * static_cast<index_t>(word[at + 1])];
    }
    template <class T> RILL_FN void store(int at, index_t i, const lane<T>& value) const {
        address<T>(at)[i] = value.v;
    }

private:
    template <class T> RILL_FN T* address(int at) const { return reinterpret_cast<T*>(word[at]); }
};

}}} // namespace rill::RILL_ABI::detail
