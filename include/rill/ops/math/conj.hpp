// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// The complex conjugate. Shape: that of x. Gradient: conj(g). For real x no node is added.
struct conj_op {
    static constexpr auto name = "Conj";
    static constexpr int cost = 1;
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static constexpr T scalar(const T& x) {
        if constexpr (is_complex<T>)
            return T(x.real(), -x.imag());
        else
            return x;
    }
    template <class V> RILL_FN static auto pullback(const V& g) { return conj(g); }
};

template <elementwise_operand X> RILL_FRONT auto conj(const X& x) {
    if constexpr (untyped_operand<X>) {
        return apply<conj_op>(x);
    } else {
        if constexpr (is_complex<typename X::value_type>)
            return apply<conj_op>(x);
        else
            return x;
    }
}

namespace detail {

constexpr bool is_complex_type(dtype type) { return type == dtype::complex64 || type == dtype::complex128; }

/// Returns the conjugate of complex x, or a real x itself. Gradients of node ops use it.
endpoint conjugate_of(const endpoint& x);

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE endpoint conjugate_of(const endpoint& x) {
    return is_complex_type(type_of(x).type) ? apply_to_edges<conj_op>(x) : x;
}

}}} // namespace rill::RILL_ABI::detail
#endif
