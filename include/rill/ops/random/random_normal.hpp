// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_normal_options {
    double mean = 0, stddev = 1;
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// Normal numbers of a mean and a standard deviation, drawn anew in each run. Philox computes them from the seed, the number of the run in
/// its session and the element's index.
struct random_normal_op : detail::normal_numbers {
    static constexpr auto name = "RandomNormal";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(request, [n = request.outputs[0].shape.size(), mean = mean,
                                                  stddev = stddev](const execution_context& on, T* values) {
            D::random_normal(on, n, on.random, mean, stddev, values);
        });
    }
};

/// Returns the op for a type and shape known at run time. Initializers use it.
inline random_normal_op make_random_normal(dtype type, const dims& shape, const random_normal_options& o = {}) {
    return {{{type, shape, o.seed}, o.mean, o.stddev}};
}

/// Returns normal numbers: random_normal<float, 3, 4>({.stddev = 2, .seed = 7}). (Without template arguments: the initializer of
/// variables.)
template <element T, index_t... D>
auto random_normal(const random_normal_options& options = {},
                   const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T>, "random_normal: the element type is not floating");
    static_assert(random_extents_known<D...>,
                  "random_normal: every extent must be known; random_normal<T>(dims{...}) takes them at run time");
    return detail::random_tensor<T, D...>(make_random_normal(dtype_of<T>, dims{(D == dyn ? 0 : D)...}, options), where);
}
/// Overload for a type and shape known only at run time.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor random_normal(dtype type, const dims& shape, const random_normal_options& options = {},
                         const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_normal(type, shape, options), where);
}
/// Overload for a shape known only at run time: random_normal<float>(dims{n, 4}), random_normal<float>(shape(x)).
template <element T, shape_argument S>
auto random_normal(const S& shape, const random_normal_options& options = {},
                   const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T>, "random_normal: the element type is not floating");
    return detail::random_tensor_of<T>(make_random_normal(dtype_of<T>, {}, options), shape, where);
}
template <graph_operand S>
any_tensor random_normal(dtype type, const S& shape, const random_normal_options& options = {},
                         const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_random_normal(type, {}, options), where, shape);
}

}} // namespace rill::RILL_ABI
