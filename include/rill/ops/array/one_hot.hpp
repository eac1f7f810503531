// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

/// Adds an axis with `on` at the position of the id and `off` elsewhere. An id out of range gives all `off`, as in
/// TensorFlow.
struct one_hot_op {
    static constexpr auto name = "OneHot";
    static constexpr int version = 2; // version 1 had no axis
    static constexpr int inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::common;
    static constexpr auto no_gradient = ""; // ids have none
    index_t depth = 0;
    any_array values; // {off, on}
    int axis = -1;    // the new axis of the result

    static void fields(auto& op, auto& visit) {
        visit("depth", op.depth);
        visit("values", op.values);
        visit("axis", op.axis);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return values.dtype(); }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const T off = values.elements<T>()[0], on = values.elements<T>()[1];
        const detail::axis_view view(request.outputs[0].shape, axis);
        return detail::with_index_type(request.inputs[0].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=](const kernel_args& a) {
                D::one_hot(a.on, a.in<I>(0), a.out<T>(0), view.outer, view.extent, view.inner, on, off);
            });
        });
    }
};

template <index_t Depth> inline constexpr bool is_depth = Depth >= 0;
template <class E> inline constexpr bool rank_below_most = E::rank < max_rank;

namespace detail {

template <class T> one_hot_op make_one_hot(index_t depth, const T& on, const T& off, int axis) {
    any_array values(dtype_of<T>, dims{2});
    static_cast<T*>(values.mutable_data())[0] = off;
    static_cast<T*>(values.mutable_data())[1] = on;
    return {depth, std::move(values), axis};
}

} // namespace detail

/// True if the axis exists in the result.
template <class E, int Axis> inline constexpr bool axis_of_result = rules::insert_axis(static_dims<E>, Axis, 1).ok();

/// Returns one-hot vectors: one_hot<10>(ids) in float, or one_hot<10, T>(ids, on, off). one_hot<10, float, 0>(ids) puts
/// the new axis first.
template <index_t Depth, element T = float, int Axis = -1, ids_argument X = std::vector<int>>
auto one_hot(const X& ids, const std::type_identity_t<T>& on = T(1), const std::type_identity_t<T>& off = T(0),
             const std::source_location& where = std::source_location::current()) {
    static_assert(is_depth<Depth>, "one_hot: the depth is 0 or more");
    static_assert(are_ids<X>, "one_hot: the ids must be int or std::int64_t");
    if constexpr (typed_operand<X>) {
        static_assert(rank_below_most<extents_of<X>>, "one_hot: the result would have more than 8 dimensions");
        static_assert(!rank_below_most<extents_of<X>> || axis_of_result<extents_of<X>, Axis>,
                      "one_hot: the axis is out of range");
    }
    constexpr auto rule = [](const dims& x) { return rules::insert_axis(x, Axis, Depth < 0 ? 0 : Depth); };
    return apply_node<T, T>(detail::make_one_hot<T>(Depth, on, off, Axis), rule, where,
                            detail::ids_operand(ids, where));
}
/// Returns one-hot vectors of a depth known only at run time.
template <element T = float, ids_argument X = std::vector<int>>
auto one_hot(const X& ids, index_t depth, const std::type_identity_t<T>& on = T(1),
             const std::type_identity_t<T>& off = T(0),
             const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<X>, "one_hot: the ids must be int or std::int64_t");
    constexpr auto rule = [](const dims& x) { return rules::insert_axis(x, -1, dyn); };
    return apply_node<T, T>(detail::make_one_hot<T>(depth, on, off, -1), rule, where, detail::ids_operand(ids, where));
}
/// Returns one-hot vectors along a new axis known only at run time.
template <element T = float, ids_argument X = std::vector<int>>
auto one_hot(const X& ids, index_t depth, const std::type_identity_t<T>& on, const std::type_identity_t<T>& off,
             int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<X>, "one_hot: the ids must be int or std::int64_t");
    constexpr auto rule = [](const dims& x) { return rules::change_rank(x, 1); };
    return apply_node<T, T>(detail::make_one_hot<T>(depth, on, off, axis), rule, where,
                            detail::ids_operand(ids, where));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> one_hot_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the ids");
    if (depth < 0) throw invalid_argument("the depth is negative");
    if (values.shape() != dims{2}) // a graph file may hold any shape
        throw invalid_argument("two values are expected, off and on, not " + to_string(values.type()));
    const auto deeper = rules::insert_axis(in[0].shape, axis, depth);
    if (!deeper.ok()) throw invalid_argument(deeper.reason());
    return {{values.dtype(), deeper.shape}};
}

}} // namespace rill::RILL_ABI
#endif
