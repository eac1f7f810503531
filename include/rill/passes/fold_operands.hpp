// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Lets ops absorb neighbours, and drops items that are then unused. An op may absorb a producer: a matrix product reads a transposed
/// operand in place. An op may absorb its only reader: a matrix product adds the bias. Both must run on one device. A reader of a
/// variable's identity reads the variable itself. Runs after feeds have cut edges, on placed items.
subgraph fold_producers(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/fold_operands.ipp>
#endif
