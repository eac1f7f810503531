// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

/// variable -= rate * gradient, in one pass. Inputs: variable, rate (rank 0), gradient. Output: the variable.
struct apply_gradient_descent_op {
    static constexpr auto name = "ApplyGradientDescent";
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true;
    static constexpr int writes = 1, alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        thread_pool* const pool = request.pool;
        request.shared = pool && n >= update_shared_from;
        return kernel([=](const kernel_args& a) {
            D::template update<step, T>(n, std::array{a.out<T>(0)}, std::array{a.in<T>(2)}, std::array{*a.in<T>(1)},
                                        pool);
        });
    }
    friend bool operator==(const apply_gradient_descent_op&, const apply_gradient_descent_op&) = default;

    struct step {
        template <class V>
        RILL_FN static void run(std::array<V, 1>& state, const std::array<V, 1>& g, const std::array<V, 1>& rate) {
            state[0] = state[0] - rate[0] * g[0];
        }
    };
};

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/state/apply_gradient_descent.ipp>
#endif
