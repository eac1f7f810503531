// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <rill/ops/math/add.hpp>

namespace rill::inline RILL_ABI {

/// What the vector form of gradients may be told.
struct gradient_options {
    std::vector<any_tensor> grad_ys = {}; // the gradients of the ys; ones where left out
    std::vector<any_tensor> stop = {};    // taken as constants
};

namespace detail {

std::vector<endpoint> gradient_endpoints(const std::vector<endpoint>& ys, const std::vector<endpoint>& xs,
                                         const gradient_options& options);

std::vector<std::optional<any_tensor>>
gradient_tensors(const std::vector<any_tensor>& ys, const std::vector<any_tensor>& xs, const gradient_options& options);

/// Sums of gradients need the addition of their dtype.
template <class T> void require_gradient_kernels() {
    if constexpr (is_differentiable(dtype_of<T>)) {
        require_primitive<add_op, T, T>();
        require_combiner<combine::sum, T>();
    }
}

template <class X> auto typed_gradient(const X& x, const endpoint& d) {
    const endpoint e = d ? d : filled_like(x.end(), 0);
    return tensor_of<value_type_of<X>, extents_of<X>>(unchecked, any_tensor(e));
}

} // namespace detail

/// Adds nodes that compute d(sum of y)/dx for each x and returns their tensors: auto [dw, db] = gradients(loss, w, b).
/// Zeros where x does not reach y. The results can be differentiated again.
template <typed_operand Y, typed_operand... X>
    requires(sizeof...(X) > 0)
auto gradients(const Y& y, const X&... xs) {
    return gradients(std::tuple<const Y&>(y), xs...);
}
/// Several ys: the gradients of their sum.
template <class... Y, typed_operand... X>
    requires(sizeof...(X) > 0)
auto gradients(const std::tuple<Y...>& ys, const X&... xs) {
    static_assert((is_differentiable(dtype_of<value_type_of<Y>>) && ...),
                  "gradients: only floating and complex tensors have gradients");
    static_assert((!detail::is_expression<X> && ...),
                  "gradients: x must be a tensor; an unsealed expression is no edge of the graph (tensor t = …)");
    (detail::require_gradient_kernels<value_type_of<Y>>(), ...);
    (detail::require_gradient_kernels<value_type_of<X>>(), ...);
    const auto sealed_ys = std::apply([](const auto&... y) { return std::vector<endpoint>{detail::seal(y)...}; }, ys);
    const auto d = detail::gradient_endpoints(sealed_ys, {xs.end()...}, {});
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{detail::typed_gradient(xs, d[I])...};
    }(std::index_sequence_for<X...>{});
}
/// Of tensors whose types are known at run time: nothing where x does not reach y.
template <class... Unused> // a template, so that only programs that call it have its kernels
std::vector<std::optional<any_tensor>> gradients(const std::vector<any_tensor>& ys, const std::vector<any_tensor>& xs,
                                                 const gradient_options& options = {}) {
    detail::require_gradient_kernels<float>();
    detail::require_gradient_kernels<double>();
    return detail::gradient_tensors(ys, xs, options);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/math/gradients.ipp>
#endif
