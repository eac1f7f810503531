// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <rill/expr/node_op.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sqrt.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct take_away {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& s, const std::array<V, 1>& x, const std::array<V, 0>&) {
        s[0] = s[0] - x[0];
    }
};
struct take_times {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& s, const std::array<V, 1>& x, const std::array<V, 1>& c) {
        s[0] = c[0] * x[0];
    }
};

/// A row function that divides a row by its Euclidean norm.
struct unit_row {
    template <class Layout, class In, class Out, class Numbers>
    RILL_FN void operator()(const Layout& l, const In& in, const Out& out, const Numbers&) const {
        const auto squares = l.sum([&](auto p) {
            const auto x = l.load(in[0], p);
            return x * x;
        });
        l.each([&](auto p) { l.store(l.load(in[0], p) / sqrt(squares), out[0], p); });
    }
};

/// An orthonormalization of vectors, the rows of a matrix, by the Gram-Schmidt process. Each vector loses its projection on the earlier
/// ones, twice because of rounding. If the vectors are linearly independent, the result is Q^T of the QR decomposition whose R has a
/// positive diagonal.
template <class D, class T> struct orthonormal_rows {
    index_t count, length;

    std::size_t scratch_bytes() const { return room(shares()) + room(length) + rest(); }

    /// Runs on one thread, with scratch_bytes() of scratch memory.
    void run(const execution_context& on, T* v) const {
        auto* const scratch = static_cast<std::byte*>(on.scratch);
        T* const along_each = reinterpret_cast<T*>(scratch);
        T* const along = reinterpret_cast<T*>(scratch + room(shares()));
        auto alone = on.with_scratch(scratch + room(shares()) + room(length));
        alone.pool = nullptr;
        for (index_t i = 0; i < count; ++i) {
            T* const row = v + i * length;
            for (int time = 0; time < 2 && i > 0; ++time) {
                D::gemm(alone, false, true, 1, i, length, row, v, along_each);
                D::gemm(alone, false, false, 1, length, i, along_each, v, along);
                D::template update<take_away>(alone, length, std::array<const T*, 1>{row}, std::array{row},
                                              std::array<const T*, 1>{along}, no_constants<T>{});
            }
            D::rows(alone, 1, length, std::array<const T*, 1>{row}, std::array{row}, row_numbers<T>{}, unit_row{});
        }
    }

private:
    static std::size_t room(index_t n) { return (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64; }
    index_t shares() const { return count; }
    std::size_t rest() const { // scratch memory of products and rows
        std::size_t most = D::template row_scratch<T>(length, 2);
        for (index_t i = 1; i < count; ++i)
            most = std::max({most, D::template gemm_scratch<T>({}, false, true, 1, i, length),
                             D::template gemm_scratch<T>({}, false, false, 1, length, i)});
        return most;
    }
};

} // namespace detail

/// A matrix with orthonormal columns, times gain, made of a random matrix: Q of its QR decomposition. If there are fewer rows than columns,
/// the rows are orthonormal. All axes but the last count as rows. Shape: that of x.
struct orthogonal_op {
    static constexpr auto name = "Orthogonal";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr auto no_gradient = "it makes the first values of variables";
    double gain = 1;

    static void fields(auto& op, auto& visit) { visit("gain", op.gain); }
    constexpr shape_result shape(const dims& x) const {
        return {x, x.known_rank() && x.rank < 2 ? "a matrix is expected, of rank 2 or more" : nullptr};
    }
    /// Returns the cost: each vector loses its projections twice, by two products each time.
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        const dims& x = in[0].shape;
        const auto n = static_cast<double>(x.size()), columns = static_cast<double>(x[x.rank - 1]);
        const double vectors = columns > 0 ? std::min(n / columns, columns) : 0;
        return {4 * n * vectors, detail::total_bytes(in) + detail::total_bytes(out)};
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& x = request.inputs[0].shape;
        const index_t n = x.size(), columns = x[x.rank - 1], rows = columns > 0 ? n / columns : 0;
        const bool tall = rows > columns;
        const detail::orthonormal_rows<D, T> vectors{std::min(rows, columns), std::max(rows, columns)};
        request.scratch_bytes = static_cast<std::size_t>(n) * sizeof(T) + 64 + vectors.scratch_bytes();
        detail::strided_layout there, back; // between the matrix and its vectors
        there.push(rows, columns, tall ? 1 : columns);
        there.push(columns, 1, tall ? rows : 1);
        back.push(rows, tall ? 1 : columns, columns);
        back.push(columns, tall ? rows : 1, 1);
        there.collapse();
        back.collapse();
        const std::size_t behind = (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64;
        return kernel([=, gain = detail::convert<T>(gain)](const kernel_args& a) {
            if (n == 0) return;
            T* const v = a.scratch<T>();
            D::copy(a.on, a.in<T>(0), v, there);
            const auto on = a.on.with_scratch(a.scratch<std::byte>() + behind);
            vectors.run(on, v);
            D::copy(on, static_cast<const T*>(v), a.out<T>(0), back);
            T* const factor = static_cast<T*>(on.scratch); // the vectors no longer need the scratch memory
            D::fill(on, 1, factor, gain);
            const std::array<const T*, 1> made{a.out<T>(0)};
            D::template update<detail::take_times>(on, n, made, std::array{a.out<T>(0)}, made,
                                                   update_constants<T, 1>{factor});
        });
    }
};

}} // namespace rill::RILL_ABI
