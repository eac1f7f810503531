// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Arrays of other extents each, as one value between pieces: what a loop keeps for its gradient where iterations differ. The extents
/// beyond the first are not known, which no array has otherwise; a scan alone goes through it.
any_array make_tensor_list(dtype type, std::vector<any_array> slices);

/// Its slices; null of ordinary arrays.
const std::vector<any_array>* tensor_list_items(const any_array& a);

/// Its type.
inline bool is_tensor_list(const tensor_type& t) { return t.type != dtype::invalid && !t.shape.complete(); }

/// Throws unimplemented if one of a node's inputs is such a value: only scans take them.
void refuse_ragged(std::span<const tensor_type> inputs);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/tensor_list.ipp>
#endif
