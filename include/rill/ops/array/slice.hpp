// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/strided_slice_grad.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Sizes that lie within a shape; dyn is all that is left. `begin` may not be known.
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

/// A block of a tensor: where it begins and its size along each axis. Gradient: g, put back among zeros.
struct slice_op {
    static constexpr auto name = "Slice";
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<strided_slice_grad_op>;
    index_list begin, size;

    static void fields(auto& op, auto& visit) {
        visit("begin", op.begin);
        visit("size", op.size);
    }
    constexpr shape_result shape(const dims& x) const { return rules::slice_of_size(x, size, &begin); }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto l = detail::layout_of_slice(request.inputs[0].shape, ranges(), true);
        return kernel([l](const kernel_args& a) {
            if (!l.empty) D::copy(a.in<T>(0) + l.begin, a.out<T>(0), l.layout);
        });
    }

private:
    rules::slicing ranges() const;
};

/// Of blocks of the sizes: one for each axis, no larger than it.
template <class E, index_t... Size>
inline constexpr bool slice_fits = rules::slice_of_size(E::value, dims{Size...}, nullptr).ok();

/// slice<2, 3>(x, {1, 0}): sizes, and where the block begins; a size of dyn takes all that is left.
template <index_t... Size, graph_operand X>
    requires(sizeof...(Size) > 0)
auto slice(const X& x, const dims& begin, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(slice_fits<extents_of<X>, Size...>,
                      "slice: the sizes don't fit the tensor: one for each axis, none above its extent");
    constexpr auto rule = [](const dims& shape) { return rules::slice_of_size(shape, dims{Size...}, nullptr); };
    return apply_node(slice_op{begin, dims{Size...}}, rule, where, x);
}
/// Of a size known at run time only.
template <graph_operand X>
any_tensor slice(const X& x, const dims& begin, const dims& size,
                 const std::source_location& where = std::source_location::current()) {
    return apply_node(slice_op{begin, size}, where, x);
}

}} // namespace rill::RILL_ABI

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

RILL_INLINE std::vector<endpoint> slice_op::gradient(const gradient_request& r) const {
    return {r.add<slice_op>(strided_slice_grad_op{ranges()}, {r.gradient(), r.input(0)})};
}

}} // namespace rill::RILL_ABI
#endif
