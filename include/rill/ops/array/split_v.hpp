// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/split.hpp>

namespace rill { inline namespace RILL_ABI {

/// Splits a tensor along an axis into parts of given sizes. One size may be dyn: the rest of the axis. Gradient: the parts'
/// gradients, concatenated.
struct split_v_op {
    static constexpr auto name = "SplitV", label = "split";
    static constexpr int inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<concat_op>;
    int axis = 0;
    any_array sizes; // int64

    static void fields(auto& op, auto& visit) {
        visit("axis", op.axis);
        visit("size_splits", op.sizes);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::split_kernel<D, T>(request, axis);
    }
};

/// Splits x along an axis into parts of the given sizes: split(x, {2, dyn, 3}, 1). split(x, {2, 3}) uses axis 0.
template <graph_operand X>
auto split(const X& x, const std::vector<index_t>& sizes, int axis = 0,
           const std::source_location& where = std::source_location::current()) {
    const auto count = static_cast<index_t>(sizes.size());
    any_array own = detail::owned_copy(to_any_array<index_t>(sizes, dims{count}));
    return detail::outputs_of(apply_node(split_v_op{axis, std::move(own)}, detail::rank_of_first, where, x), count);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> split_v_op::outputs(std::span<const tensor_type> in) const {
    if (sizes.dtype() != dtype::int64 || sizes.shape().rank != 1 || sizes.size() < 1 ||
        sizes.size() > detail::most_parts)
        throw invalid_argument("a list of sizes is expected, 65536 at most");
    const dims& x = in[0].shape;
    if (x.known_rank() && rules::normal_axis(axis, x.rank) < 0)
        throw invalid_argument(shape_result::wrong_axis(x, axis).reason());
    const index_t extent = rules::extent_along(x, axis);
    index_t named = 0, rest = 0;
    for (const index_t n : sizes.elements<index_t>()) {
        if (n < dyn || n > std::numeric_limits<index_t>::max() / detail::most_parts)
            throw invalid_argument("a size is negative, or not a size");
        n == dyn ? ++rest : named += n;
    }
    if (rest > 1) throw invalid_argument("at most one size may be dyn");
    if (extent != dyn && (rest == 0 ? named != extent : named > extent))
        throw invalid_argument("the sizes don't make up the extent");
    std::vector<tensor_type> parts;
    for (const index_t n : sizes.elements<index_t>()) {
        dims part = x;
        if (x.known_rank())
            part[rules::normal_axis(axis, x.rank)] = n != dyn ? n : extent == dyn ? dyn : extent - named;
        parts.push_back({in[0].type, part});
    }
    return parts;
}

RILL_INLINE std::vector<endpoint> split_v_op::gradient(const gradient_request& r) const {
    return {r.add<split_v_op>(concat_op{axis}, detail::gradients_of_parts(r))};
}

}} // namespace rill::RILL_ABI
#endif
