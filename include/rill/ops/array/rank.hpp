// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/shape.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of axes of a tensor.
struct rank_op : detail::shape_numbers {
    static constexpr auto name = "Rank";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    any_array known(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::numbers_kernel<D>(index, known(request.inputs));
    }
};

/// Returns the number of axes: rank(x) in int, or rank<std::int64_t>(x).
template <element Out = std::int32_t, graph_operand X>
auto rank(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "rank: the result must be int or std::int64_t");
    constexpr auto rule = [](const dims&) { return shape_result{}; };
    return apply_node<Out, void>(rank_op{{dtype_of<Out>}}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> rank_op::outputs(std::span<const tensor_type>) const {
    detail::check_index_type(index, "the result");
    return {{index, {}}};
}

RILL_INLINE any_array rank_op::known(std::span<const tensor_type> in) const {
    const index_t n = in[0].shape.rank;
    return detail::index_array(index, {}, {&n, 1});
}

}} // namespace rill::RILL_ABI
#endif
