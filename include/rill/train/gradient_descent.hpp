// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <rill/ops/state/apply_gradient_descent.hpp>
#include <rill/train/optimizer.hpp>

namespace rill::inline RILL_ABI {

struct gradient_descent_options {
    double learning_rate = 0.01;
};

/// variable -= learning_rate * gradient.
class gradient_descent : public optimizer<gradient_descent> {
public:
    static constexpr auto scope_name = "gradient_descent";

    gradient_descent() = default;
    explicit gradient_descent(std::floating_point auto learning_rate) : options_{static_cast<double>(learning_rate)} {}
    // a template, so that gradient_descent({}) is not ambiguous: the defaults
    template <std::same_as<gradient_descent_options> Options = gradient_descent_options>
    explicit gradient_descent(const Options& options) : options_(options) {}

    template <class T> std::vector<operation> update(const std::vector<gradient_and_variable>& pairs) const {
        require_kernel<apply_gradient_descent_op, T>();
        const endpoint rate = detail::scalar_constant<T>(options_.learning_rate);
        std::vector<operation> out;
        for (const auto& [gradient, variable] : pairs)
            out.emplace_back(detail::add_node(current_graph(), make_op(apply_gradient_descent_op{}),
                                              {variable, rate, gradient}, "update_" + variable.node()->name));
        return out;
    }

private:
    gradient_descent_options options_;
};

} // namespace rill::inline RILL_ABI
