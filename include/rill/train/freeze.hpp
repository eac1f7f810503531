// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns a new graph that computes the fetches, with the variables of a session as constants: export_graph(freeze(s, {logits}),
/// "model.rill"). It runs by names, in any program that has its ops, without an initializer. Throws failed_precondition for variables
/// without a value, with their names. Throws invalid_argument if a fetch needs a write of a variable.
graph freeze(const session& s, const std::vector<any_tensor>& fetches,
             const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/freeze.ipp>
#endif
