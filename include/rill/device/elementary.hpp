// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/core/platform.hpp>
#include <rill/device/elementwise_op.hpp>

// The elementary functions of primitives, as structs in the form of an op: for scalars and for SIMD registers.
// The ops of the same names are built on them.

namespace rill { inline namespace RILL_ABI { namespace elementary {

struct exp_function {
    template <class T> RILL_FN static T scalar(const T& x) { return std::exp(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(exp(x)) { return exp(x); }
};
struct log_function {
    template <class T> RILL_FN static T scalar(const T& x) { return std::log(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(log(x)) { return log(x); }
};
struct sqrt_function {
    template <class T> RILL_FN static T scalar(const T& x) { return std::sqrt(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(sqrt(x)) { return sqrt(x); }
};
struct sin_function {
    template <class T> RILL_FN static T scalar(const T& x) { return std::sin(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(sin(x)) { return sin(x); }
};
struct cos_function {
    template <class T> RILL_FN static T scalar(const T& x) { return std::cos(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(cos(x)) { return cos(x); }
};
struct log_gamma_function {
    template <class T> RILL_FN static T scalar(const T& x) {
#if defined(__CUDA_ARCH__)
        return std::lgamma(x);
#else
        return detail::log_gamma(x);
#endif
    }
};

}}} // namespace rill::RILL_ABI::elementary
