// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

struct unsorted_segment_sum_op;

/// The slice of its segment for each id, and zeros for a negative id. It is the gradient of sums by segments. Gradient: g, added up by
/// segments.
struct segment_gather_op {
    static constexpr auto name = "SegmentGather";
    static constexpr int inputs = 2;
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<unsorted_segment_sum_op>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, 0);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel(
                [=, count = request.inputs[1].shape.size(),
                 where = detail::index_site(request.inputs[1].shape, view.extent, "segment id")](const kernel_args& a) {
                    D::check(a.on, a.in<I>(1), count, index_below<I>(view.extent), *where);
                    D::gather_segments(a.on, a.in<T>(0), a.in<I>(1), a.out<T>(0), view.inner, count);
                });
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/math/unsorted_segment_sum.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> segment_gather_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the segment ids");
    const auto slices = rules::gather(in[0].shape, in[1].shape, 0);
    if (!slices.ok()) throw invalid_argument(slices.reason());
    return {{in[0].type, slices.shape}};
}

RILL_INLINE std::vector<endpoint> segment_gather_op::gradient(const gradient_request& r) const {
    return {r.add<segment_gather_op>(unsorted_segment_sum_op{{.like = true}}, {r.gradient(), r.input(1), r.input(0)}),
            {}};
}

}} // namespace rill::RILL_ABI
#endif
