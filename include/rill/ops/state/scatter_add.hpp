// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_add_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 1>&) {
        old[0] = old[0] + given[0];
    }
};

} // namespace detail

/// Adds slices to a variable's, where ids say: an id that occurs twice adds twice.
struct scatter_add_op : detail::scatter<detail::scatter_add_step> {
    static constexpr auto name = "ScatterAdd";
};

/// scatter_add(v, ids, updates): v[ids[k]] += updates[k], in place. The result is the variable after the write.
template <class T, index_t... D, graph_operand Ids, graph_operand Updates>
tensor<T, D...> scatter_add(const variable<T, D...>& v, const Ids& ids, const Updates& updates,
                            const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<Ids> && typed_operand<Updates>) {
        static_assert(are_ids<Ids>, "scatter_add: the ids must be int or std::int64_t");
        static_assert(updates_fit<extents<D...>, extents_of<Ids>, extents_of<Updates>>,
                      "scatter_add: the updates don't fit the variable and the ids");
        static_assert(same_dtype<value_type_of<Updates>, T>, "scatter_add: the dtypes differ; convert with cast<T>()");
    }
    return detail::add_scatter<scatter_add_op>(v, ids, updates, where);
}

}} // namespace rill::RILL_ABI
