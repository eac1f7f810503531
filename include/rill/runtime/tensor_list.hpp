// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a tensor list: arrays of different extents as one value between stages. A loop whose iterations differ in shape keeps
/// values for its gradient in it. Only scans read it. Only its type has unknown extents after the first.
any_array make_tensor_list(dtype type, std::vector<any_array> slices);

/// Returns the arrays of a tensor list; null for other arrays.
const std::vector<any_array>* tensor_list_items(const any_array& a);

/// Returns true for the type of a tensor list.
inline bool is_tensor_list(const tensor_type& t) { return t.type != dtype::invalid && !t.shape.complete(); }

/// Throws unimplemented if an input is a tensor list: only scans accept one.
void refuse_tensor_lists(std::span<const tensor_type> inputs);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/tensor_list.ipp>
#endif
