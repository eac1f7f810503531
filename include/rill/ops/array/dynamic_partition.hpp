// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/mask_over.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/split.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/ops/math/reduce_prod.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Throws the error of a site, on the host.
[[noreturn]] void refuse_part(const error_site& where, const refused_element& found);

} // namespace detail

/// Returns the positions of a tensor's slices by partition, in order. Output p holds the positions with id p, in row-major order of the
/// ids. Inputs: the ids, and the tensor, whose values are not read. An id out of range is invalid_argument. It runs in host memory, because
/// data determine its output shapes.
struct partition_places_op {
    static constexpr auto name = "PartitionPlaces", label = "dynamic_partition"; // the function that adds the node
    static constexpr int inputs = 2;
    using domain_type = domains::index;
    using compiled_types = types::numbers;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = ""; // ids have none
    index_t parts = 0;

    static void fields(auto& op, auto& visit) { visit("num_partitions", op.parts); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    static input_list shape_only_inputs() { return {1}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        outputs(request.inputs); // the run checks the shapes that were unknown before
        return kernel(
            [shape = request.inputs[0].shape, count = static_cast<std::size_t>(parts),
             where = detail::index_site(request.inputs[0].shape, parts, "partition id")](const kernel_args& a) {
                const T* const ids = a.in<T>(0);
                const index_t n = shape.size();
                std::vector<index_t> sizes(count);
                for (index_t i = 0; i < n; ++i) {
                    if (!index_inside<T>(static_cast<index_t>(count))(ids[i]))
                        detail::refuse_part(*where, refused_element::of(i, ids[i]));
                    ++sizes[static_cast<std::size_t>(ids[i])];
                }
                std::vector<std::int64_t*> next(count);
                for (std::size_t p = 0; p < count; ++p) {
                    a.sized[p] = any_array(dtype::int64, dims{sizes[p]});
                    next[p] = static_cast<std::int64_t*>(a.sized[p].mutable_data());
                }
                for (index_t i = 0; i < n; ++i) *next[static_cast<std::size_t>(ids[i])]++ = i;
            });
    }
};

namespace detail {

/// True if the type of X gives all extents but the first, and none of them is 0.
template <class X> inline constexpr bool knows_slices = false;
template <typed_operand X>
inline constexpr bool knows_slices<X> = [](const dims& x) {
    for (int i = 1; i < x.rank; ++i)
        if (x[i] <= 0) return false;
    return true;
}(extents_of<X>::value);

/// Returns x, of known rank, with its first `axes` axes merged into one. With axes = 0, x itself is the only slice.
template <class X> any_tensor slices_along(const X& x, int axes, const std::source_location& where) {
    if (axes == 1) return any_tensor(x);
    if (axes == 0) return any_tensor(expand_dims<0>(x, where));
    const dims shape = operand_type(x).shape;
    dims rows{dyn};
    bool can_divide = true; // whether reshape can infer the number of slices
    for (int i = axes; i < shape.rank; ++i) {
        rows.push(shape[i]);
        can_divide = can_divide && shape[i] > 0;
    }
    if constexpr (!knows_slices<X>)
        if (!can_divide) {
            const auto extents = rill::shape<std::int64_t>(x, where);
            const auto count = reduce_prod(extents(slice_range{0, axes}), where);
            return any_tensor(reshape(x, concat<0>(expand_dims<0>(count), extents(slice_range{axes}), where), where));
        }
    return reshape(x, rows, where);
}

template <class X, class I>
auto partition_slices(const X& x, const I& given, index_t parts, const std::source_location& where) {
    static_assert(are_ids<I>, "dynamic_partition: the ids must be int or std::int64_t");
    const auto& ids = ids_operand(given, where);
    using Ids = std::remove_cvref_t<decltype(ids)>;
    if constexpr (typed_operand<X> && typed_operand<Ids>)
        static_assert(extents_of<Ids>::rank == 0 || masks_first_axes<extents_of<X>, extents_of<Ids>>,
                      "dynamic_partition: the ids must have the extents of the tensor's first axes");
    const auto all = sealed(x);
    const any_tensor places = apply_node(partition_places_op{parts}, where, ids, all);
    const int axes = rank_of(ids);
    const dims& shape = operand_type(all).shape;
    if (axes < 0 || (axes != 1 && !shape.known_rank()))
        throw invalid_argument("dynamic_partition: the ranks of the tensor and of the ids must be known" +
                               at_place(where));
    const any_tensor slices = slices_along(all, axes, where);
    constexpr auto rule = [](const dims& t, const dims& i) {
        dims r{dyn};
        for (int k = i.rank; k < t.rank; ++k) r.push(t[k]);
        return t.known_rank() && i.known_rank() ? shape_result{r} : shape_result{dims::unknown()};
    };
    require_kernel_for<gather_op, X>();
    require_kernel<reshape_op, void>();
    const auto part = [&](int p) {
        const any_tensor at(endpoint{places.node(), p});
        return typed_result<void, X, Ids>(
            rule, any_tensor(add_op_node(make_op(gather_op{0}), taken_untyped<gather_op, X>(), where, slices, at)));
    };
    std::vector<decltype(part(0))> made;
    for (int p = 0; p < static_cast<int>(parts); ++p) made.push_back(part(p));
    return made;
}

} // namespace detail

template <index_t N> inline constexpr bool is_part_count = N > 0;

/// Returns an array with the slices of x for each id, in order: auto [a, b] = dynamic_partition<2>(x, ids). The extents of the ids are
/// those of the first axes of x. Gradient: g, put back in place.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto dynamic_partition(const X& x, const Ids& ids,
                       const std::source_location& where = std::source_location::current()) {
    static_assert(is_part_count<N>, "dynamic_partition: there is one part at least");
    const auto parts = detail::partition_slices(x, ids, N, where);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array{parts[I]...};
    }(std::make_index_sequence<static_cast<std::size_t>(N)>{});
}
/// Partitions x into a number of parts known only at run time. Returns a vector.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto dynamic_partition(const X& x, const Ids& ids, index_t parts,
                       const std::source_location& where = std::source_location::current()) {
    return detail::partition_slices(x, ids, parts, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> partition_places_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the ids");
    if (parts < 1 || parts > detail::most_parts)
        throw invalid_argument("there are 1 to 65536 parts, not " + std::to_string(parts));
    if (!rules::masks_first_axes(in[1].shape, in[0].shape))
        throw invalid_argument("the ids must have the extents of the tensor's first axes");
    return std::vector<tensor_type>(static_cast<std::size_t>(parts), tensor_type{dtype::int64, {dyn}});
}

RILL_COLD void detail::refuse_part(const error_site& where, const refused_element& found) {
    const error problem = where.describe(found);
    throw_error(problem.code(), problem.what());
}

}} // namespace rill::RILL_ABI
#endif
