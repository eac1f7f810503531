// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/ops/collective/collective.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the sum of values, added in order.
template <class T> any_array sum_of_values(std::span<const any_array> values) {
    any_array sum = owned_copy(values[0]);
    for (const auto& v : values.subspan(1)) add_elements<T>(v.data(), sum.mutable_data(), sum.size());
    return sum;
}

} // namespace detail

/// Sums the values of all ranks in order of rank, so that every rank gets the same bits. It waits until all ranks have provided a value.
/// Shape: that of the value.
struct all_reduce_op : detail::collective_user {
    static constexpr auto name = "AllReduce";
    using domain_type = domains::real;
    using compiled_types = types::numbers;

    static void fields(auto& op, auto& visit) { visit("tensor", op.tensor); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        check_rank(in);
        return {in[2]};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::collective_kernel(
            r, {detail::collective_kind::all_reduce, 0, tensor, detail::sum_of_values<T>});
    }
};

namespace detail {

/// Returns the sum of the values of all ranks. Ranks compare the name `called`; an empty one stands for the name of the
/// value.
template <class T>
any_tensor all_reduced(const any_tensor& x, const collective_group& group, const std::source_location& where,
                       const std::string& called = {}) {
    require_kernel<all_reduce_op, T>();
    all_reduce_op op;
    op.tensor = called.empty() ? name_of(x.end()) : called;
    const auto shape = type_of(x.end()).shape;
    if (group.tasks().size() < 2 || !shape.complete() || shape.size() < pieces_from)
        return exchange_at_first(op, x, group, where);
    const tensor<T, dyn> flat(unchecked, reshape(x, dims{shape.size()}, where));
    std::vector<tensor<T, dyn>> sums; // each rank sums one piece
    for (index_t r = 0; r < group.ranks(); ++r) {
        const tensor<T, dyn> piece =
            flat(slice_range{r * shape.size() / group.ranks(), (r + 1) * shape.size() / group.ranks()});
        sums.push_back(
            {unchecked, exchange_at(group.tasks()[static_cast<std::size_t>(r)], op, piece, group, where)});
    }
    return reshape(any_tensor(concat(sums, 0, where)), shape, where);
}

} // namespace detail

/// Sums x over the ranks of a group: all_reduce(x, group). Large values are spread over the tasks of the group. An any_tensor is float32 or
/// float64. Not differentiable. The run throws invalid_argument if the ranks' values have different types.
template <graph_operand X>
auto all_reduce(const X& x, const collective_group& group,
                const std::source_location& where = std::source_location::current()) {
    const auto value = sealed(x);
    if constexpr (typed_operand<X>) {
        static_assert(op_takes<all_reduce_op, value_type_of<X>>, "all_reduce: the element type is not a real number");
        using result = std::remove_cvref_t<decltype(value)>;
        return result(detail::unchecked, detail::all_reduced<value_type_of<X>>(value, group, where));
    } else {
        return value.dtype() == dtype::float64 ? detail::all_reduced<double>(value, group, where)
                                               : detail::all_reduced<float>(value, group, where);
    }
}

}} // namespace rill::RILL_ABI
