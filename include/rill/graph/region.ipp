// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/region.hpp>

#include <string>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::string text_of(const region& r) { return "'" + r.name + "' (made at " + to_string(r.where) + ")"; }

RILL_INLINE bool reaches(const region* from, const region* to) {
    while (to && to != from) to = to->parent;
    return to == from;
}

}} // namespace rill::RILL_ABI
