// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_uniform_options {
    double minval = 0, maxval = 1;
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// Numbers distributed evenly over [minval, maxval), drawn anew in each run. Philox computes them from the seed, the number of the run in
/// its session and the element's index. They are the same on every device. The bounds of integers must be whole.
struct random_uniform_op : detail::random_numbers {
    static constexpr auto name = "RandomUniform";
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    double minval = 0, maxval = 1;

    static void fields(auto& op, auto& visit) {
        shape_fields(op, visit);
        visit("minval", op.minval);
        visit("maxval", op.maxval);
        visit("seed", op.seed);
    }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(request, [n = request.outputs[0].shape.size(), minval = minval,
                                                  maxval = maxval](const execution_context& on, T* values) {
            D::random_uniform(on, n, on.random, minval, maxval, values);
        });
    }

private:
    void check() const;
};

/// Returns the op for a type and shape known at run time. Initializers use it.
random_uniform_op make_random_uniform(dtype type, const dims& shape, const random_uniform_options& o = {});

/// Returns uniform numbers: random_uniform<float, 3, 4>({.minval = -1, .maxval = 1, .seed = 7}). (Without template arguments: the
/// initializer of variables.)
template <element T, index_t... D>
auto random_uniform(const random_uniform_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T> || is_integral<T>, "random_uniform: the element type is not a real number");
    static_assert(random_extents_known<D...>,
                  "random_uniform: every extent must be known; random_uniform<T>(dims{...}) takes them at run time");
    return detail::random_tensor<T, D...>(make_random_uniform(dtype_of<T>, dims{(D == dyn ? 0 : D)...}, options),
                                          where);
}
/// Overload for a type and shape known only at run time.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor random_uniform(dtype type, const dims& shape, const random_uniform_options& options = {},
                          const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_uniform(type, shape, options), where);
}
/// Overload for a shape known only at run time: random_uniform<float>(dims{n, 4}), random_uniform<float>(shape(x)).
template <element T, shape_argument S>
auto random_uniform(const S& shape, const random_uniform_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T> || is_integral<T>, "random_uniform: the element type is not a real number");
    return detail::random_tensor_of<T>(make_random_uniform(dtype_of<T>, {}, options), shape, where);
}
template <graph_operand S>
any_tensor random_uniform(dtype type, const S& shape, const random_uniform_options& options = {},
                          const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_uniform(type, {}, options), where, shape);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> random_uniform_op::outputs(const known_inputs& in) const {
    check();
    return numbers_type(in);
}

RILL_INLINE void random_uniform_op::check() const {
    if (!std::isfinite(minval) || !std::isfinite(maxval) || !std::isfinite(maxval - minval))
        throw invalid_argument("minval and maxval must be finite");
    bool fits = false;
    detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        using limits = std::numeric_limits<T>;
        if constexpr (is_real_floating<T>) {
            const auto finite = [](double bound) { // in the op's type: float can't hold 1e39
                return std::isfinite(static_cast<compute_type<T>>(static_cast<T>(static_cast<compute_type<T>>(bound))));
            };
            if (!finite(minval) || !finite(maxval))
                throw invalid_argument("minval and maxval must be finite as " + std::string(to_string(type)));
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
    return {{type, shape, o.seed}, o.minval, o.maxval};
}

}} // namespace rill::RILL_ABI
#endif
