// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// accumulator += g^2; variable -= rate * g / sqrt(accumulator).
struct adagrad_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyAdagrad";
    static constexpr std::array<const char*, 1> slots{"accumulator"};
    static constexpr int numbers = 1; // the learning rate
    static constexpr bool by_rows = true;

    RILL_FN std::array<double, 1> constants(const std::array<double, 1>& rate) const { return rate; }
    template <class V> RILL_FN static void step(std::array<V, 2>& s, const V& g, const std::array<V, 1>& rate) {
        s[1] = s[1] + g * g;
        s[0] = s[0] - rate[0] * g / sqrt(s[1]);
    }
};

struct adagrad_options {
    double learning_rate = 0.01;
    double initial_accumulator_value = 0.1; // positive: it keeps the first steps finite
};

/// Adagrad (Duchi et al. 2011): divides steps by the root of the sum of all squared gradients. For a gradient by rows (of
/// gather along axis 0), only these rows are updated.
class adagrad : public optimizer<adagrad, adagrad_rule, adagrad_options> {
public:
    static constexpr auto scope_name = "adagrad";
    using optimizer::optimizer;

    std::vector<double> slot_values() const {
        if (!(options().initial_accumulator_value > 0))
            throw invalid_argument("adagrad: initial_accumulator_value must be positive");
        return {options().initial_accumulator_value};
    }
};

}} // namespace rill::RILL_ABI
