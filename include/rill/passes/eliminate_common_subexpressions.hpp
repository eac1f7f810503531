// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Common subexpressions: of pure items that do the same to the same values after the same items, the first is kept.
/// Works after feeds have cut edges, so nodes that differ only by name merge and fed ones don't.
subgraph eliminate_common_subexpressions(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/eliminate_common_subexpressions.ipp>
#endif
