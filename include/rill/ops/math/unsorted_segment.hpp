// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <rill/expr/constant.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/index_count.hpp>
#include <rill/ops/array/shape_input.hpp>

// Shared parts of the ops over segments, which combine slices of a tensor by ids of its first axes. Ids [k] put slice x[k, ..] into row
// ids[k].

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of the rows of segments: their count, then the shape of x without the axes of the ids.
constexpr shape_result segments(const dims& x, const dims& ids, index_t count) {
    if (!x.known_rank() || !ids.known_rank()) return {dims::unknown()};
    if (ids.rank > x.rank) return {x, "there are more axes of ids than of the tensor"};
    dims r{count};
    for (int i = 0; i < ids.rank; ++i)
        if (!extents_compatible(x[i], ids[i])) return {x, "the ids must have the extents of the tensor's first axes"};
    if (x.rank - ids.rank + 1 > max_rank) return {x, "the result would have more than 8 dimensions"};
    for (int i = ids.rank; i < x.rank; ++i) r.push(x[i]);
    return {r};
}

} // namespace rules

/// True if the ids have the extents of the tensor's first axes.
template <class X, class Ids>
inline constexpr bool ids_of_segments = rules::segments(static_dims<X>, static_dims<Ids>, dyn).ok();
template <index_t N> inline constexpr bool is_segment_count = N >= 0;

namespace detail {

/// Adds a node over tensors of one shape and dtype. It runs the program that `build` makes of the leaves, in one pass.
template <class Build> endpoint map_edges(const std::vector<endpoint>& leaves, const Build& build) {
    const dtype type = type_of(leaves[0]).type;
    tracer t(std::vector<dtype>(leaves.size(), type), {});
    fused_spec spec;
    spec.kind = fused_spec::form::program;
    spec.body = t.finish(std::vector<int>{build(t, type)});
    spec.scalars = t.scalars();
    endpoint_list inputs;
    for (const auto& e : leaves) {
        spec.leaves.push_back({static_cast<int>(inputs.size()), {}});
        inputs.push_back(e);
    }
    spec.results.resize(1);
    return {add_node(graph(*leaves[0].from->owner), make_op(fused_op{std::move(spec)}), std::move(inputs)), 0};
}

/// Emits a choice: `then` where two values are equal, else `otherwise`.
template <class Equal, class Select> int emit_if_equal(tracer& t, dtype type, int a, int b, int then, int otherwise) {
    const int equal = t.emit(info_of<Equal>, dtype::boolean, {a, b});
    return t.emit(info_of<Select>, type, {equal, then, otherwise});
}

/// Returns the output types of an op over segments. The number of segments is the third input, or its number of rows if `like`.
std::vector<tensor_type> segment_outputs(const known_inputs& in, bool like);

/// The common base of unsorted_segment_sum, _prod, _max and _min. Inputs: the tensor, the ids, and the number of segments.
template <combine How> struct unsorted_segment {
    static constexpr int inputs = 3;
    using compiled_types = types::numbers;
    bool like = false;       // the third input is a tensor with one row per segment, whose values don't matter
    bool zero_empty = false; // segments without slices are zeros, as in segment_max

    static void fields(auto& op, auto& visit) {
        visit("like", op.like);
        visit("zero_empty", op.zero_empty);
    }
    input_list shape_inputs() const { return like ? input_list{} : input_list{2}; }
    input_list shape_only_inputs() const { return like ? input_list{2} : input_list{}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const { return segment_outputs(in, like); }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &ids = request.inputs[1].shape, &y = request.outputs[0].shape;
        const axis_view view(y, 0);
        request.scratch_bytes = D::template combine_segments_scratch<How>(view.extent);
        return with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=, count = ids.size(), empty = empty_of<T>(),
                           where = index_site(ids, view.extent, "segment id")](const kernel_args& a) {
                D::template combine_segments<How>(a.on, a.in<T>(0), a.in<I>(1), a.out<T>(0), count, view.extent,
                                                  view.inner, empty, *where);
            });
        });
    }

private:
    /// Returns the value of a segment without slices. For max and min it is TensorFlow's: the lowest or largest finite number.
    template <class T> T empty_of() const {
        if (zero_empty || How == combine::sum) return T(0);
        if constexpr (How == combine::prod)
            return T(1);
        else if constexpr (How == combine::max)
            return std::numeric_limits<T>::lowest();
        else
            return std::numeric_limits<T>::max();
    }
};

/// Adds a node over segments. Their count is a host number or a tensor of rank 0. `Known` is the count if it is known at compile time.
template <index_t Known = dyn, class Op, class X, class Ids, class N>
auto add_segments(const Op& op, const X& x, const Ids& ids, const N& count, const std::source_location& where) {
    static_assert(are_ids<Ids>, "unsorted_segment: the segment ids must be int or std::int64_t");
    const auto& by = ids_operand(ids, where);
    using I = std::remove_cvref_t<decltype(by)>;
    if constexpr (typed_operand<X>) {
        static_assert(op_takes<Op, value_type_of<X>>, "unsorted_segment: the element type is not supported");
        if constexpr (typed_operand<I>)
            static_assert(ids_of_segments<extents_of<X>, extents_of<I>>,
                          "unsorted_segment: the ids must have the extents of the tensor's first axes");
    }
    constexpr auto rule = [](const dims& t, const dims& i) { return rules::segments(t, i, Known); };
    if constexpr (host_integer<N>) {
        return typed_result<void, X, I>(
            rule, any_tensor(apply_node(op, where, x, by, constant(static_cast<std::int64_t>(count), where))));
    } else {
        enable_dynamic_shapes();
        return typed_result<void, X, I>(rule, any_tensor(apply_node(op, where, x, by, count)));
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> segment_outputs(const known_inputs& in, bool like) {
    check_index_type(in.types[1].type, "the segment ids");
    index_t count = dyn;
    if (like) {
        count = rules::extent_along(in.types[2].shape, 0);
    } else {
        check_index_type(in.types[2].type, "the number of segments");
        if (in.types[2].shape.known_rank() && in.types[2].shape.rank != 0)
            throw invalid_argument("the number of segments must be of rank 0");
        if (const any_array* value = in.value(2))
            with_index_type(in.types[2].type, [&]<class I>(std::type_identity<I>) {
                count = static_cast<index_t>(value->elements<I>()[0]);
                if (count < 0) throw invalid_argument("the number of segments is negative: " + std::to_string(count));
            });
    }
    const auto rows = rules::segments(in.types[0].shape, in.types[1].shape, count);
    if (!rows.ok()) throw invalid_argument(rows.reason());
    return {{in.types[0].type, rows.shape}};
}

}}} // namespace rill::RILL_ABI::detail
#endif
