// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/expression_kernel.hpp>
#include <rill/device/cpu/fused.hpp>
#include <rill/device/cpu/gemm.hpp>
#include <rill/device/cpu/strided_copy.hpp>
#include <rill/device/cpu/update.hpp>

namespace rill::inline RILL_ABI::inline RILL_ISA {

/// The CPU as a device: the primitives that ops are written on. Another device offers the same names. The type carries
/// the instruction set, and so does every kernel bound to it.
struct cpu {
    /// c = op(a) op(b), dense row-major.
    template <class T> static void gemm(bool ta, bool tb, index_t m, index_t n, index_t k, const T* a, const T* b, T* c, void* scratch) {
        rill::gemm<T>(ta, tb, m, n, k, a, b, c, scratch);
    }
    template <class T> static std::size_t gemm_scratch(bool ta, bool tb, index_t m, index_t n, index_t k) {
        return gemm_scratch_bytes<T>(ta, tb, m, n, k);
    }
    /// to[i] = S(from[i]...): an expression structure over dense arrays.
    template <class S, class To, class... From> static void map(index_t n, To* to, const From*... from) {
        const void* leaves[] = {from...};
        void* results[] = {to};
        forward_block<S>({leaves, nullptr, results, nullptr, n});
    }
    /// Changes arrays in place, given others and some numbers.
    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(index_t n, const std::array<T*, S>& state, const std::array<const T*, I>& in, const std::array<T, C>& constants) {
        update_arrays<F>(n, state, in, constants);
    }
    /// Copies one layout into another: transpose, concat, slice, tile.
    template <class T> static void copy(const T* from, T* to, const detail::strided_layout& l) {
        detail::strided_copy(from, to, l, 0);
    }
};

} // namespace rill::inline RILL_ABI::inline RILL_ISA
