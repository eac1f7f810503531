// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/host_array.hpp>
#include <rill/core/shared.hpp>
#include <rill/expr/node_op.hpp>

// The common base of ops that take indices: element types, and the check before anything is written.

namespace rill { inline namespace RILL_ABI {

/// True if elements of type I can be indices or class numbers.
template <class I>
inline constexpr bool is_index_type = std::is_same_v<I, std::int32_t> || std::is_same_v<I, std::int64_t>;

/// Rows of ids in braces: {{0, 1}, {2, 0}}.
using braced_rows = nested_list<int, 2>;

/// Ids of the host: an integer, a range or an array of integers, or rows in braces.
template <class I>
concept host_ids = host_integer<I> || std::same_as<I, braced_rows> ||
                   ((flat_range<I> || xtensor_expression<I>) && host_integer<host_element<I>>);

/// A type that can be ids: a tensor, or ids of the host. The default of such a template parameter decides what braces are:
/// std::vector<int> for a list, braced_rows for rows.
template <class I>
concept ids_argument = graph_operand<I> || host_ids<I>;

/// True if the ids are of type int or std::int64_t.
template <class X> inline constexpr bool are_ids = true;
template <typed_operand X> inline constexpr bool are_ids<X> = is_index_type<value_type_of<X>>;
template <flat_range X> inline constexpr bool are_ids<X> = is_index_type<host_element<X>>;
template <xtensor_expression X> inline constexpr bool are_ids<X> = is_index_type<host_element<X>>;
template <> inline constexpr bool are_ids<braced_rows> = true;

namespace detail {

/// Calls f with the element type of the indices.
template <class F> auto with_index_type(dtype type, F f) {
    return type == dtype::int64 ? f(std::type_identity<std::int64_t>{}) : f(std::type_identity<std::int32_t>{});
}

void check_index_type(dtype type, const char* what);

/// Returns ids as a tensor. Host values become a constant.
template <ids_argument I> decltype(auto) ids_operand(const I& ids, const std::source_location& where) {
    if constexpr (graph_operand<I>)
        return (ids);
    else if constexpr (host_integer<I>)
        return constant(static_cast<std::int64_t>(ids), where);
    else if constexpr (std::same_as<I, braced_rows>)
        return constant_value<int, dyn, dyn>(list_to_any_array<int, 2>(ids), where);
    else
        return constant(ids, where);
}

/// Returns ids as a tensor that can be read twice. A constant joins the graph of x.
template <class X, ids_argument I> auto ids_beside(const X& x, const I& ids, const std::source_location& where) {
    const graph_scope here(graph_of_operand(x));
    return sealed(ids_operand(ids, where));
}

/// The type of ids as a tensor.
template <class I> using ids_type = std::remove_cvref_t<decltype(ids_operand(std::declval<const I&>(), {}))>;

/// Returns the error site of "id 7 at [1, 0] is outside [0, 5)". The error is an invalid_argument, because out_of_range means the end of
/// the input.
error_site_ptr index_site(const dims& shape, index_t extent, const char* what);

/// The check of a kernel's indices: each must be in [0, extent). `what` names the indices in the error.
template <class I> struct index_check {
    index_t count;
    index_inside<I> inside;
    error_site_ptr where;

    index_check(const dims& shape, index_t extent, const char* what)
        : count(shape.size()), inside(extent), where(index_site(shape, extent, what)) {}
};

/// Checks indices before a kernel uses them.
template <class D, class I> void check_indices(const execution_context& on, const index_check<I>& by, const I* ids) {
    D::check(on, ids, by.count, by.inside, *by.where);
}

/// Returns the output types of an op that updates slices of its first input along an axis, at ids. The updates must have the shape of the
/// gathered slices. The output has the type of the first input.
std::vector<tensor_type> scatter_outputs(std::span<const tensor_type> in, int axis = 0);

/// A view of an array as [outer, extent of the axis, inner].
struct axis_view {
    index_t outer = 1, extent = 1, inner = 1;

    axis_view(const dims& shape, int axis);
};

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void check_index_type(dtype type, const char* what) {
    if (type != dtype::int32 && type != dtype::int64)
        throw invalid_argument(std::string(what) + " must be int32 or int64, not " + std::string(to_string(type)));
}

class outside_site final : public error_site {
public:
    outside_site(const dims& shape, index_t extent, const char* what) : shape_(shape), extent_(extent), what_(what) {}
    RILL_COLD error describe(const refused_element& found) const override {
        return invalid_argument(std::string(what_) + " " + std::to_string(found.value) + " at " +
                                to_string(rules::position_of(found.at, shape_)) + " is outside [0, " +
                                std::to_string(extent_) + ")");
    }

private:
    dims shape_;
    index_t extent_;
    const char* what_;
};

RILL_COLD error_site_ptr index_site(const dims& shape, index_t extent, const char* what) {
    return detail::make_shared<const outside_site>(shape, extent, what);
}

RILL_INLINE std::vector<tensor_type> scatter_outputs(std::span<const tensor_type> in, int axis) {
    check_index_type(in[1].type, "the ids");
    if (in[0].type != in[2].type)
        throw invalid_argument("the dtypes differ: the variable is " + to_string(in[0]) + ", the updates " +
                               to_string(in[2]));
    const auto slices = rules::gather(in[0].shape, in[1].shape, axis);
    if (!slices.ok()) throw invalid_argument(slices.reason());
    if (!rules::compatible(slices.shape, in[2].shape))
        throw invalid_argument("the updates must be of shape " + to_string(slices.shape));
    return {in[0]};
}

RILL_INLINE axis_view::axis_view(const dims& shape, int axis) {
    const int at = rules::normal_axis(axis, shape.rank);
    for (int i = 0; i < shape.rank; ++i) (i < at ? outer : i == at ? extent : inner) *= shape[i];
}

}}} // namespace rill::RILL_ABI::detail
#endif
