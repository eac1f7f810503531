// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <utility>

#include <rill/core/hash_map.hpp>
#include <rill/runtime/segment/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Slices that all their readers read in place, and paddings into which a fused node writes its result. None of them is a step.
struct fused_views {
    struct slice_of {
        subgraph::value from;
        strided_view view;
    };
    struct padding {
        int item; // of the padding
        padded_view view;
    };
    hash_map<int, slice_of> slices;                  // by the item of the slice, or of an alias of its shape
    hash_map<std::pair<int, int>, padding> paddings; // by the fused item and its result that is padded

    const slice_of* slice(int item) const {
        const auto at = slices.find(item);
        return at == slices.end() ? nullptr : &at->second;
    }
    const padding* padding_of(int item, int port) const {
        const auto at = paddings.find({item, port});
        return at == paddings.end() ? nullptr : &at->second;
    }
};

/// Finds the slices and paddings of a graph on the host's CPU. Items, types and fusion groups are known; `needed` and `shape_only` are
/// those of needed_items(). `may_change`: the memory of a fed value may change before a later reader.
fused_views find_fused_views(const bound_graph& b, std::span<const char> needed, std::span<const input_list> shape_only,
                             const std::function<bool(const subgraph::value&)>& may_change);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/fused_views.ipp>
#endif
