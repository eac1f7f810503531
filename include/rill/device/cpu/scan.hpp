// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/core/program.hpp>
#include <rill/device/lane.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// to[o, e, i] = the sum (or product) of x[o, 0 … e, i], or of what lies before e or after it. Narrow floating types are
/// added up in wider ones; integers wrap.
template <combine How, class T>
void running_values(const T* x, T* to, index_t outer, index_t extent, index_t inner, bool exclusive, bool reverse) {
    static_assert(How == combine::sum || How == combine::prod);
    using C = compute_type<T>;
    constexpr auto joined = [](const C& a, const T& b) {
        const lane<C> left(a), right(static_cast<C>(b));
        if constexpr (How == combine::sum)
            return (left + right).v;
        else
            return (left * right).v;
    };
    constexpr auto first = static_cast<C>(How == combine::prod ? 1 : 0);
    constexpr index_t most = 256; // columns that run on side by side
    C so_far[most];
    for (index_t o = 0; o < outer; ++o)
        for (index_t left = 0; left < inner; left += most) {
            const index_t width = std::min(most, inner - left);
            std::fill_n(so_far, width, first);
            for (index_t e = 0; e < extent; ++e) {
                const index_t at = (o * extent + (reverse ? extent - 1 - e : e)) * inner + left;
                for (index_t i = 0; i < width; ++i) {
                    const C next = joined(so_far[i], x[at + i]);
                    to[at + i] = static_cast<T>(exclusive ? so_far[i] : next);
                    so_far[i] = next;
                }
            }
        }
}

}}} // namespace rill::RILL_ABI::RILL_ISA
