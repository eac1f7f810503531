// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include <rill/core/vector.hpp>

// Whole-range versions of the algorithms that the library uses, named as in std::ranges. They compile three to five times faster than
// std::ranges (bench/compile/constructs.py); a header-only program has some 150 calls.

namespace rill { inline namespace RILL_ABI { namespace detail {

template <class R, class F> constexpr bool any_of(const R& all, const F& holds) {
    for (const auto& x : all)
        if (holds(x)) return true;
    return false;
}
template <class R, class F> constexpr bool all_of(const R& all, const F& holds) {
    for (const auto& x : all)
        if (!holds(x)) return false;
    return true;
}
template <class R, class F> constexpr bool none_of(const R& all, const F& holds) { return !any_of(all, holds); }

template <class R, class F> constexpr auto find_if(R&& all, const F& holds) {
    auto at = all.begin();
    for (const auto end = all.end(); at != end && !holds(*at);) ++at;
    return at;
}
template <class R, class T> constexpr auto find(R&& all, const T& one) {
    auto at = all.begin();
    for (const auto end = all.end(); at != end && !(*at == one);) ++at;
    return at;
}
template <class R, class T> constexpr bool contains(const R& all, const T& one) {
    for (const auto& x : all)
        if (x == one) return true;
    return false;
}
template <class A, class B, class Same> constexpr bool equal(const A& a, const B& b, const Same& same) {
    if (a.size() != b.size()) return false;
    auto at = b.begin();
    for (const auto& x : a)
        if (!same(x, *at++)) return false;
    return true;
}
template <class A, class B> constexpr bool equal(const A& a, const B& b) {
    return detail::equal(a, b, [](const auto& x, const auto& y) { return x == y; });
}

template <class T, class Less> void merge_sort(T* first, std::size_t n, T* aside, const Less& less) {
    if (n < 2) return;
    const std::size_t half = n / 2;
    merge_sort(first, half, aside, less);
    merge_sort(first + half, n - half, aside, less);
    if (!less(first[half], first[half - 1])) return;
    for (std::size_t i = 0; i < half; ++i) aside[i] = std::move(first[i]);
    T *left = aside, *const end = aside + half, *right = first + half, *const last = first + n;
    while (left != end) *first++ = right != last && less(*right, *left) ? std::move(*right++) : std::move(*left++);
}

/// Sorts a range; the order of equal elements is kept. A sorted range costs one comparison per element. (With std::stable_sort of
/// libstdc++ 12, clang warns about the library's own use of a deprecated function.)
template <class R, class Less> void sort(R&& all, const Less& less) {
    vector<typename std::remove_cvref_t<R>::value_type> aside(all.size() / 2);
    merge_sort(all.data(), all.size(), aside.data(), less);
}
template <class R> void sort(R&& all) {
    sort(all, [](const auto& a, const auto& b) { return a < b; });
}

}}} // namespace rill::RILL_ABI::detail
