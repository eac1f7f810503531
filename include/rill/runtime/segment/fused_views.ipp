// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/fused_views.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class fused_view_finder {
public:
    static bool may_be_view(const subgraph::item& it) {
        return it.origin && it.op && (it.op->has_view() || it.op->has_padding());
    }

    fused_view_finder(const bound_graph& b, std::span<const char> needed, std::span<const input_list> shape_only,
                      const std::function<bool(const subgraph::value&)>& may_change)
        : b_(b), needed_(needed), may_change_(may_change), readers_(b.graph.items.size()), kept_(b.graph.items.size()) {
        const auto& items = b.graph.items;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i].is_write()) writes_.push_back(static_cast<int>(i));
        for (const auto& f : b.graph.fetches) kept_[f.item] = 1;
        for (const int t : b.graph.targets) kept_[t] = 1;
        for (std::size_t i = 0; i < items.size(); ++i)
            for (std::size_t k = 0; needed[i] && !is_same(static_cast<int>(i)) && k < items[i].inputs.size(); ++k)
                if (!detail::contains(shape_only[i], static_cast<std::int32_t>(k)))
                    note_reader(static_cast<int>(i), static_cast<int>(k));
    }

    fused_views run() {
        fused_views all;
        for (int i = 0; i < static_cast<int>(b_.graph.items.size()); ++i) {
            if (!may_be_view(item(i)) || !needed_[i] || b_.folded[i] || item(i).memory() || !item(i).after.empty())
                continue;
            if (const auto view = slice_at(i))
                all.slices.try_emplace(i, fused_views::slice_of{item(i).inputs[0], *view});
            if (const auto padding = padding_at(i)) {
                const auto from = original(item(i).inputs[0]);
                all.paddings.try_emplace({from.item, from.port}, fused_views::padding{i, *padding});
            }
        }
        for (int i = 0; i < static_cast<int>(b_.graph.items.size()); ++i)
            if (const auto* slice = needed_[i] && is_same(i) ? all.slice(original({i, 0}).item) : nullptr)
                all.slices.try_emplace(i, fused_views::slice_of(*slice));
        return all;
    }

private:
    struct reader {
        int item, input, port; // the port that it reads
    };
    void note_reader(int i, int input) {
        const auto from = original(item(i).inputs[input]);
        readers_[from.item].push_back({i, input, from.port});
    }
    const subgraph::item& item(int i) const { return b_.graph.items[i]; }
    std::vector<tensor_type> inputs_of(int i) const {
        std::vector<tensor_type> in;
        for (const auto& v : item(i).inputs) in.push_back(b_.type_of(v));
        return in;
    }

    /// Returns true if the item only names its input anew, for readers that need not know.
    bool is_same(int i) const {
        const auto& it = item(i);
        return it.origin && it.op && it.op->alias() == 0 && !kept_[i] && !b_.folded[i] && it.after.empty() &&
               !it.is_write() && b_.types[i][0].shape == b_.type_of(it.inputs[0]).shape;
    }
    subgraph::value original(subgraph::value v) const {
        while (is_same(v.item)) v = item(v.item).inputs[0];
        return v;
    }

    std::optional<strided_view> slice_at(int i) const {
        if (kept_[i] || readers_[i].empty()) return {};
        const auto view = item(i).op->view_of_input(inputs_of(i));
        if (!view || !has_rows(*view, b_.types[i][0].shape)) return {};
        const auto& from = item(i).inputs[0];
        if (item(from.item).memory() || may_change_(from)) return {};
        const auto reads_in_place = [&](const reader& r) {
            return joins(r.item) &&
                   detail::all_of(
                       item(r.item).op->fused()->leaves,
                       [&](const fused_leaf& l) { return l.input != r.input || l.view.how == combine::map; }) &&
                   !is_written_between(from, i, begin_of(r.item));
        };
        return detail::all_of(readers_[i], reads_in_place) ? view : std::nullopt;
    }

    std::optional<padded_view> padding_at(int i) const {
        const auto padding = item(i).op->pads_input(inputs_of(i));
        if (!padding) return {};
        const auto from = original(item(i).inputs[0]);
        const int by = from.item;
        const auto reads_it = [&](const reader& r) { return r.port == from.port; };
        if (kept_[by] || !joins(by) || std::ranges::count_if(readers_[by], reads_it) != 1) return {};
        const auto& result = item(by).op->fused()->results[static_cast<std::size_t>(from.port)];
        const dims space = space_of(by); // an adjoint of this shape is summed over nothing
        const bool is_map = result.reduce.how == combine::map && b_.type_of(from).shape == space;
        return is_map && has_rows(padding->value, space) ? padding : std::nullopt;
    }

    /// Returns true if neighbours along the last axis are neighbours in memory: what is read or written are whole rows.
    static bool has_rows(const strided_view& view, const dims& shape) {
        int last = shape.rank - 1;
        while (last >= 0 && shape[last] == 1) --last;
        return shape.size() > 1 && view.stride[static_cast<std::size_t>(last)] == 1;
    }

    /// Returns true if the item runs in a loop over several elements, whose operands may be views.
    bool joins(int i) const {
        const auto& it = item(i);
        const auto* spec = it.origin && it.op ? it.op->fused() : nullptr;
        return spec && !b_.folded[i] && !it.memory() && it.runs_on().fuses_views && space_of(i).size() > 1 &&
               !divides_integers(*spec->body);
    }
    dims space_of(int i) const { return fused_space(*item(i).op->fused(), inputs_of(i)).shape; }
    int begin_of(int i) const { return b_.group_of[i] < 0 ? i : b_.fusion_groups[b_.group_of[i]].items[0]; }

    /// Returns true if the value is a variable that is written after item `first` and before item `last`.
    bool is_written_between(subgraph::value v, int first, int last) const {
        const auto is_alias = [&](int i) { return item(i).op && item(i).op->alias() >= 0; };
        while (is_alias(v.item)) v = item(v.item).inputs[item(v.item).op->alias()];
        return b_.graph.role(v.item) == op_role::variable &&
               detail::any_of(writes_, [&](int w) { return first < w && w < last; });
    }

    const bound_graph& b_;
    std::span<const char> needed_;
    const std::function<bool(const subgraph::value&)>& may_change_;
    vector<vector<reader>> readers_; // per item
    std::vector<char> kept_;         // per item: fetched or a target
    std::vector<int> writes_;        // items that write variables
};

RILL_COLD fused_views find_fused_views(const bound_graph& b, std::span<const char> needed,
                                       std::span<const input_list> shape_only,
                                       const std::function<bool(const subgraph::value&)>& may_change) {
    if (detail::none_of(b.graph.items, fused_view_finder::may_be_view))
        return {}; // as in most graphs: readers are not sought
    return fused_view_finder(b, needed, shape_only, may_change).run();
}

}}} // namespace rill::RILL_ABI::detail
