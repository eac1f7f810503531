// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/dynamic_partition.hpp>
#include <rill/ops/array/index_count.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/shape_input.hpp>
#include <rill/ops/state/scatter_update.hpp>

namespace rill { inline namespace RILL_ABI {

/// Assembles a tensor from slices. Slice x[k, ..] becomes row ids[k]; of equal ids the last slice is kept. Rows without a slice are zeros.
/// Inputs: the ids, the slices, the number of rows. Gradient for the slices: g, gathered.
struct dynamic_stitch_op {
    static constexpr auto name = "DynamicStitch";
    static constexpr int inputs = 3;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<gather_op>;

    static input_list shape_inputs() { return {2}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type>) const { return in[1].type; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.outputs[0].shape, 0);
        return detail::with_index_type(request.inputs[0].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[0].shape, view.extent, "id");
            return kernel([=, size = view.extent * view.inner](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(0));
                D::fill(a.on, size, a.out<T>(0), T());
                D::template update_rows<detail::scatter_update_step>(a.on, a.in<I>(0), ids.count, view.inner,
                                                                     std::array{a.out<T>(0)}, std::array{a.in<T>(1)},
                                                                     no_constants<T>{}, equal_ids::in_turn);
            });
        });
    }
};

/// Interleaves slices by ids, the inverse of dynamic_partition: dynamic_stitch({a_ids, b_ids}, {a, b}). Row ids(k) of the result is slice k
/// of the matching tensor. The result has (largest id + 1) rows. The shape of each ids tensor is that of the first axes of its slices.
template <tensor_list Ids = std::vector<any_tensor>, tensor_list X = std::vector<any_tensor>>
auto dynamic_stitch(const Ids& ids, const X& slices,
                    const std::source_location& where = std::source_location::current()) {
    using I = typename Ids::value_type;
    using E = typename X::value_type;
    static_assert(are_ids<I>, "dynamic_stitch: the ids must be int or std::int64_t");
    if (ids.size() != slices.size() || ids.size() == 0)
        throw invalid_argument("dynamic_stitch: as many tensors of ids as of slices are expected, and one at least" +
                               detail::at_place(where));
    std::vector<any_tensor> flat_ids, flat;
    auto id = ids.begin();
    for (const auto& x : slices) {
        const int axes = detail::rank_of(*id);
        const dims& shape = detail::operand_type(x).shape;
        if (axes < 0 || !shape.known_rank() || axes > shape.rank)
            throw invalid_argument(
                "dynamic_stitch: ranks that are known, of ids no more than of their slices, are expected" +
                detail::at_place(where));
        flat_ids.push_back(axes == 1 ? any_tensor(*id) : reshape(*id, dims{dyn}, where));
        flat.push_back(detail::slices_along(x, axes, where));
        ++id;
    }
    detail::require_kernel_for<concat_op, I>();
    detail::require_kernel_for<concat_op, E>();
    const auto joined = [&](const std::vector<any_tensor>& all) {
        if (all.size() == 1) return all[0];
        endpoint_list edges;
        for (const auto& t : all) edges.push_back(t.end());
        return any_tensor(detail::add_over(all[0].graph(), make_op(concat_op{0}), 0, edges, where));
    };
    const any_tensor all_ids = joined(flat_ids), all = joined(flat);
    detail::require_kernel_for<index_count_op, I>();
    detail::require_kernel_for<dynamic_stitch_op, E>();
    detail::enable_dynamic_shapes();
    const graph g = all.graph();
    const endpoint count = detail::add_over(g, make_op(index_count_op{}), 0, std::array{all_ids.end()}, where);
    const any_tensor made(
        detail::add_over(g, make_op(dynamic_stitch_op{}), 0, std::array{all_ids.end(), all.end(), count}, where));
    constexpr auto rule = [](const dims& t, const dims& i) {
        if (!t.known_rank() || !i.known_rank() || i.rank > t.rank) return shape_result{dims::unknown()};
        dims r{dyn};
        for (int k = i.rank; k < t.rank; ++k) r.push(t[k]);
        return shape_result{r};
    };
    return detail::typed_result<void, E, I>(rule, made);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> dynamic_stitch_op::outputs(const known_inputs& in) const {
    detail::check_index_type(in.types[0].type, "the ids");
    detail::check_index_type(in.types[2].type, "the number of rows");
    if (in.types[0].shape.known_rank() && in.types[0].shape.rank != 1)
        throw invalid_argument("ids of rank 1 are expected, not " + to_string(in.types[0]));
    if (in.types[2].shape.known_rank() && in.types[2].shape.rank != 0)
        throw invalid_argument("the number of rows must be of rank 0, not " + to_string(in.types[2]));
    const auto slices = rules::gather(in.types[1].shape, in.types[0].shape, 0);
    if (!slices.ok()) throw invalid_argument(slices.reason());
    if (!rules::extents_compatible(rules::extent_along(in.types[1].shape, 0),
                                   rules::extent_along(in.types[0].shape, 0)))
        throw invalid_argument("there must be an id for each slice");
    dims rows = in.types[1].shape;
    if (!rows.known_rank()) return {in.types[1]};
    rows[0] = dyn;
    if (const any_array* value = in.value(2))
        detail::with_index_type(in.types[2].type, [&]<class I>(std::type_identity<I>) {
            rows[0] = std::max<index_t>(0, static_cast<index_t>(value->elements<I>()[0]));
        });
    return {{in.types[1].type, rows}};
}

RILL_INLINE std::vector<endpoint> dynamic_stitch_op::gradient(const gradient_request& r) const {
    return {{}, r.add<dynamic_stitch_op>(gather_op{0}, {r.gradient(), r.input(0)}), {}};
}

}} // namespace rill::RILL_ABI
#endif
