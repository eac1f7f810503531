// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/ops/string/string_join.hpp>

namespace rill { inline namespace RILL_ABI {

/// Merges several summaries into one: merge_summaries({scalar_summary("loss", loss), histogram_summary("w", w)}).
template <class... Unused> // a template, so that only programs that call it have its kernels
tensor<std::string> merge_summaries(const std::vector<any_tensor>& summaries,
                                    const std::source_location& where = std::source_location::current()) {
    if (summaries.empty()) return tensor<std::string>(constant(std::string()));
    return {detail::unchecked, string_join(summaries, {}, where)};
}

/// Merges all summaries of the current graph into one: log.add(s.run(merged_summaries()), step). Each call adds a node; keep the
/// result.
template <class... Unused>
tensor<std::string> merged_summaries(const std::source_location& where = std::source_location::current()) {
    std::vector<any_tensor> all;
    for (const auto& e : current_graph().collection(collections::summaries)) all.emplace_back(e);
    return merge_summaries(all, where);
}

}} // namespace rill::RILL_ABI
