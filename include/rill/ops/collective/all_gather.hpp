// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <rill/ops/collective/collective.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the values concatenated along axis 0. Values of rank 0 become a vector.
any_array joined_values(std::span<const any_array> values);

} // namespace detail

/// Concatenates the values of all ranks along axis 0, in order of rank. It waits until all ranks have provided a value. Shape: that of the
/// value with another first extent; values of rank 0 give a vector.
struct all_gather_op : detail::collective_user {
    static constexpr auto name = "AllGather";
    using domain_type = domains::any;
    using compiled_types = types::common;

    static void fields(auto& op, auto& visit) { visit("tensor", op.tensor); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::collective_kernel(r, {detail::collective_kind::all_gather, 0, tensor, detail::joined_values});
    }
};

namespace detail {

/// The result type of all_gather, given the type of one rank's value.
template <class X> struct gathered {
    using type = any_tensor;
};
template <class T> struct gathered<tensor<T>> {
    using type = tensor<T, dyn>;
};
template <class T, index_t First, index_t... Rest> struct gathered<tensor<T, First, Rest...>> {
    using type = tensor<T, dyn, Rest...>;
};

} // namespace detail

/// Concatenates the values of all ranks along axis 0: all_gather(x, group). Their first extents may differ. Not differentiable.
template <graph_operand X>
auto all_gather(const X& x, const collective_group& group,
                const std::source_location& where = std::source_location::current()) {
    const auto value = sealed(x);
    using result = typename detail::gathered<std::remove_cvref_t<decltype(value)>>::type;
    return detail::exchanged<result>(all_gather_op{}, value, group, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD any_array detail::joined_values(std::span<const any_array> values) {
    dims shape = values[0].shape();
    if (shape.rank == 0) shape = dims{1};
    index_t rows = 0;
    for (const auto& v : values) rows += v.shape().rank == 0 ? 1 : v.shape()[0];
    shape[0] = rows;
    any_array all(values[0].dtype(), shape);
    index_t at = 0;
    for (const auto& v : values) {
        copy_elements(v.dtype(), v.data(),
                      static_cast<std::byte*>(all.mutable_data()) + static_cast<std::size_t>(at) * size_of(v.dtype()),
                      v.size());
        at += v.size();
    }
    return all;
}

RILL_INLINE std::vector<tensor_type> all_gather_op::outputs(std::span<const tensor_type> in) const {
    check_rank(in);
    auto made = in[2];
    if (!made.shape.known_rank()) return {made};
    if (made.shape.rank == 0)
        made.shape = dims{dyn};
    else
        made.shape[0] = dyn;
    return {made};
}

}} // namespace rill::RILL_ABI
#endif
