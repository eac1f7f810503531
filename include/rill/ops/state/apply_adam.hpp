// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

/// One step of Adam (Kingma and Ba 2014, in TensorFlow's form: epsilon outside the bias correction), in one pass over
/// variable, slots and gradient. Inputs: variable, m, v, beta1_power, beta2_power, rate, gradient. Output: the variable.
struct apply_adam_op {
    static constexpr auto name = "ApplyAdam";
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true;
    static constexpr int writes = 3, alias = 0;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

    template <class V> void attributes(V& v) const {
        v("beta1", beta1);
        v("beta2", beta2);
        v("epsilon", epsilon);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        thread_pool* const pool = request.pool;
        request.shared = pool && n >= update_shared_from;
        const T b1 = static_cast<T>(1 - beta1), b2 = static_cast<T>(1 - beta2), eps = static_cast<T>(epsilon);
        return kernel([=](const kernel_args& a) {
            const double p1 = static_cast<double>(*a.in<T>(3)), p2 = static_cast<double>(*a.in<T>(4));
            const T rate = static_cast<T>(static_cast<double>(*a.in<T>(5)) * std::sqrt(1 - p2) / (1 - p1));
            // the output is the variable's memory; m and v are written through their inputs' slots
            D::template update<step, T>(n,
                                        std::array{a.out<T>(0), const_cast<T*>(a.in<T>(1)), const_cast<T*>(a.in<T>(2))},
                                        std::array{a.in<T>(6)}, std::array{rate, b1, b2, eps}, pool);
        });
    }
    friend bool operator==(const apply_adam_op&, const apply_adam_op&) = default;

    struct step {
        template <class V>
        RILL_FN static void run(std::array<V, 3>& s, const std::array<V, 1>& in, const std::array<V, 4>& c) {
            const V& g = in[0];
            s[1] = s[1] + c[1] * (g - s[1]);
            s[2] = s[2] + c[2] * (g * g - s[2]);
            s[0] = s[0] - c[0] * s[1] / (sqrt(s[2]) + c[3]);
        }
    };
};

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/state/apply_adam.ipp>
#endif
