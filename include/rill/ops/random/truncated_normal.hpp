// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct truncated_normal_options {
    double mean = 0, stddev = 1;
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// Normal numbers of a mean and a standard deviation. Numbers further than two standard deviations from the mean are drawn again. Otherwise
/// it equals random_normal.
struct truncated_normal_op : detail::normal_numbers {
    static constexpr auto name = "TruncatedNormal";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(request, [n = request.outputs[0].shape.size(), mean = mean,
                                                  stddev = stddev](const execution_context& on, T* values) {
            D::truncated_normal(on, n, on.random, mean, stddev, values);
        });
    }
};

/// Returns the op for a type and shape known at run time. Initializers use it.
inline truncated_normal_op make_truncated_normal(dtype type, const dims& shape,
                                                 const truncated_normal_options& o = {}) {
    return {{{type, shape, o.seed}, o.mean, o.stddev}};
}

/// Returns truncated normal numbers: truncated_normal<float, 3, 4>({.stddev = 0.1}). (Without template arguments: the initializer of
/// variables.)
template <element T, index_t... D>
auto truncated_normal(const truncated_normal_options& options = {},
                      const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T>, "truncated_normal: the element type is not floating");
    static_assert(
        random_extents_known<D...>,
        "truncated_normal: every extent must be known; truncated_normal<T>(dims{...}) takes them at run time");
    return detail::random_tensor<T, D...>(make_truncated_normal(dtype_of<T>, dims{(D == dyn ? 0 : D)...}, options),
                                          where);
}
/// Overload for a type and shape known only at run time.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor truncated_normal(dtype type, const dims& shape, const truncated_normal_options& options = {},
                            const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_truncated_normal(type, shape, options), where);
}
/// Overload for a shape known only at run time: truncated_normal<float>(dims{n, 4}), truncated_normal<float>(shape(x)).
template <element T, shape_argument S>
auto truncated_normal(const S& shape, const truncated_normal_options& options = {},
                      const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T>, "truncated_normal: the element type is not floating");
    return detail::random_tensor_of<T>(make_truncated_normal(dtype_of<T>, {}, options), shape, where);
}
template <graph_operand S>
any_tensor truncated_normal(dtype type, const S& shape, const truncated_normal_options& options = {},
                            const std::source_location& where = std::source_location::current()) {
    return detail::random_any_tensor(make_truncated_normal(type, {}, options), where, shape);
}

}} // namespace rill::RILL_ABI
