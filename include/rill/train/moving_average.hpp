// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// average += share * (value - average), where share is 1 - decay.
struct moving_average_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "AssignMovingAverage";
    static constexpr std::array<const char*, 0> slots{};
    static constexpr int numbers = 1; // the share

    RILL_FN std::array<double, 1> constants(const std::array<double, 1>& share) const { return share; }
    template <class V> RILL_FN static void step(std::array<V, 1>& s, const V& value, const std::array<V, 1>& share) {
        s[0] = s[0] + share[0] * (value - s[0]);
    }
};

/// Running means of variables, each in a variable beside it. It starts at the variable's initial value: average = decay *
/// average + (1 - decay) * variable. Made after a training step, the means use the updated values:
///
///     exponential_moving_average ema(0.999);
///     const control_dependencies after(train);
///     const operation step = ema.apply();
class exponential_moving_average {
public:
    explicit exponential_moving_average(double decay) : decay_(checked(decay)) {}
    /// Uses the decay (1 + n) / (10 + n) after n steps if that is less, so that the means begin faster.
    template <graph_operand N>
    exponential_moving_average(double decay, const N& num_updates)
        : decay_(checked(decay)), share_(maximum(9. / (10. + cast<double>(num_updates)), 1 - decay)) {}

    /// Adds an operation that moves the means of the given variables, or of all trainable ones, towards their values.
    template <class... Unused> // a template, so that only programs that call it have its kernels
    operation apply(const std::vector<any_tensor>& variables = {},
                    const std::source_location& where = std::source_location::current()) {
        require_kernel<update_op<moving_average_rule>, float>();
        require_kernel<update_op<moving_average_rule>, double>();
        return add_updates(variables, where);
    }

    /// Returns the mean of a variable, as a variable. Throws not_found if `apply` did not get the variable.
    any_tensor average(const any_tensor& variable) const;
    template <class T, index_t... D> tensor<T, D...> average(const variable<T, D...>& of) const {
        return {detail::unchecked, average(any_tensor(of))};
    }
    /// Returns the name of a mean, also in saved files: "w/ExponentialMovingAverage".
    static std::string average_name(const any_tensor& variable);

private:
    static double checked(double decay);
    operation add_updates(std::vector<any_tensor> variables, const std::source_location& where);
    any_tensor add_average(const any_tensor& of) const;
    endpoint share(dtype type) const;

    double decay_;
    hyperparameter share_;
    detail::hash_map<const node*, any_tensor> averages_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/moving_average.ipp>
#endif
