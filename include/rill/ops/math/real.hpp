// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>
#include <rill/ops/math/complex_part.hpp>
#include <rill/ops/math/conj.hpp>

namespace rill { inline namespace RILL_ABI {

/// The real parts of complex numbers. Shape: that of x. Gradient: complex(g, 0).
struct real_op : detail::complex_part<0> {
    static constexpr auto name = "Real";

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Returns the real parts: real(z).
template <graph_operand X> auto real(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<real_op, value_type_of<X>>, "real: the element type is not complex");
    return detail::part_of<real_op>(x, where);
}

namespace detail {

/// Returns the real parts of complex x, or a real x itself.
template <class X> auto real_parts_of(const X& x, const std::source_location& where) {
    if constexpr (!typed_operand<X>)
        return is_complex_type(x.dtype()) ? rill::real(x, where) : any_tensor(x);
    else if constexpr (op_takes<real_op, value_type_of<X>>)
        return rill::real(x, where);
    else
        return x;
}

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/ops/math/complex.hpp> // its gradient, as this is part of the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> real_op::gradient(const gradient_request& r) const {
    const endpoint g = r.gradient(), zero = detail::filled_like(g, 0);
    return {r.add<real_op>(complex_op{}, {g, zero})};
}

}} // namespace rill::RILL_ABI
#endif
