// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/take_along.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/floordiv.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/is_finite.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/reduce_all.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of the k largest elements of the last axis: [.., n] gives [.., k].
constexpr shape_result top_k(const dims& x, index_t k) {
    if (k < 0) return {x, "k must not be negative"};
    if (!x.known_rank()) return {dims::unknown()};
    if (x.rank == 0) return {x, "a scalar has no last axis"};
    if (x[x.rank - 1] != dyn && x[x.rank - 1] < k) return {x, "the last axis has fewer elements than k"};
    dims r = x;
    r[x.rank - 1] = k;
    return {r};
}

} // namespace rules

/// Returns the k largest elements of each row [.., n] in descending order, and their indices as int32. Of equal elements, the first comes
/// first. NaN counts as the largest. Gradient: g, added at the indices.
struct top_k_op {
    static constexpr auto name = "TopKV2", label = "top_k";
    static constexpr int inputs = 1;
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    using brings = op_list<take_along_grad_op>;
    index_t k = 1;

    static void fields(auto& op, auto& visit) { visit("k", op.k); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& x = request.inputs[0].shape;
        const index_t columns = x[x.rank - 1], rows = columns == 0 ? 0 : x.size() / columns;
        request.scratch_bytes = D::top_k_scratch(columns);
        return kernel([=, few = k](const kernel_args& a) {
            D::top_k(a.on, a.in<T>(0), a.out<T>(0), a.out<std::int32_t>(1), rows, columns, few);
        });
    }
};

/// True if the last axis of X has at least K elements.
template <class X, index_t K> inline constexpr bool has_k = rules::top_k(static_dims<X>, K).ok();

/// Returns the three largest elements of each row, in descending order, and their indices: auto [values, indices] =
/// top_k<3>(x).
template <index_t K, graph_operand X>
auto top_k(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(has_k<extents_of<X>, K>, "top_k: the last axis has fewer elements than k, or k is negative");
        static_assert(domains::real::has<value_type_of<X>>, "top_k: the element type is not real");
    }
    constexpr auto rule = [](const dims& shape) { return rules::top_k(shape, K); };
    const auto values = apply_node(top_k_op{K}, rule, where, x);
    const any_tensor ids(endpoint{values.node(), 1});
    return std::tuple(values, detail::typed_result<std::int32_t, X>(rule, ids));
}
/// Returns the k largest elements for a k known only at run time.
template <graph_operand X>
std::tuple<any_tensor, any_tensor> top_k(const X& x, index_t k,
                                         const std::source_location& where = std::source_location::current()) {
    const any_tensor values = apply_node(top_k_op{k}, where, x);
    return {values, any_tensor(endpoint{values.node(), 1})};
}

namespace detail {

/// Returns true where a number of any real type is finite.
template <class P> auto finite_numbers(const P& x) {
    if constexpr (!typed_operand<P>)
        return is_finite(cast<double>(x)); // which holds the largest number of each real type
    else if constexpr (is_real_floating<value_type_of<P>>)
        return is_finite(x);
    else
        return equal(x, x);
}

} // namespace detail

/// Returns whether fewer than k predictions of a row exceed that of its target: in_top_k(predictions [n, classes], targets [n], k). False,
/// as in TensorFlow, if the target is out of range, or a prediction of the row is infinite or NaN.
template <graph_operand P, ids_argument L = std::vector<int>>
auto in_top_k(const P& predictions, const L& targets, index_t k,
              const std::source_location& where = std::source_location::current()) {
    const auto all = sealed(predictions); // read several times
    static_assert(are_ids<L>, "in_top_k: the targets must be int or std::int64_t");
    const auto ids = sealed(cast<std::int64_t>(detail::ids_beside(all, targets, where)));
    const auto rows = maximum(size<std::int64_t>(ids, where), std::int64_t(1));
    const auto exists =
        sealed(logical_and(ids >= std::int64_t(0), ids < floordiv(size<std::int64_t>(all, where), rows)));
    const auto safe = sealed(select(exists, ids, std::int64_t(0)));
    const auto of_target = take_along(all, expand_dims<-1>(safe, where), where);
    const auto few = reduce_sum<-1>(cast<int>(greater(all, of_target)), where) < static_cast<int>(k);
    return logical_and(few, logical_and(exists, reduce_all<-1>(detail::finite_numbers(all), where)));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> top_k_op::outputs(std::span<const tensor_type> in) const {
    const auto made = rules::top_k(in[0].shape, k);
    if (!made.ok()) throw invalid_argument(made.reason());
    return {{in[0].type, made.shape}, {dtype::int32, made.shape}};
}

RILL_INLINE std::vector<endpoint> top_k_op::gradient(const gradient_request& r) const {
    if (!r.gradient(0)) return {{}};
    return {r.add<top_k_op>(take_along_grad_op{}, {r.gradient(0), r.output(1), r.input(0)})};
}

}} // namespace rill::RILL_ABI
#endif
