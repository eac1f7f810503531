// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/shape_input.hpp>
#include <rill/ops/array/slicing.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of a block of `size` within x, or the reason why it does not fit. A size of dyn takes the rest of
/// the axis. A null `begin` is unknown.
constexpr shape_result slice_of_size(const dims& x, const dims& size, const dims* begin) {
    if (!size.known_rank() || (begin && begin->rank != size.rank))
        return {x, "a begin and a size are expected of each axis"};
    for (int i = 0; i < size.rank; ++i)
        if (size[i] < dyn || (begin && (*begin)[i] < 0)) return {x, "a begin or a size is negative"};
    if (!x.known_rank()) return {size};
    if (size.rank != x.rank) return {x, "a begin and a size are expected of each axis"};
    dims r = size;
    for (int i = 0; i < x.rank; ++i) {
        const index_t from = begin ? (*begin)[i] : 0;
        if (x[i] == dyn) continue;
        if (from > x[i] || (size[i] != dyn && size[i] > x[i] - from)) return {r, "the slice reaches beyond the tensor"};
        if (size[i] == dyn && begin) r[i] = x[i] - from;
    }
    return {r};
}

} // namespace rules

struct slice_grad_op;
struct strided_slice_grad_op;

/// Slices a block of a tensor, given its begin and its size for each axis. The second input may hold the begin, the third the
/// size. Gradient: g, padded with zeros to the shape of the tensor. A block of a variable is colocated with the variable.
struct slice_op {
    static constexpr auto name = "Slice";
    static constexpr int least_inputs = 1, colocated_input = 0; // sends the block, not the tensor, between devices
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<strided_slice_grad_op, slice_grad_op>;
    index_list begin, size;

    static void fields(auto& op, auto& visit) {
        visit("begin", op.begin);
        visit("size", op.size);
    }
    constexpr shape_result shape(const dims& x) const { return rules::slice_of_size(x, size, &begin); }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list host_inputs() { return {1, 2}; }
    input_list shape_inputs() const {
        if (size.rank == 0) return {1, 2}; // a size of -1 depends on the begin
        for (int i = 0; i < size.rank; ++i)
            if (size[i] == dyn) return {1};
        return {};
    }
    op_cost cost(std::span<const tensor_type>, std::span<const tensor_type> out) const {
        return detail::cost_of_slices(out[0]);
    }
    std::optional<strided_view> view_of_input(std::span<const tensor_type> in) const {
        return in.size() == 1 ? std::optional(detail::view_of_slice(in[0].shape, ranges())) : std::nullopt;
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        if (request.inputs.size() > 1)
            return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
                const dims &x = request.inputs[0].shape, &y = request.outputs[0].shape;
                return kernel([l = detail::block_layout(x, y, true), empty = y.size() == 0](const kernel_args& a) {
                    const index_t first = l.begin(a.in<I>(1));
                    if (!empty) D::copy(a.on, a.in<T>(0) + first, a.out<T>(0), l.layout);
                });
            });
        const auto l = detail::layout_of_slice(request.inputs[0].shape, ranges(), true);
        return kernel([l](const kernel_args& a) {
            if (!l.empty) D::copy(a.on, a.in<T>(0) + l.begin, a.out<T>(0), l.layout);
        });
    }

private:
    rules::slicing ranges() const;
};

/// True if there is one size for each axis, and none is larger than its axis.
template <class E, index_t... Size>
inline constexpr bool slice_fits = rules::slice_of_size(static_dims<E>, dims{Size...}, nullptr).ok();

/// Slices a block, given sizes and the begin: slice<2, 3>(x, {1, 0}). A size of dyn takes the rest of the axis.
template <index_t... Size, graph_operand X>
    requires(sizeof...(Size) > 0)
auto slice(const X& x, const dims& begin, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(slice_fits<extents_of<X>, Size...>,
                      "slice: the sizes don't fit the tensor: one for each axis, none above its extent");
    constexpr auto rule = [](const dims& shape) { return rules::slice_of_size(shape, dims{Size...}, nullptr); };
    return apply_node(slice_op{begin, dims{Size...}}, rule, where, x);
}
/// Slices a block of a size known only at run time.
template <graph_operand X>
auto slice(const X& x, const dims& begin, const dims& size,
           const std::source_location& where = std::source_location::current()) {
    return apply_node(slice_op{begin, size}, detail::rank_of_first, where, x);
}
/// Slices a block that begins at the position given by an integer tensor: slice<2, 3>(x, begin).
template <index_t... Size, graph_operand X, graph_operand B>
    requires(sizeof...(Size) > 0)
auto slice(const X& x, const B& begin, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<B>)
        static_assert(is_shape_tensor<extents_of<B>, value_type_of<B>>,
                      "slice: the begin must be of rank 1, and of int or std::int64_t");
    if constexpr (typed_operand<X>)
        static_assert(slice_fits<extents_of<X>, Size...>,
                      "slice: the sizes don't fit the tensor: one for each axis, none above its extent");
    constexpr auto rule = [](const dims& shape, const dims&) {
        return rules::slice_of_size(shape, dims{Size...}, nullptr);
    };
    if constexpr (((Size == dyn) || ...)) detail::enable_dynamic_shapes(); // the rest of the axis depends on the begin
    return apply_node(slice_op{{}, dims{Size...}}, rule, where, x, begin);
}
/// Slices a block whose begin and size are integer tensors.
template <graph_operand X, graph_operand B, graph_operand S>
auto slice(const X& x, const B& begin, const S& size,
           const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<B>)
        static_assert(is_shape_tensor<extents_of<B>, value_type_of<B>>,
                      "slice: the begin must be of rank 1, and of int or std::int64_t");
    if constexpr (typed_operand<S>)
        static_assert(is_shape_tensor<extents_of<S>, value_type_of<S>>,
                      "slice: the size must be of rank 1, and of int or std::int64_t");
    constexpr auto rule = [](const dims& shape, const dims&, const dims& s) {
        return rules::slice_of_size(shape, detail::rank_from(s), nullptr);
    };
    detail::enable_dynamic_shapes();
    return apply_node(slice_op{}, rule, where, x, begin, size);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/slice_grad.hpp> // its gradients, as this is the gradient of those
#include <rill/ops/array/strided_slice_grad.hpp>

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE rules::slicing slice_op::ranges() const {
    rules::slicing s;
    for (int i = 0; i < begin.rank; ++i) {
        const bool to_end = size[i] == dyn || size[i] > std::numeric_limits<index_t>::max() - begin[i];
        s.push({begin[i], to_end ? slice_range::all : begin[i] + size[i], 1});
    }
    return s;
}

RILL_INLINE std::vector<tensor_type> slice_op::outputs(const known_inputs& in) const {
    const std::size_t count = in.types.size();
    const dims& x = in.types[0].shape;
    if (count > 3) throw invalid_argument("a tensor, a begin and a size at most are expected");
    dims from = begin;
    if (count > 1) {
        from = detail::shape_from(in, 1, "the begin");
        if (from.rank > 0 && !in.value(1)) from.rank = -1;
    }
    const bool later = !from.known_rank();
    if (later && x.known_rank() && rules::extent_along(in.types[1].shape, 0) != dyn && in.types[1].shape[0] != x.rank)
        throw invalid_argument("a begin and a size are expected of each axis");
    const dims wanted = count > 2 ? detail::shape_from(in, 2, "the size") : dims(size);
    if (count > 2 && !wanted.known_rank()) {
        dims unsaid = x;
        for (int i = 0; i < x.rank; ++i) unsaid[i] = dyn;
        return {{in.types[0].type, unsaid}};
    }
    const bool unsaid = count > 2 && wanted.rank > 0 && !in.value(2); // then dyn does not mean the rest of the axis
    const auto r = rules::slice_of_size(x, wanted, later || unsaid ? nullptr : &from);
    if (!r.ok()) throw invalid_argument(r.reason());
    return {{in.types[0].type, r.shape}};
}

RILL_INLINE std::vector<endpoint> slice_op::gradient(const gradient_request& r) const {
    if (r.at.inputs.size() > 1) {
        std::vector<endpoint> d{r.add<slice_op>(slice_grad_op{}, {r.gradient(), r.input(0), r.input(1)})};
        d.resize(r.at.inputs.size());
        return d;
    }
    return {r.add<slice_op>(strided_slice_grad_op{ranges()}, {r.gradient(), r.input(0)})};
}

}} // namespace rill::RILL_ABI
#endif
