// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_gamma_options {
    double alpha = 1, beta = 1; // shape and rate: the mean is alpha / beta, the variance alpha / beta^2
    std::uint64_t seed = 0;     // 0: derived from the graph's seed and the node's name
};

/// Numbers of a gamma distribution, drawn anew in each run. Philox computes them from the seed, the number of the run in its session and
/// the element's index.
struct random_gamma_op : detail::random_numbers {
    static constexpr auto name = "RandomGamma";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    double alpha = 1, beta = 1;

    static void fields(auto& op, auto& visit) {
        shape_fields(op, visit);
        visit("alpha", op.alpha);
        visit("beta", op.beta);
        visit("seed", op.seed);
    }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(request, [n = request.outputs[0].shape.size(), alpha = alpha,
                                                  beta = beta](const execution_context& on, T* values) {
            D::random_gamma(on, n, on.random, alpha, beta, values);
        });
    }
};

/// Returns the op for a type and shape known at run time.
inline random_gamma_op make_random_gamma(dtype type, const dims& shape, const random_gamma_options& o = {}) {
    return {{type, shape, o.seed}, o.alpha, o.beta};
}

/// Returns gamma-distributed numbers: random_gamma<float, 3, 4>({.alpha = 2, .beta = 0.5, .seed = 7}).
template <element T, index_t... D>
auto random_gamma(const random_gamma_options& options = {},
                  const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T>, "random_gamma: the element type is not floating");
    static_assert(random_extents_known<D...>,
                  "random_gamma: every extent must be known; random_gamma<T>(dims{...}) takes them at run time");
    return detail::random_tensor<T, D...>(make_random_gamma(dtype_of<T>, dims{(D == dyn ? 0 : D)...}, options), where);
}
/// Overload for a type and shape known only at run time.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor random_gamma(dtype type, const dims& shape, const random_gamma_options& options = {},
                        const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_gamma(type, shape, options), where);
}
/// Overload for a shape known only at run time: random_gamma<float>(dims{n, 4}), random_gamma<float>(shape(x)).
template <element T, shape_argument S>
auto random_gamma(const S& shape, const random_gamma_options& options = {},
                  const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T>, "random_gamma: the element type is not floating");
    return detail::random_tensor_of<T>(make_random_gamma(dtype_of<T>, {}, options), shape, where);
}
template <graph_operand S>
any_tensor random_gamma(dtype type, const S& shape, const random_gamma_options& options = {},
                        const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_gamma(type, {}, options), where, shape);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> random_gamma_op::outputs(const known_inputs& in) const {
    if (!is_differentiable(type) || type == dtype::complex64 || type == dtype::complex128)
        throw invalid_argument("gamma numbers of type " + std::string(to_string(type)));
    if (!(std::isfinite(alpha) && std::isfinite(beta) && alpha > 0 && beta > 0))
        throw invalid_argument("alpha and beta must be finite and greater than 0");
    return numbers_type(in);
}

}} // namespace rill::RILL_ABI
#endif
