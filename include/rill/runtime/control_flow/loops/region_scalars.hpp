// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/runtime/segment/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if the type has exactly one element, of any rank.
inline bool is_number(const tensor_type& t) {
    return t.shape.size() == 1 && t.type != dtype::string && t.type != dtype::invalid;
}

/// The program of a bound graph that only computes scalars from scalars with fused nodes.
struct region_scalars {
    struct input {
        int feed = -1;       // the index of the feed; -1: a constant
        any_array invariant; // the constant
    };
    fusion_group group; // members without results of their own
    vector<input> inputs;
    std::vector<fusion_group::source> fetches;
};

/// Returns the program. Returns nothing if the graph computes anything else, runs on another device, or divides integers, which
/// may fail.
std::optional<region_scalars> numbers_of(const bound_graph& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/region_scalars.ipp>
#endif
