// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/array/concat.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of one of `count` equal parts along an axis.
constexpr shape_result split(const dims& x, int axis, index_t count) {
    if (count < 1) return {x, "the number of parts must be 1 or more"};
    if (!x.known_rank()) return {dims::unknown()};
    const int at = normal_axis(axis, x.rank);
    if (at < 0) return shape_result::wrong_axis(x, axis);
    if (x[at] == dyn) return {x};
    dims r = x;
    r[at] = x[at] / count;
    if (x[at] % count != 0) return {r, "the parts would not be equal"};
    return {r};
}

} // namespace rules

namespace detail {

/// Returns a kernel that copies the parts of an input, of the outputs' shapes, into the outputs.
template <class D, class T> kernel split_kernel(const kernel_request& request, int axis) {
    auto parts = concat_parts(request.inputs[0].shape, request.outputs, axis, true);
    return kernel([parts = std::move(parts)](const kernel_args& a) {
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (!parts[i].empty)
                D::copy(a.on, a.in<T>(0) + parts[i].begin, a.out<T>(static_cast<int>(i)), parts[i].layout);
    });
}

/// Returns the gradients of the parts, with zeros for parts without a gradient.
endpoint_list gradients_of_parts(const gradient_request& r);

} // namespace detail

/// Splits a tensor along an axis into equal parts. Gradient: the parts' gradients, concatenated.
struct split_op {
    static constexpr auto name = "Split";
    static constexpr int inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<concat_op>;
    int axis = 0;
    index_t count = 1;

    static void fields(auto& op, auto& visit) {
        visit("axis", op.axis);
        visit("num_split", op.count);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::split_kernel<D, T>(request, axis);
    }
};

/// True if the extent along the axis is a multiple of the number of parts.
template <class E, int Axis, index_t Count>
inline constexpr bool parts_are_equal = rules::split(static_dims<E>, Axis, Count).ok();

namespace detail {

inline constexpr index_t most_parts = 1 << 16; // a larger number is a mistake

/// Returns output i of a node, as a handle of the type of the first output.
template <class H> H output_of(const H& first, int i) {
    const any_tensor made(endpoint{first.node(), i});
    if constexpr (typed_operand<H>)
        return H(unchecked, made);
    else
        return made;
}
/// Returns handles to the first `count` outputs of a node.
template <class H> std::vector<H> outputs_of(const H& first, index_t count) {
    std::vector<H> all;
    for (index_t i = 0; i < count; ++i) all.push_back(output_of(first, static_cast<int>(i)));
    return all;
}

} // namespace detail

/// Splits x along axis 1 into a tuple of 3 equal parts: split<1, 3>(x). A negative axis counts from the end.
template <int Axis, index_t Count, graph_operand X>
auto split(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(Count >= 1 && Count <= detail::most_parts, "split: the number of parts must be 1 or more");
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "split: the axis is out of range");
        static_assert(parts_are_equal<extents_of<X>, Axis, Count>, "split: the parts would not be equal");
    }
    constexpr auto rule = [](const dims& shape) { return rules::split(shape, Axis, Count); };
    const auto first = apply_node(split_op{Axis, Count}, rule, where, x);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{detail::output_of(first, static_cast<int>(I))...};
    }(std::make_index_sequence<static_cast<std::size_t>(Count)>{});
}
/// Splits x into a std::vector of equal parts, whose number is known only at run time: split(x, n, 1). split(x, n) uses
/// axis 0.
template <graph_operand X>
auto split(const X& x, index_t count, int axis = 0,
           const std::source_location& where = std::source_location::current()) {
    if (count < 1 || count > detail::most_parts)
        throw invalid_argument("split: the number of parts must be 1 or more, and no more than 65536" +
                               detail::at_place(where));
    return detail::outputs_of(apply_node(split_op{axis, count}, detail::rank_of_first, where, x), count);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> split_op::outputs(std::span<const tensor_type> in) const {
    if (count > detail::most_parts) throw invalid_argument("more than 65536 parts");
    const auto part = rules::split(in[0].shape, axis, count);
    if (!part.ok()) throw invalid_argument(part.reason());
    return std::vector<tensor_type>(static_cast<std::size_t>(count), {in[0].type, part.shape});
}

RILL_INLINE endpoint_list detail::gradients_of_parts(const gradient_request& r) {
    endpoint_list parts;
    for (std::size_t i = 0; i < r.gradients.size(); ++i)
        parts.push_back(r.gradients[i] ? r.gradients[i] : filled_like(r.output(static_cast<int>(i)), 0));
    return parts;
}

RILL_INLINE std::vector<endpoint> split_op::gradient(const gradient_request& r) const {
    return {r.add<split_op>(concat_op{axis}, detail::gradients_of_parts(r))};
}

}} // namespace rill::RILL_ABI
#endif
