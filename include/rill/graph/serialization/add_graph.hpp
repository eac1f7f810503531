// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Adds the nodes of one graph to another, below a new name scope unless the prefix is empty. Throws already_exists for names that are
/// taken, before it adds anything.
void add_graph(const graph& from, const graph& to, const std::string& prefix, const std::source_location& where = {});

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/graph/serialization/add_graph.ipp>
#endif
