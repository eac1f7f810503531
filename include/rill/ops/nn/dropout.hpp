// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/core/shared.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/random/random_uniform_like.hpp>

namespace rill { inline namespace RILL_ABI {

struct dropout_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// Returns a dropout rate after a check that it lies in [0, 1). The rate is an input. Gradient: g.
struct dropout_rate_op {
    static constexpr auto name = "DropoutRate", label = "dropout";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;

    constexpr shape_result shape(const dims& rate) const {
        return {dims{}, rate.known_rank() && rate.rank != 0 ? "the rate must be one number" : nullptr};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const { return {r.gradient()}; }

    template <class D, class T> kernel bind(kernel_request& request) const;
};

namespace detail {

/// A check that accepts rates in [0, 1).
struct rate_inside {
    template <class T> RILL_FN bool operator()(const T& rate) const {
        const auto r = static_cast<double>(rate);
        return r >= 0 && r < 1;
    }
};

/// Returns the error site of "the rate is 1.5, and must lie in [0, 1)".
error_site_ptr rate_site();

/// Throws invalid_argument unless a host value is a valid rate. `where` is the place of the call.
void check_rate(double rate, const std::source_location& where);

template <class R> auto checked_rate(const R& rate, const std::source_location& where) {
    if constexpr (std::is_arithmetic_v<R>) {
        const auto number = static_cast<double>(rate);
        check_rate(number, where);
        return number;
    } else {
        return apply_node(dropout_rate_op{}, [](const dims&) { return shape_result{}; }, where, rate);
    }
}

} // namespace detail

template <class D, class T> kernel dropout_rate_op::bind(kernel_request&) const {
    return kernel([where = detail::rate_site()](const kernel_args& a) {
        D::check(a.on, a.in<T>(0), 1, detail::rate_inside{}, *where);
        D::copy(a.on, dtype_of<T>, a.in<T>(0), a.out<T>(0), 1);
    });
}

/// True if the dropout rate is a single number.
template <class R> inline constexpr bool is_one_number = std::is_arithmetic_v<R> || extents_of<R>::rank == 0;

/// Sets each element to 0 with a probability of `rate`, else to x / (1 - rate): dropout(x, 0.5, {.seed = 7}). The mean stays
/// the same. TensorFlow 1.x takes keep_prob, which is 1 - rate. The rate is a number in [0, 1), or a scalar tensor, which can
/// be fed. A rate of 0 returns x. Each run draws new random numbers. Shape: that of x. Gradient: g / (1 - rate) or 0, by the
/// same random numbers.
template <graph_operand X, class R>
    requires(graph_operand<R> || std::is_arithmetic_v<R>)
auto dropout(const X& x, const R& rate, const dropout_options& options = {},
             const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(is_real_floating<value_type_of<X>>, "dropout: the element type is not floating");
        if constexpr (typed_operand<R>)
            static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<R>>,
                          "dropout: the dtypes of tensor and rate differ; convert with cast<T>()");
    }
    if constexpr (typed_operand<R>) static_assert(is_one_number<R>, "dropout: the rate must be one number");
    const auto drop = detail::checked_rate(rate, where);
    const auto value = sealed(x); // read by two nodes
    const auto noise = random_uniform_like(value, {options.seed}, where);
    return select(noise >= drop, value / (1 - drop), 0);
}

/// True if B can tell whether a step trains: a bool, or a bool tensor of rank 0, which can be fed.
template <class B> inline constexpr bool is_training_flag = std::is_same_v<B, bool>;
template <typed_operand B>
inline constexpr bool is_training_flag<B> = std::is_same_v<value_type_of<B>, bool> && extents_of<B>::rank == 0;

/// Applies dropout only in training: dropout(x, 0.5, training). `training` is a bool or a bool tensor of rank 0. If it
/// is false, the result is x.
template <typed_operand X, class R, class Training>
    requires((graph_operand<R> || std::is_arithmetic_v<R>) && is_training_flag<Training>)
auto dropout(const X& x, const R& rate, const Training& training, const dropout_options& options = {},
             const std::source_location& where = std::source_location::current()) {
    const tensor all = x; // read twice
    if constexpr (std::is_same_v<Training, bool>)
        return training ? tensor(dropout(all, rate, options, where)) : tensor(all);
    else
        return tensor(select(training, dropout(all, rate, options, where), all));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

inline std::string refused_rate(double rate) {
    return "the rate is " + std::to_string(rate) + ", and must lie in [0, 1)";
}

class outside_rate_site final : public error_site {
public:
    RILL_COLD error describe(const refused_element& found) const override {
        return invalid_argument(refused_rate(found.real()));
    }
};

RILL_COLD error_site_ptr rate_site() { return detail::make_shared<const outside_rate_site>(); }

RILL_INLINE void check_rate(double rate, const std::source_location& where) {
    if (!rate_inside()(rate)) throw invalid_argument("dropout: " + refused_rate(rate) + at_place(where));
}

}}} // namespace rill::RILL_ABI::detail
#endif
