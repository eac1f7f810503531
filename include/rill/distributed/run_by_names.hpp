// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <rill/distributed/wire_meta.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/plan_key.hpp>

// The wire form of a run: a graph, and the names of its feeds, fetches and targets.

namespace rill { inline namespace RILL_ABI { namespace detail {

run_names names_of(const plan_key& key);
/// Returns the nodes of untrusted names. Throws data_loss if the graph lacks one.
plan_key plan_key_of(const run_names& names, const graph& in);

/// Returns the bytes of a graph that holds only what the run needs. Variables keep their values, but not their initializers.
std::string bytes_of_run(const graph& g, const plan_key& key);

/// Returns an error of a run of `g` with the places of the nodes that it names. A graph crosses the wire without its places, so that a
/// task says "made at an unknown place".
std::exception_ptr with_places(const std::exception_ptr& problem, const graph& g) noexcept;

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/run_by_names.ipp>
#endif
