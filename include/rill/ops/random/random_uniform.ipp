// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_uniform.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> random_uniform_op::outputs(std::span<const tensor_type>) const {
    check();
    return detail::random_outputs(type, to);
}

RILL_INLINE void random_uniform_op::check() const {
    if (!std::isfinite(minval) || !std::isfinite(maxval) || !std::isfinite(maxval - minval))
        throw invalid_argument("minval and maxval must be finite");
    bool fits = false;
    detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        using limits = std::numeric_limits<T>;
        if constexpr (is_real_floating<T>) {
            fits = minval <= maxval;
        } else if constexpr (is_integral<T>) {
            if (minval != std::floor(minval) || maxval != std::floor(maxval))
                throw invalid_argument("minval and maxval of integers must be whole numbers");
            fits = minval < maxval && minval >= static_cast<double>(limits::min()) &&
                   maxval <= static_cast<double>(limits::max()) + 1;
        } else {
            throw invalid_argument("random numbers of type " + std::string(to_string(type)));
        }
    });
    if (!fits)
        throw invalid_argument("no " + std::string(to_string(type)) + " lies between minval " + std::to_string(minval) +
                               " and maxval " + std::to_string(maxval));
}

RILL_INLINE random_uniform_op make_random_uniform(dtype type, const dims& shape, const random_uniform_options& o) {
    return {type, shape, o.minval, o.maxval, o.seed};
}

} // namespace rill::inline RILL_ABI
