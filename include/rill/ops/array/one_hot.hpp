// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill::inline RILL_ABI {

/// A last axis is added, with `on` at the place that the id says and `off` elsewhere. An id outside it gives all `off`, as
/// in TensorFlow.
struct one_hot_op {
    static constexpr auto name = "OneHot";
    static constexpr auto no_gradient = ""; // ids have none
    index_t depth = 0;
    any_array values; // off, on

    template <class V> void attributes(V& v) const {
        v("depth", depth);
        v("values", values);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return values.dtype(); }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const T off = values.elements<T>()[0], on = values.elements<T>()[1];
        return detail::with_index_type(request.inputs[0].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=, n = request.inputs[0].shape.size(), wide = depth](const kernel_args& a) {
                D::one_hot(a.in<I>(0), a.out<T>(0), n, wide, on, off);
            });
        });
    }
    friend bool operator==(const one_hot_op& a, const one_hot_op& b) {
        return a.depth == b.depth && a.values.data() == b.values.data();
    }
};

template <index_t Depth> inline constexpr bool is_depth = Depth >= 0;
template <class E> inline constexpr bool rank_below_most = E::rank < max_rank;

namespace detail {

template <class E, index_t Depth> struct one_hot_rule {
    static constexpr dims value = rules::insert_axis(E::value, -1, Depth < 0 ? 0 : Depth).shape;
};

template <class T, class X>
endpoint one_hot(const X& ids, index_t depth, const T& on, const T& off, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(is_index_type<value_type_of<X>>, "one_hot: the ids must be int or std::int64_t");
    require_kernel<one_hot_op, T>();
    any_array values(dtype_of<T>, dims{2});
    static_cast<T*>(values.mutable_data())[0] = off;
    static_cast<T*>(values.mutable_data())[1] = on;
    return make_node(one_hot_op{depth, std::move(values)}, where, ids);
}

} // namespace detail

/// one_hot<10>(ids) in float; one_hot<10, T>(ids, on, off).
template <index_t Depth, element T = float, graph_operand X>
auto one_hot(const X& ids, const std::type_identity_t<T>& on = T(1), const std::type_identity_t<T>& off = T(0),
             const std::source_location& where = std::source_location::current()) {
    static_assert(is_depth<Depth>, "one_hot: the depth is 0 or more");
    if constexpr (typed_operand<X>)
        static_assert(rank_below_most<extents_of<X>>, "one_hot: the result would have more than 8 dimensions");
    const endpoint made = detail::one_hot<T>(ids, Depth, on, off, where);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, T, detail::one_hot_rule<extents_of<X>, Depth>>(made);
    else
        return any_tensor(made);
}
/// To a depth known at run time only.
template <element T = float, graph_operand X>
any_tensor one_hot(const X& ids, index_t depth, const std::type_identity_t<T>& on = T(1),
                   const std::type_identity_t<T>& off = T(0),
                   const std::source_location& where = std::source_location::current()) {
    return detail::one_hot<T>(ids, depth, on, off, where);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/one_hot.ipp>
#endif
