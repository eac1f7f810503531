// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string>
#include <vector>

#include <rill/ops/array/fill.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/ceil.hpp>
#include <rill/ops/math/cos.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/less_equal.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/minimum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

// Learning rates that change with the number of steps, by TensorFlow's formulas. They are tensors of rank 0, computed from a
// counter in the graph. An optimizer takes one in place of a number: adam(exponential_decay(0.1f, global_step, 1000, 0.96)). It
// has the type of the given learning rate, a number or a tensor, and is computed in it. An integer rate gives float.

namespace rill { inline namespace RILL_ABI {

/// True for a counter of steps: an integer of rank 0.
template <class Step> inline constexpr bool counts_steps = false;
template <typed_operand Step>
inline constexpr bool counts_steps<Step> = is_integral<value_type_of<Step>> && extents_of<Step>::rank == 0;

/// True for an initial rate of a schedule: a number, or a floating tensor of rank 0.
template <class Rate> inline constexpr bool is_rate = std::is_arithmetic_v<Rate>;
template <typed_operand Rate>
inline constexpr bool is_rate<Rate> = is_real_floating<value_type_of<Rate>> && extents_of<Rate>::rank == 0;

namespace detail {

template <class Rate> struct scheduled_type {
    using type = std::conditional_t<std::is_floating_point_v<Rate>, Rate, float>;
};
template <typed_operand Rate> struct scheduled_type<Rate> {
    using type = value_type_of<Rate>;
};

/// The type that a schedule is computed in.
template <class Rate> using scheduled = typename scheduled_type<Rate>::type;

/// Returns a rate as an operand: a number becomes one of the schedule's type.
template <class Rate> auto rate_operand(const Rate& rate) {
    if constexpr (typed_operand<Rate>)
        return rate;
    else
        return static_cast<scheduled<Rate>>(rate);
}

inline void check_decay_steps(double steps, const char* what) {
    if (!(steps > 0)) throw invalid_argument(std::string(what) + ": the steps of the decay must be positive");
}

/// A scope for a schedule's nodes: in the counter's graph, below the schedule's name.
template <class Step> class schedule_scope {
public:
    schedule_scope(const Step& step, const char* name) : graph_(graph_of_operand(step)), name_(name) {}

private:
    graph_scope graph_;
    name_scope name_;
};

/// Returns step / decay_steps, rounded down for a staircase.
template <class T, class Step> tensor<T> progress(const Step& step, double decay_steps, bool staircase) {
    const auto share = cast<T>(step) / static_cast<T>(decay_steps);
    return staircase ? tensor<T>(floor(share)) : tensor<T>(share);
}

} // namespace detail

struct decay_options {
    bool staircase = false; // the rate changes every decay_steps steps, instead of in each
};

/// Returns learning_rate * decay_rate ^ (step / decay_steps).
template <class Rate, class Step>
auto exponential_decay(const Rate& learning_rate, const Step& global_step, double decay_steps, double decay_rate,
                       const decay_options& options = {},
                       const std::source_location& where = std::source_location::current()) {
    static_assert(is_rate<Rate>, "exponential_decay: the learning rate is a number or a floating tensor of rank 0");
    static_assert(counts_steps<Step>, "exponential_decay: global_step must be an integer tensor of rank 0");
    using T = detail::scheduled<Rate>;
    detail::check_decay_steps(decay_steps, "exponential_decay");
    const detail::schedule_scope here(global_step, "exponential_decay");
    const auto p = detail::progress<T>(global_step, decay_steps, options.staircase);
    return tensor<T>(detail::rate_operand(learning_rate) * pow(static_cast<T>(decay_rate), p), {}, where);
}

/// Returns learning_rate * e ^ (-decay_rate * step / decay_steps).
template <class Rate, class Step>
auto natural_exp_decay(const Rate& learning_rate, const Step& global_step, double decay_steps, double decay_rate,
                       const decay_options& options = {},
                       const std::source_location& where = std::source_location::current()) {
    static_assert(is_rate<Rate>, "natural_exp_decay: the learning rate is a number or a floating tensor of rank 0");
    static_assert(counts_steps<Step>, "natural_exp_decay: global_step must be an integer tensor of rank 0");
    using T = detail::scheduled<Rate>;
    detail::check_decay_steps(decay_steps, "natural_exp_decay");
    const detail::schedule_scope here(global_step, "natural_exp_decay");
    const auto p = detail::progress<T>(global_step, decay_steps, options.staircase);
    return tensor<T>(detail::rate_operand(learning_rate) * exp(static_cast<T>(-decay_rate) * p), {}, where);
}

/// Returns learning_rate / (1 + decay_rate * step / decay_steps).
template <class Rate, class Step>
auto inverse_time_decay(const Rate& learning_rate, const Step& global_step, double decay_steps, double decay_rate,
                        const decay_options& options = {},
                        const std::source_location& where = std::source_location::current()) {
    static_assert(is_rate<Rate>, "inverse_time_decay: the learning rate is a number or a floating tensor of rank 0");
    static_assert(counts_steps<Step>, "inverse_time_decay: global_step must be an integer tensor of rank 0");
    using T = detail::scheduled<Rate>;
    detail::check_decay_steps(decay_steps, "inverse_time_decay");
    const detail::schedule_scope here(global_step, "inverse_time_decay");
    const auto p = detail::progress<T>(global_step, decay_steps, options.staircase);
    return tensor<T>(detail::rate_operand(learning_rate) / (T(1) + static_cast<T>(decay_rate) * p), {}, where);
}

struct polynomial_decay_options {
    double end_learning_rate = 0.0001;
    double power = 1;
    bool cycle = false; // at its end the rate starts again, lower, for decay_steps more steps each time
};

/// Returns (learning_rate - end) * (1 - step / decay_steps) ^ power + end, and end from decay_steps on.
template <class Rate, class Step>
auto polynomial_decay(const Rate& learning_rate, const Step& global_step, double decay_steps,
                      const polynomial_decay_options& options = {},
                      const std::source_location& where = std::source_location::current()) {
    static_assert(is_rate<Rate>, "polynomial_decay: the learning rate is a number or a floating tensor of rank 0");
    static_assert(counts_steps<Step>, "polynomial_decay: global_step must be an integer tensor of rank 0");
    using T = detail::scheduled<Rate>;
    detail::check_decay_steps(decay_steps, "polynomial_decay");
    const detail::schedule_scope here(global_step, "polynomial_decay");
    const tensor<T> share = detail::progress<T>(global_step, decay_steps, false);
    const tensor<T> left = options.cycle ? tensor<T>(T(1) - share / select(equal(share, T(0)), T(1), ceil(share)))
                                         : tensor<T>(T(1) - minimum(share, T(1)));
    const auto end = static_cast<T>(options.end_learning_rate);
    return tensor<T>((detail::rate_operand(learning_rate) - end) * pow(left, static_cast<T>(options.power)) + end, {},
                     where);
}

struct cosine_decay_options {
    double alpha = 0; // the fraction of the learning rate at the end
};

/// Returns learning_rate * ((1 - alpha) * (1 + cos(pi * step / decay_steps)) / 2 + alpha), and learning_rate * alpha from
/// decay_steps on.
template <class Rate, class Step>
auto cosine_decay(const Rate& learning_rate, const Step& global_step, double decay_steps,
                  const cosine_decay_options& options = {},
                  const std::source_location& where = std::source_location::current()) {
    static_assert(is_rate<Rate>, "cosine_decay: the learning rate is a number or a floating tensor of rank 0");
    static_assert(counts_steps<Step>, "cosine_decay: global_step must be an integer tensor of rank 0");
    using T = detail::scheduled<Rate>;
    detail::check_decay_steps(decay_steps, "cosine_decay");
    const detail::schedule_scope here(global_step, "cosine_decay");
    const auto share = minimum(cast<T>(global_step) / static_cast<T>(decay_steps), T(1));
    const auto alpha = static_cast<T>(options.alpha);
    return tensor<T>(detail::rate_operand(learning_rate) *
                         ((T(1) - alpha) / T(2) * (T(1) + cos(std::numbers::pi_v<T> * share)) + alpha),
                     {}, where);
}

struct cosine_decay_restarts_options {
    double t_mul = 2; // the factor from one period's length to the next
    double m_mul = 1; // the factor from one period's initial rate to the next
    double alpha = 0;
};

/// Returns cosine_decay over a period, again and again (SGDR, Loshchilov and Hutter 2016).
template <class Rate, class Step>
auto cosine_decay_restarts(const Rate& learning_rate, const Step& global_step, double first_decay_steps,
                           const cosine_decay_restarts_options& options = {},
                           const std::source_location& where = std::source_location::current()) {
    static_assert(is_rate<Rate>, "cosine_decay_restarts: the learning rate is a number or a floating tensor of rank 0");
    static_assert(counts_steps<Step>, "cosine_decay_restarts: global_step must be an integer tensor of rank 0");
    using T = detail::scheduled<Rate>;
    detail::check_decay_steps(first_decay_steps, "cosine_decay_restarts");
    if (!(options.t_mul >= 1) || !(options.m_mul > 0))
        throw invalid_argument("cosine_decay_restarts: t_mul must be 1 at least, and m_mul positive");
    const detail::schedule_scope here(global_step, "cosine_decay_restarts");
    const tensor<T> share = detail::progress<T>(global_step, first_decay_steps, false);
    tensor<T> period, within; // the number of complete periods, and the position in the current one
    if (options.t_mul == 1) {
        period = tensor<T>(floor(share));
        within = tensor<T>(share - period);
    } else {
        const auto t = static_cast<T>(options.t_mul);
        const auto begin = [&](const tensor<T>& n) { return (pow(t, n) - T(1)) / (t - T(1)); };
        const tensor<T> about(floor(log(T(1) + share * (t - T(1))) / log(constant(t))));
        // logarithms are rounded: at the first step of a period, the previous period may result
        period = tensor<T>(select(share >= begin(tensor<T>(about + T(1))), about + T(1),
                                  select(share < begin(about), about - T(1), about)));
        within = tensor<T>((share - begin(period)) / pow(t, period));
    }
    const auto alpha = static_cast<T>(options.alpha);
    const auto wave = pow(static_cast<T>(options.m_mul), period) * (T(1) + cos(std::numbers::pi_v<T> * within));
    return tensor<T>(detail::rate_operand(learning_rate) * ((T(1) - alpha) / T(2) * wave + alpha), {}, where);
}

/// Returns values[0] up to and including step boundaries[0], then values[1] up to and including boundaries[1], and so on. There
/// is one value more than boundaries. Boundaries must increase.
template <class Step, class Value>
auto piecewise_constant(const Step& global_step, const std::vector<std::int64_t>& boundaries,
                        const std::vector<Value>& values,
                        const std::source_location& where = std::source_location::current()) {
    static_assert(counts_steps<Step>, "piecewise_constant: global_step must be an integer tensor of rank 0");
    static_assert(std::is_arithmetic_v<Value>, "piecewise_constant: the values are numbers");
    using T = detail::scheduled<Value>;
    if (values.size() != boundaries.size() + 1)
        throw invalid_argument("piecewise_constant: " + std::to_string(boundaries.size()) + " boundaries take " +
                               std::to_string(boundaries.size() + 1) + " values, not " + std::to_string(values.size()));
    for (std::size_t i = 1; i < boundaries.size(); ++i)
        if (boundaries[i] <= boundaries[i - 1]) throw invalid_argument("piecewise_constant: the boundaries must grow");
    const detail::schedule_scope here(global_step, "piecewise_constant");
    const tensor<std::int64_t> step(cast<std::int64_t>(global_step));
    tensor<T> rate(constant(static_cast<T>(values.back())), {}, where);
    for (std::size_t i = boundaries.size(); i-- > 0;)
        rate = tensor<T>(select(step <= boundaries[i], static_cast<T>(values[i]), rate), {}, where);
    return rate;
}
template <class Step, class Value>
auto piecewise_constant(const Step& global_step, std::initializer_list<std::int64_t> boundaries,
                        std::initializer_list<Value> values,
                        const std::source_location& where = std::source_location::current()) {
    return piecewise_constant(global_step, std::vector(boundaries), std::vector(values), where);
}

}} // namespace rill::RILL_ABI
