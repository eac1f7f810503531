// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include <rill/config.hpp>

// Lifting of a function on parts (registers or lanes) to packs. The function is a class, because standard C++ cannot force inlining of a
// lambda. Out and P are packs or masks: arrays `part` of `parts` registers or lanes.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

template <class F, std::size_t I, class Out, class... P> RILL_FN void lift_part(Out& out, const P&... p) {
    out.part[I] = F::run(p.part[I]...);
}
template <class F, class Out, class... P, std::size_t... I>
RILL_FN Out lift_parts(std::index_sequence<I...>, const P&... p) { // unrolled; a loop would keep the parts in memory
    Out out;
    (lift_part<F, I>(out, p...), ...);
    return out;
}
template <class Out, class F, class... P> RILL_FN Out lift(const P&... p) {
    if constexpr (Out::registers) {
        return lift_parts<F, Out>(std::make_index_sequence<static_cast<std::size_t>(Out::parts)>{}, p...);
    } else {
        Out out;
        for (int i = 0; i < Out::parts; ++i) out.part[i] = F::run(p.part[i]...);
        return out;
    }
}

// clang-format off
struct lift_add { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a + b; } };
struct lift_sub { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a - b; } };
struct lift_mul { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a * b; } };
struct lift_div { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a / b; } };
struct lift_mod { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a % b; } };
struct lift_neg { template <class V> RILL_FN static auto run(const V& a) { return -a; } };
struct lift_eq { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a == b; } };
struct lift_ne { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a != b; } };
struct lift_lt { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a < b; } };
struct lift_le { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a <= b; } };
struct lift_and { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a && b; } };
struct lift_or { template <class V> RILL_FN static auto run(const V& a, const V& b) { return a || b; } };
struct lift_not { template <class V> RILL_FN static auto run(const V& a) { return !a; } };
struct lift_select { template <class M, class V> RILL_FN static auto run(const M& m, const V& a, const V& b) { return select(m, a, b); } };
struct lift_max { template <class V> RILL_FN static auto run(const V& a, const V& b) { return max(a, b); } };
struct lift_min { template <class V> RILL_FN static auto run(const V& a, const V& b) { return min(a, b); } };
struct lift_fma { template <class V> RILL_FN static auto run(const V& a, const V& b, const V& c) { return fma(a, b, c); } };
// clang-format on

/// A function object that calls an op's register function.
template <class Op> struct lift_op {
    template <class... V> RILL_FN static auto run(const V&... v) { return Op::registers(v...); }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
