// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include <rill/core/thread_pool.hpp>
#include <rill/device/cpu/linalg/qr.hpp>
#include <rill/device/cpu/linalg/svd.hpp>
#include <rill/device/cpu/linalg/triangular.hpp>
#include <rill/device/execution_context.hpp>

// Batches of matrices: each thread of the pool takes some of them.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The number of element operations from which a batch uses the pool.
inline constexpr index_t matrices_shared_from = 1 << 18;

/// Returns the number of parts into which a batch is divided.
inline int parts_of_batch(const thread_pool* pool, const matrix_task& t) {
    const index_t each = 8 * t.rows * t.columns * std::max(t.least(), t.right);
    if (!pool || t.count < 2 || t.count * each < matrices_shared_from) return 1;
    return static_cast<int>(std::min<index_t>(t.count, pool->threads()));
}

/// Returns the bytes of scratch memory of one part.
template <matrix_function F, class T> std::size_t scratch_of_matrix(const matrix_task& t) {
    scratch_cutter cut;
    matrix_algorithm<F, T>::run(t, {}, cut);
    return cut.used();
}

/// Computes a function of every matrix, and refuses the first matrix with a fault.
template <matrix_function F, class T>
void each_matrix(const execution_context& on, const matrix_task& t, const std::array<const T*, 2>& in,
                 const std::array<T*, 3>& out, const error_site& where) {
    const matrix_sizes sizes = t.sizes(F);
    const int parts = parts_of_batch(on.pool, t);
    const std::size_t bytes = scratch_of_matrix<F, T>(t);
    const auto run = [&](index_t k, int part) {
        scratch_cutter cut(static_cast<std::byte*>(on.scratch) + static_cast<std::size_t>(part) * bytes);
        matrix_operands<T> o{};
        for (std::size_t j = 0; j < in.size(); ++j) o.in[j] = in[j] ? in[j] + k * sizes.in[j] : nullptr;
        for (std::size_t j = 0; j < out.size(); ++j) o.out[j] = out[j] ? out[j] + k * sizes.out[j] : nullptr;
        return matrix_algorithm<F, T>::run(t, o, cut);
    };
    std::atomic<index_t> refused = t.count;
    const auto part = [&](int i) {
        for (index_t k = t.count * i / parts; k < t.count * (i + 1) / parts; ++k) {
            if (run(k, i) == matrix_fault::none) continue;
            index_t first = refused;
            while (k < first && !refused.compare_exchange_weak(first, k)) {}
            return; // the other matrices of this part come later
        }
    };
    if (parts == 1)
        part(0);
    else
        on.pool->run(parts, part);
    if (const index_t at = refused; at < t.count) // recompute it to get its fault
        on.refuse(where, {at, static_cast<std::int64_t>(run(at, 0))});
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
