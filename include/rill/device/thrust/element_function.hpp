// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rill/core/index.hpp>

// Functions that compute the elements of an array, as kernels run them. Programs that are compiled at run time read this header, too.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a / b for non-negative numbers. A GPU divides 32-bit numbers several times as fast.
RILL_FN index_t quotient(index_t a, index_t b) {
    if ((a | b) >> 32 == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
    return a / b;
}

/// A function of elements in two steps: f.load(i) reads all operands; f.finish(i, loaded) computes and stores the result. A GPU reads
/// several elements before it stores the first one, since a store delays the reads after it.
template <class F>
concept loads_first = requires(const F& f, index_t i) { f.finish(i, f.load(i)); };

/// Returns true if a function reads its operands without other code. A thread can then read several elements at once.
template <class F> constexpr bool loads_together() {
    if constexpr (requires { F::dense; })
        return F::dense;
    else
        return loads_first<F>;
}

/// Computes element i.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable // some functions are for a GPU alone
#endif
template <class F> RILL_FN void run_element(const F& f, index_t i) {
    if constexpr (loads_first<F>)
        f.finish(i, f.load(i));
    else
        f(i);
}

}}} // namespace rill::RILL_ABI::detail
