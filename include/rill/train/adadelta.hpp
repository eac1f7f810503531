// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// accum = rho accum + (1 - rho) g^2; u = g sqrt(accum_update + epsilon) / sqrt(accum + epsilon); variable -= rate * u;
/// accum_update = rho accum_update + (1 - rho) u^2.
struct adadelta_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyAdadelta";
    static constexpr std::array<const char*, 2> slots{"accum", "accum_update"};
    static constexpr int numbers = 1; // the learning rate
    static constexpr bool by_rows = true;
    double rho = 0.95, epsilon = 1e-8;

    static void fields(auto& rule, auto& visit) {
        visit("rho", rule.rho);
        visit("epsilon", rule.epsilon);
    }
    RILL_FN std::array<double, 4> constants(const std::array<double, 1>& rate) const {
        return {rate[0], rho, 1 - rho, epsilon};
    }
    template <class V> RILL_FN static void step(std::array<V, 3>& s, const V& g, const std::array<V, 4>& c) {
        s[1] = c[1] * s[1] + c[2] * g * g;
        const V u = g * sqrt(s[2] + c[3]) / sqrt(s[1] + c[3]);
        s[0] = s[0] - c[0] * u;
        s[2] = c[1] * s[2] + c[2] * u * u;
    }
};

struct adadelta_options {
    double learning_rate = 0.001;
    double rho = 0.95;
    double epsilon = 1e-8;
};

/// Adadelta (Zeiler 2012): scales steps by the ratio of running means of squared past steps and squared gradients. For a
/// gradient by rows (of gather along axis 0), only these rows are updated.
class adadelta : public optimizer<adadelta, adadelta_rule, adadelta_options> {
public:
    static constexpr auto scope_name = "adadelta";
    using optimizer::optimizer;

    adadelta_rule rule() const { return {options().rho, options().epsilon}; }
};

}} // namespace rill::RILL_ABI
