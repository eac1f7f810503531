// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

/// The row of each slice in a list that holds every segment contiguously, for scans by segment. Row 0 is free and precedes the first slice.
/// Results: each slice's row; its row if another slice of its segment follows; the row of a term that starts the next segment. Each is -1
/// if it does not apply, and for negative ids. The fourth result has (number of slices + 1) rows, whose values don't matter. `reverse`
/// lists the slices from the last to the first. The host reads the ids.
struct segment_places_op {
    static constexpr auto name = "SegmentPlaces";
    static constexpr int inputs = 1;
    using domain_type = domains::index;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = ""; // the results are indices
    bool reverse = false;

    static void fields(auto& op, auto& visit) { visit("reverse", op.reverse); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    static input_list host_inputs() { return {0}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel(
            [n = request.inputs[0].shape.size(), space = request.space, reverse = reverse](const kernel_args& a) {
                const T* const ids = a.in<T>(0);
                std::vector<index_t> order;
                for (index_t i = 0; i < n; ++i)
                    if (ids[i] >= 0) order.push_back(i);
                detail::sort(order, [&](index_t i, index_t j) { return ids[i] < ids[j]; });
                if (reverse) std::reverse(order.begin(), order.end());
                const auto size = static_cast<std::size_t>(n);
                std::vector<T> place(size, T(-1)), followed(size, T(-1)), starts(size, T(-1)), rows(size + 1, T(0));
                for (std::size_t row = 1; row <= order.size(); ++row) {
                    const index_t i = order[row - 1];
                    const auto at = static_cast<std::size_t>(i);
                    place[at] = static_cast<T>(row);
                    const bool last = row == order.size();
                    if (!last && ids[order[row]] == ids[i])
                        followed[at] = place[at];
                    else
                        starts[at] = last ? T(0) : place[at]; // after the last slice: the first segment's start
                }
                const std::vector<T>* const results[] = {&place, &followed, &starts, &rows};
                for (int i = 0; i < 4; ++i)
                    detail::copy_between(nullptr, results[i]->data(), space, a.out<T>(i), dtype_of<T>,
                                         static_cast<index_t>(results[i]->size()));
            });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> segment_places_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the segment ids");
    const tensor_type rows{in[0].type, {in[0].shape.complete() ? in[0].shape.size() + 1 : dyn}};
    return {in[0], in[0], in[0], rows};
}

}} // namespace rill::RILL_ABI
#endif
