// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <rill/device/product_epilogue.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// What gradient descent does to a number of a variable.
struct subtract_scaled {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& state, const std::array<V, 1>& g, const std::array<V, 1>& rate) {
        state[0] = fma(-rate[0], g[0], state[0]); // rounded as products that end in registers do it
    }
};

} // namespace detail

/// Subtracts a matrix product times a rate from a variable: what plans make of gradient descent by a gradient that is a product and
/// that nothing else reads. Inputs: the variable [m, n], the rate, of rank 0, on the host, and the product's operands.
/// The output is the variable after the write.
struct assign_sub_product_op {
    static constexpr auto name = "AssignSubProduct";
    static constexpr int inputs = 4;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr auto no_gradient = "plans make it of a write";
    static constexpr bool stateful = true;
    static constexpr int alias = 0;
    bool transpose_a = false, transpose_b = false;

    static void fields(auto& op, auto& visit) {
        visit("transpose_a", op.transpose_a);
        visit("transpose_b", op.transpose_b);
    }
    input_list writes() const { return {0}; }
    input_list host_inputs() const { return {1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;

    /// Where products end in registers, the variable changes there; elsewhere the product is computed into scratch memory first.
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &a = request.inputs[2].shape, &c = request.inputs[0].shape;
        const bool ta = transpose_a, tb = transpose_b;
        const index_t m = c[0], n = c[1], k = a[ta ? 0 : 1];
        thread_pool* const pool = request.pool;
        const bool at_once = D::template gemm_ends_in_registers<T>(ta, tb, m, n, k);
        constexpr index_t line = 64; // scratch memory is aligned to it
        const index_t product_bytes = at_once ? 0 : (m * n * index_t(sizeof(T)) + line - 1) / line * line;
        request.scratch_bytes =
            static_cast<std::size_t>(product_bytes) + D::template gemm_scratch<T>(ta, tb, m, n, k, pool);
        request.microseconds = D::gemm_microseconds(m, n, k);
        request.shared = D::template gemm_is_shared<T>(ta, tb, m, n, k, pool);
        return kernel([=](const kernel_args& s) {
            T* const variable = s.variable<T>(0);
            const T rate = *s.in<T>(1);
            auto* const scratch = static_cast<std::byte*>(s.scratch());
            product_epilogue<T> last;
            if (at_once) last.rate = &rate;
            T* const product = at_once ? variable : reinterpret_cast<T*>(scratch);
            D::gemm(ta, tb, m, n, k, s.in<T>(2), s.in<T>(3), product, scratch + product_bytes, pool, last);
            if (!at_once)
                D::template update<detail::subtract_scaled>(m * n, std::array{variable},
                                                            std::array<const T*, 1>{product}, std::array{rate}, pool);
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> assign_sub_product_op::outputs(std::span<const tensor_type> in) const {
    const auto &variable = in[0], &rate = in[1], &a = in[2], &b = in[3];
    for (const auto* other : {&rate, &a, &b})
        if (other->type != variable.type)
            throw invalid_argument("the dtypes differ: the variable is " + to_string(variable) + ", an operand " +
                                   to_string(*other));
    if (rate.shape.known_rank() && rate.shape.rank != 0)
        throw invalid_argument("the rate is a number, not " + to_string(rate.shape));
    const auto product = rules::matmul(a.shape, b.shape, transpose_a, transpose_b);
    if (!product.ok()) throw invalid_argument(product.broken);
    if (!rules::compatible(variable.shape, product.shape))
        throw invalid_argument("the variable is " + to_string(variable.shape) + ", the product " +
                               to_string(product.shape));
    return {variable};
}

}} // namespace rill::RILL_ABI
#endif
