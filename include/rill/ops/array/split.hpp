// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/strided_slice.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// One of `count` equal parts along an axis.
constexpr shape_result split(const dims& x, int axis, index_t count) {
    if (count < 1) return {x, "the number of parts must be 1 or more"};
    if (!x.known_rank()) return {dims::unknown()};
    const int at = normal_axis(axis, x.rank);
    if (at < 0) return {x, "the axis is out of range"};
    if (x[at] == dyn) return {x};
    dims r = x;
    r[at] = x[at] / count;
    if (x[at] % count != 0) return {r, "the parts would not be equal"};
    return {r};
}

} // namespace rules

/// Cuts a tensor along an axis into equal parts. Gradient: the parts' gradients, joined.
struct split_op {
    static constexpr auto name = "Split";
    static constexpr int inputs = 1;
    using domain_type = domains::every;
    using compiled_types = types::common;
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
        auto parts = detail::concat_parts(request.inputs[0].shape, request.outputs, axis, true);
        return kernel([parts = std::move(parts)](const kernel_args& a) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (!parts[i].empty)
                    D::copy(a.in<T>(0) + parts[i].begin, a.out<T>(static_cast<int>(i)), parts[i].layout);
        });
    }
};

/// The extent along the axis is a multiple of the number of parts.
template <class E, int Axis, index_t Count>
inline constexpr bool parts_are_equal = rules::split(E::value, Axis, Count).ok();

namespace detail {

inline constexpr index_t most_parts = 1 << 16; // more is a mistake

/// The ranges of parts of these sizes, one of which may be dyn.
std::vector<rules::slicing> ranges_of_parts(const dims& whole, const std::vector<index_t>& sizes, int axis);

/// Output number i of a node whose first output is given.
inline endpoint output_of(const any_tensor& first, int i) { return {first.node(), i}; }

} // namespace detail

/// split<1, 3>(x): along axis 1 into 3 equal parts, a tuple. A negative axis counts from the end.
template <int Axis, index_t Count, graph_operand X>
auto split(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(Count >= 1 && Count <= detail::most_parts, "split: the number of parts must be 1 or more");
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "split: the axis is out of range");
        static_assert(parts_are_equal<extents_of<X>, Axis, Count>, "split: the parts would not be equal");
    }
    constexpr auto rule = [](const dims& shape) { return rules::split(shape, Axis, Count); };
    const auto first = apply_node(split_op{Axis, Count}, rule, where, x);
    using part = std::remove_const_t<decltype(first)>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto one = [&](std::size_t i) {
            const any_tensor made(detail::output_of(first, static_cast<int>(i)));
            if constexpr (typed_operand<part>)
                return part(detail::unchecked, made);
            else
                return made;
        };
        return std::tuple{one(I)...};
    }(std::make_index_sequence<static_cast<std::size_t>(Count)>{});
}
/// Into a number of equal parts known at run time only.
template <graph_operand X>
std::vector<any_tensor> split(const X& x, index_t count, int axis,
                              const std::source_location& where = std::source_location::current()) {
    if (count < 1 || count > detail::most_parts)
        throw invalid_argument("split: the number of parts must be 1 or more, and no more than 65536");
    const any_tensor first = apply_node(split_op{axis, count}, where, x);
    std::vector<any_tensor> parts;
    for (index_t i = 0; i < count; ++i) parts.push_back(detail::output_of(first, static_cast<int>(i)));
    return parts;
}
/// Into parts of given sizes; one of them may be dyn: what the others leave.
template <graph_operand X>
std::vector<any_tensor> split(const X& x, const std::vector<index_t>& sizes, int axis,
                              const std::source_location& where = std::source_location::current()) {
    const any_tensor whole = detail::seal(x);
    std::vector<any_tensor> parts;
    for (const auto& range : detail::ranges_of_parts(type_of(whole.end()).shape, sizes, axis))
        parts.push_back(apply_node(strided_slice_op{range}, where, whole));
    return parts;
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <numeric>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> split_op::outputs(std::span<const tensor_type> in) const {
    if (count > detail::most_parts) throw invalid_argument("more than 65536 parts");
    const auto part = rules::split(in[0].shape, axis, count);
    if (!part.ok()) throw invalid_argument(part.broken);
    return std::vector<tensor_type>(static_cast<std::size_t>(count), {in[0].type, part.shape});
}

RILL_INLINE std::vector<endpoint> split_op::gradient(const gradient_request& r) const {
    endpoint_list parts;
    for (int i = 0; i < static_cast<int>(count); ++i)
        parts.push_back(r.gradients[i] ? r.gradients[i] : detail::filled_like(r.output(i), 0));
    return {r.add<split_op>(concat_op{axis}, std::move(parts))};
}

namespace detail {

RILL_INLINE std::vector<rules::slicing> ranges_of_parts(const dims& whole, const std::vector<index_t>& sizes,
                                                        int axis) {
    const auto refuse = [&](const std::string& why) {
        throw invalid_argument("split: " + why + " (" + to_string(whole) + " along axis " + std::to_string(axis) + ")");
    };
    if (!whole.known_rank()) refuse("the rank must be known");
    const int at = rules::normal_axis(axis, whole.rank);
    if (at < 0) refuse("the axis is out of range");
    const auto rest = std::find(sizes.begin(), sizes.end(), dyn);
    const bool negative = std::any_of(sizes.begin(), sizes.end(), [](index_t n) { return n < dyn; });
    if (negative || std::count(sizes.begin(), sizes.end(), dyn) > 1)
        refuse("at most one size may be dyn, none negative");
    if (whole[at] == dyn && rest == sizes.end()) refuse("where the extent is not known, one size must be dyn");
    const index_t named = std::accumulate(sizes.begin(), sizes.end(), index_t(rest != sizes.end()));
    if (whole[at] != dyn && (rest == sizes.end() ? named != whole[at] : named > whole[at]))
        refuse("the sizes don't make up the extent");
    std::vector<rules::slicing> all;
    index_t before = 0, after = 0; // elements; those after the dyn size are counted from the end
    for (auto n = rest; n != sizes.end(); ++n) after += std::max<index_t>(*n, 0);
    bool from_end = false;
    for (auto n = sizes.begin(); n != sizes.end(); ++n) {
        slice_range r;
        if (n == rest) {
            r = {before, after == 0 ? slice_range::all : -after, 1};
            from_end = true;
        } else if (from_end) {
            r = {-after, after == *n ? slice_range::all : *n - after, 1};
            if (*n == 0) r = {0, 0, 1};
            after -= *n;
        } else {
            r = {before, before + *n, 1};
            before += *n;
        }
        rules::slicing s;
        for (int i = 0; i < at; ++i) s.push({});
        s.push(r);
        all.push_back(s);
    }
    return all;
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
