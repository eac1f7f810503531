// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_poisson_options {
    double rate = 1;        // the mean and the variance
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// Numbers of a Poisson distribution, drawn anew in each run. Philox computes them from the seed, the number of the run in its session and
/// the element's index.
struct random_poisson_op : detail::random_numbers {
    static constexpr auto name = "RandomPoissonV2", label = "random_poisson";
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    double rate = 1;

    static void fields(auto& op, auto& visit) {
        shape_fields(op, visit);
        visit("rate", op.rate);
        visit("seed", op.seed);
    }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(
            request, [n = request.outputs[0].shape.size(), rate = rate](const execution_context& on, T* values) {
                D::random_poisson(on, n, on.random, rate, values);
            });
    }
};

/// Returns the op for a type and shape known at run time.
inline random_poisson_op make_random_poisson(dtype type, const dims& shape, const random_poisson_options& o = {}) {
    return {{type, shape, o.seed}, o.rate};
}

/// Returns Poisson-distributed numbers: random_poisson<int, 3, 4>({.rate = 2.5, .seed = 7}).
template <element T, index_t... D>
auto random_poisson(const random_poisson_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    static_assert(op_takes<random_poisson_op, T>, "random_poisson: the element type is not a real number");
    static_assert(random_extents_known<D...>,
                  "random_poisson: every extent must be known; random_poisson<T>(dims{...}) takes them at run time");
    return detail::random_tensor<T, D...>(make_random_poisson(dtype_of<T>, dims{(D == dyn ? 0 : D)...}, options),
                                          where);
}
/// Overload for a type and shape known only at run time.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor random_poisson(dtype type, const dims& shape, const random_poisson_options& options = {},
                          const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_poisson(type, shape, options), where);
}
/// Overload for a shape known only at run time: random_poisson<float>(dims{n, 4}), random_poisson<float>(shape(x)).
template <element T, shape_argument S>
auto random_poisson(const S& shape, const random_poisson_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    static_assert(op_takes<random_poisson_op, T>, "random_poisson: the element type is not a real number");
    return detail::random_tensor_of<T>(make_random_poisson(dtype_of<T>, {}, options), shape, where);
}
template <graph_operand S>
any_tensor random_poisson(dtype type, const S& shape, const random_poisson_options& options = {},
                          const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_poisson(type, {}, options), where, shape);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> random_poisson_op::outputs(const known_inputs& in) const {
    if (!(detail::dtypes_of<random_poisson_op>() >> static_cast<int>(type) & 1u))
        throw invalid_argument("counts of type " + std::string(to_string(type)));
    if (!(std::isfinite(rate) && rate >= 0)) throw invalid_argument("the rate must be finite, and not negative");
    return numbers_type(in);
}

}} // namespace rill::RILL_ABI
#endif
