// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/reduce.hpp>
#include <rill/ops/math/select.hpp>

namespace rill::inline RILL_ABI {

template <class T> inline constexpr bool is_real = is_numeric<T> && !is_complex<T>;

namespace detail {

/// Gradient of a maximum or minimum: two passes over the argument, which is evaluated again in each. The first counts the
/// elements equal to the result, the second hands each of them its share; the argument's own adjoint follows.
std::vector<endpoint> extremum_gradient(const fused_spec& spec, const gradient_request& r);

template <class Op, class X> void require_extremum() {
    const auto one = []<class T>(std::type_identity<T>) {
        require_kernel<Op, T>();
        require_primitive<equal_op, T, T>();
        require_combiner<combine::sum, T>();
        require_primitive<select_op, bool, T, T>();
        require_primitive<div_op, T, T>();
    };
    if constexpr (typed_operand<X>) {
        one(std::type_identity<value_type_of<X>>{});
    } else {
        one(std::type_identity<float>{});
        one(std::type_identity<double>{});
    }
}

} // namespace detail

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/math/reduce_extremum.ipp>
#endif
