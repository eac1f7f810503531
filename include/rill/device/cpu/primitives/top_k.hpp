// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <rill/device/cpu/primitives/first_refused.hpp>
#include <rill/device/cpu/primitives/windows.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns the first position from `i` on whose element is NaN or larger than `bound`; n if there is none.
template <class T> index_t next_above(const T* x, index_t i, index_t n, compute_type<T> bound) {
    using C = compute_type<T>;
    constexpr index_t block = 64;
    if (i < n && !(static_cast<C>(x[i]) <= bound)) return i; // in a rising row, each element is larger
    for (; i + block <= n; i += block) {                     // branch-free within a block, so that it vectorizes
        loop_flag<C> above = 0;
        for (index_t k = i; k < i + block; ++k) above |= static_cast<loop_flag<C>>(!(static_cast<C>(x[k]) <= bound));
        if (above) break;
    }
    while (i < n && static_cast<C>(x[i]) <= bound) ++i;
    return i;
}

/// Replaces the front of a heap of std::make_heap. One pass down the heap, where std::pop_heap and std::push_heap take two.
template <class Before> void replace_front(std::int32_t* heap, index_t n, std::int32_t with, const Before& before) {
    index_t at = 0;
    for (index_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && before(heap[child], heap[child + 1])) ++child;
        if (!before(with, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = with;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Writes the k largest elements of each row in descending order, and their indices. Equal elements keep their order; NaN counts as the
/// largest.
template <class T>
void largest_of_rows(const T* x, T* values, std::int32_t* ids, index_t rows, index_t columns, index_t k) {
    using C = compute_type<T>;
    if (k == 0) return;
    for (index_t row = 0; row < rows; ++row, x += columns, values += k, ids += k) {
        const auto before = [x](std::int32_t i, std::int32_t j) {
            const C a = static_cast<C>(x[i]), b = static_cast<C>(x[j]);
            const bool a_is_nan = detail::is_missing(a), b_is_nan = detail::is_missing(b);
            if (a_is_nan != b_is_nan) return a_is_nan;
            return a > b || (!(b > a) && i < j);
        };
        // A heap of the k best elements so far, with the last of them in front. Most elements are not better than that one.
        std::iota(ids, ids + k, 0);
        std::make_heap(ids, ids + k, before);
        for (index_t i = k;; ++i) {
            const C bound = static_cast<C>(x[*ids]);
            if (detail::is_missing(bound)) break; // k NaNs: no later element precedes them
            i = detail::next_above(x, i, columns, bound);
            if (i >= columns) break;
            detail::replace_front(ids, k, static_cast<std::int32_t>(i), before);
        }
        std::sort_heap(ids, ids + k, before);
        for (index_t i = 0; i < k; ++i) values[i] = x[ids[i]];
    }
}

}}} // namespace rill::RILL_ABI::RILL_ISA
