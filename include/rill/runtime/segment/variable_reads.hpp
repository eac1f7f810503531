// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Decides how runs read variables: which variables need a value at the start, which versions a frame holds, and how long. While a frame
/// holds a version, writers of other steps can't write in place.
///
/// A large variable that a run reads once, by a step that reads slices of it, is not held. If several such steps read it, it is held until
/// the last of them. A large version that a run has written is held only if a later step reads it.
void plan_variable_reads(bound_graph& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/variable_reads.ipp>
#endif
