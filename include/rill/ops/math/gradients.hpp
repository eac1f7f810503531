// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gradient_rows.hpp>
#include <rill/ops/math/add_n.hpp>

namespace rill { inline namespace RILL_ABI {

/// Options of the vector form of gradients.
struct gradient_options {
    std::vector<any_tensor> grad_ys = {}; // the gradients of the ys; ones if left out
    std::vector<any_tensor> stop = {};    // tensors treated as constants
    bool colocate = false;                // place each gradient node on the device of its forward node
};

namespace detail {

/// Returns the ops that the construction of gradients uses.
const gradient_ops& the_gradient_ops();

std::vector<endpoint> gradient_endpoints(const std::vector<endpoint>& ys, const std::vector<endpoint>& xs,
                                         const gradient_options& options, const std::source_location& where = {});

std::vector<any_tensor> gradient_tensors(const std::vector<any_tensor>& ys, const std::vector<any_tensor>& xs,
                                         const gradient_options& options, const std::source_location& where);

/// Compiles the addition of T, which sums of gradients need.
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
/// The result is zeros if y does not depend on x. The results can be differentiated again.
template <typed_operand Y, typed_operand... X>
    requires(sizeof...(X) > 0)
auto gradients(const Y& y, const X&... xs) {
    return gradients(std::tuple<const Y&>(y), xs...);
}
/// Returns the gradients of the sum of several ys.
template <class... Y, typed_operand... X>
    requires(sizeof...(X) > 0 && (typed_operand<Y> && ...))
auto gradients(const std::tuple<Y...>& ys, const X&... xs) {
    static_assert((is_differentiable(dtype_of<value_type_of<Y>>) && ...),
                  "gradients: only floating and complex tensors have gradients");
    static_assert((!detail::is_expression<X> && ...),
                  "gradients: x must be a tensor; an unsealed expression is not an edge of the graph (tensor t = …)");
    (detail::require_gradient_kernels<value_type_of<Y>>(), ...);
    (detail::require_gradient_kernels<value_type_of<X>>(), ...);
    const auto sealed_ys = std::apply([](const auto&... y) { return std::vector<endpoint>{detail::seal(y)...}; }, ys);
    const auto d = detail::gradient_endpoints(sealed_ys, {xs.end()...}, {});
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{detail::typed_gradient(xs, d[I])...};
    }(std::index_sequence_for<X...>{});
}
/// Overload for tensors whose types are known at run time. The result is an empty handle if the ys do not depend on x.
template <class... Unused> // a template, so that only programs that call it have its kernels
std::vector<any_tensor> gradients(const std::vector<any_tensor>& ys, const std::vector<any_tensor>& xs,
                                  const gradient_options& options = {},
                                  const std::source_location& where = std::source_location::current()) {
    detail::require_gradient_kernels<float>();
    detail::require_gradient_kernels<double>();
    return detail::gradient_tensors(ys, xs, options, where);
}
/// Overload for one y and a list: gradients(loss, {w, b}, {.colocate = true}).
template <graph_operand Y>
std::vector<any_tensor> gradients(const Y& y, const std::vector<any_tensor>& xs, const gradient_options& options = {},
                                  const std::source_location& where = std::source_location::current()) {
    return gradients(std::vector<any_tensor>{any_tensor(y)}, xs, options, where);
}
/// Overload for operands of which some have a type known only at run time. It calls the vector form.
template <graph_operand Y, graph_operand... X>
    requires(sizeof...(X) > 0 && (untyped_operand<Y> || ... || untyped_operand<X>))
std::vector<any_tensor> gradients(const Y& y, const X&... xs) {
    return gradients(std::tuple<const Y&>(y), xs...);
}
template <class... Y, graph_operand... X>
    requires(sizeof...(X) > 0 && (graph_operand<std::remove_cvref_t<Y>> && ...) &&
             ((untyped_operand<std::remove_cvref_t<Y>> || ...) || (untyped_operand<X> || ...)))
std::vector<any_tensor> gradients(const std::tuple<Y...>& ys, const X&... xs) {
    static_assert((!unsealed_operand<X> && ...),
                  "gradients: x must be a tensor; an unsealed expression is not an edge of the graph (tensor t = …)");
    return gradients(std::apply([](const auto&... y) { return std::vector<any_tensor>{y...}; }, ys),
                     std::vector<any_tensor>{xs...}, {}, std::source_location{}); // a variadic function has no source location
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/graph/gradients.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE const gradient_ops& the_gradient_ops() {
    static constexpr gradient_ops ops{&info_of<add_op>, [](const endpoint& y) { return filled_like(y, 1); },
                                      &sum_of_gradients};
    return ops;
}

RILL_INLINE std::vector<endpoint> gradient_endpoints(const std::vector<endpoint>& ys, const std::vector<endpoint>& xs,
                                                     const gradient_options& options,
                                                     const std::source_location& where) {
    if (ys.empty()) throw invalid_argument("gradients: no ys were given" + at_place(where));
    if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size())
        throw invalid_argument("gradients: " + std::to_string(ys.size()) + " ys and " +
                               std::to_string(options.grad_ys.size()) + " grad_ys" + at_place(where));
    std::vector<endpoint> seeds(options.grad_ys.begin(), options.grad_ys.end());
    const std::vector<endpoint> stop(options.stop.begin(), options.stop.end());
    const auto check = [&](const std::vector<endpoint>& all, bool may_be_null) {
        for (const auto& e : all) {
            if (!e && may_be_null) continue;
            if (!e) refuse_null("gradients", where);
            if (e.from->owner != ys[0].from->owner)
                throw invalid_argument("gradients: '" + name_of(e) + "' belongs to another graph than '" +
                                       name_of(ys[0]) + "'" + at_place(where));
        }
    };
    check(ys, false);
    check(xs, false);
    check(seeds, true);
    check(stop, false);
    require_fused();
    const graph_scope here(graph(*ys[0].from->owner));
    for (std::size_t k = 0; k < seeds.size(); ++k)
        if (seeds[k]) seeds[k] = shaped_like(seeds[k], ys[k]);
    auto ops = the_gradient_ops();
    ops.colocate = options.colocate;
    return add_gradients(ys, xs, seeds, stop, ops);
}

RILL_INLINE std::vector<any_tensor> gradient_tensors(const std::vector<any_tensor>& ys,
                                                     const std::vector<any_tensor>& xs, const gradient_options& options,
                                                     const std::source_location& where) {
    const auto d = gradient_endpoints({ys.begin(), ys.end()}, {xs.begin(), xs.end()}, options, where);
    return {d.begin(), d.end()};
}

}}} // namespace rill::RILL_ABI::detail
#endif
