// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <rill/ops/math/cast.hpp>

namespace rill { inline namespace RILL_ABI {

/// A number that the graph computes anew in each step, such as a learning rate that a schedule gives: a tensor of rank 0.
class hyperparameter {
public:
    hyperparameter() = default; // none

    template <graph_operand X> explicit hyperparameter(const X& x) {
        if constexpr (typed_operand<X>) {
            using T = value_type_of<X>;
            static_assert(extents_of<X>::rank == 0, "hyperparameter: a number is of rank 0");
            static_assert(is_real_floating<T> || is_integral<T>,
                          "hyperparameter: the element type is not a real number");
        }
        as_ = [value = sealed(x)](dtype type) -> endpoint {
            if (value.dtype() == type) return value.end();
            if (type == dtype::float64) return any_tensor(cast<double>(value));
            if (type == dtype::float32) return any_tensor(cast<float>(value));
            throw invalid_argument("hyperparameter: '" + value.name() + "' is not converted to " +
                                   std::string(to_string(type)));
        };
    }

    explicit operator bool() const noexcept { return bool(as_); }

    /// Returns the number in a dtype: its own, float32 or float64.
    endpoint as(dtype type) const { return as_(type); }

private:
    std::function<endpoint(dtype)> as_; // so that other programs lack the kernels of the conversions
};

}} // namespace rill::RILL_ABI
