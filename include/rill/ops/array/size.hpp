// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/shape.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of elements of a tensor.
struct size_op : detail::shape_numbers {
    static constexpr auto name = "Size";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    any_array known(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::numbers_kernel<D>(index, known(request.inputs));
    }
};

/// Returns the number of elements: size(x) in int, or size<std::int64_t>(x).
template <element Out = std::int32_t, graph_operand X>
auto size(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "size: the result must be int or std::int64_t");
    constexpr auto rule = [](const dims&) { return shape_result{}; };
    return apply_node<Out, void>(size_op{{dtype_of<Out>}}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> size_op::outputs(std::span<const tensor_type>) const {
    detail::check_index_type(index, "the result");
    return {{index, {}}};
}

RILL_INLINE any_array size_op::known(std::span<const tensor_type> in) const {
    const index_t n = in[0].shape.size();
    return detail::index_array(index, {}, {&n, 1});
}

}} // namespace rill::RILL_ABI
#endif
