// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Lets ops take over what produces their inputs where they can do that work themselves (a product reads a transposed
/// matrix as it lies) or what alone follows them (a product adds the bias), lets what reads a variable by another name read it
/// itself, and drops what nobody needs any more. Works after feeds have cut edges.
subgraph absorb_producers(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/fold_operands.ipp>
#endif
