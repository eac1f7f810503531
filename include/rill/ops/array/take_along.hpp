// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of a row-by-row gather from x [.., n] by ids [.., k]: [.., k].
constexpr shape_result take_along(const dims& x, const dims& ids) {
    if (!x.known_rank() || !ids.known_rank()) return {ids};
    if (x.rank == 0) return {ids, "a scalar has no last axis"};
    if (x.rank != ids.rank) return {ids, "the ids must have as many dimensions as the tensor"};
    dims r = ids;
    for (int i = 0; i < x.rank - 1; ++i) {
        if (!extents_compatible(x[i], ids[i])) return {ids, "the ids must have the tensor's extents but for the last"};
        if (r[i] == dyn) r[i] = x[i];
    }
    return {r};
}

} // namespace rules

struct take_along_grad_op;

/// Gathers elements from each row of x [.., n] by the ids [.., k] of that row. Gradient: g, added at the ids.
struct take_along_op {
    static constexpr auto name = "TakeAlongAxis", label = "take_along";
    static constexpr int inputs = 2;
    using domain_type = domains::comparable;
    using compiled_types = types::common;
    using brings = op_list<take_along_grad_op>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.inputs[0].shape, &y = request.outputs[0].shape;
        const index_t columns = x[x.rank - 1], k = y[y.rank - 1], rows = k == 0 ? 0 : y.size() / k;
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[1].shape, columns, "id");
            return kernel([=](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(1));
                for (index_t r = 0; r < rows; ++r)
                    D::gather(a.on, a.in<T>(0) + r * columns, a.in<I>(1) + r * k, a.out<T>(0) + r * k, 1, columns, 1,
                              k);
            });
        });
    }
};

/// Computes the gradient of TakeAlongAxis. It adds numbers to each row of a zero tensor, at the ids of that row. Inputs: the numbers [..,
/// k], the ids [.., k], and a tensor [.., n], of which only the shape is read. Gradient: g, gathered along the ids.
struct take_along_grad_op {
    static constexpr auto name = "TakeAlongAxisGrad", label = "take_along_grad";
    static constexpr int inputs = 3;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<take_along_op>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {2}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.outputs[0].shape, &g = request.inputs[0].shape;
        const index_t columns = x[x.rank - 1], k = g[g.rank - 1], rows = k == 0 ? 0 : g.size() / k;
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[1].shape, columns, "id");
            return kernel([=, size = x.size()](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(1));
                D::fill(a.on, size, a.out<T>(0), T(0));
                for (index_t r = 0; r < rows; ++r)
                    D::scatter_add(a.on, a.in<T>(0) + r * k, a.in<I>(1) + r * k, a.out<T>(0) + r * columns, 1, columns,
                                   1, k);
            });
        });
    }
};

/// True if ids of type Ids can select from the rows of X.
template <class X, class Ids> inline constexpr bool takes_along = rules::take_along(static_dims<X>, static_dims<Ids>).ok();

/// Gathers within each row: take_along(x, ids) of x [.., n] and ids [.., k] is x(.., ids(.., j)). Ids are int or std::int64_t. An id
/// outside [0, n) is an invalid_argument.
template <graph_operand X, ids_argument Ids = braced_rows>
auto take_along(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<Ids>, "take_along: the ids must be int or std::int64_t");
    const auto& at = detail::ids_operand(ids, where);
    using I = std::remove_cvref_t<decltype(at)>;
    if constexpr (typed_operand<X> && typed_operand<I>)
        static_assert(takes_along<extents_of<X>, extents_of<I>>,
                      "take_along: the ids must have the tensor's extents but for the last");
    constexpr auto rule = [](const dims& rows, const dims& chosen) { return rules::take_along(rows, chosen); };
    return apply_node(take_along_op{}, rule, where, x, at);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> take_along_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    const auto made = rules::take_along(in[0].shape, in[1].shape);
    if (!made.ok()) throw invalid_argument(made.reason());
    return {{in[0].type, made.shape}};
}

RILL_INLINE std::vector<endpoint> take_along_op::gradient(const gradient_request& r) const {
    return {r.add<take_along_op>(take_along_grad_op{}, {r.gradient(), r.input(1), r.input(0)}), {}};
}

RILL_INLINE std::vector<tensor_type> take_along_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    if (in[0].type != in[2].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[2]));
    const auto made = rules::take_along(in[2].shape, in[1].shape);
    if (!made.ok()) throw invalid_argument(made.reason());
    if (!rules::compatible(in[0].shape, made.shape))
        throw invalid_argument("numbers of the shape " + to_string(made.shape) + " are expected, not " +
                               to_string(in[0].shape));
    return {{in[0].type, in[2].shape}};
}

RILL_INLINE std::vector<endpoint> take_along_grad_op::gradient(const gradient_request& r) const {
    return {r.add<take_along_grad_op>(take_along_op{}, {r.gradient(), r.input(1)}), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
