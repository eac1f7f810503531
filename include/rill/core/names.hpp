// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the default node name of an op: "ReduceSum" -> "reduce_sum", "MatMul" -> "mat_mul".
std::string snake_case(std::string_view camel);

/// Returns true if a name follows TensorFlow's rule: letters, digits, '.' first; then also '_', '-', '/', '\\', '>'.
bool valid_name(std::string_view name);

/// Returns the Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the names closest to a misspelt one, best first, for "did you mean …".
std::vector<std::string> nearest_names(std::string_view wanted, const std::vector<std::string>& names,
                                       std::size_t most = 3);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/names.ipp>
#endif
