// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/runtime/program/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A value of one element, whatever its rank.
inline bool is_number(const tensor_type& t) {
    return t.shape.size() == 1 && t.type != dtype::string && t.type != dtype::invalid;
}

/// What a bound graph computes, where that is numbers from numbers by fused nodes alone.
struct region_scalars {
    struct input {
        int feed = -1;       // the number of one
        any_array invariant; // else its value
    };
    fusion_group chain; // without results of its own
    vector<input> inputs;
    std::vector<fusion_group::source> fetches;
};

/// Nothing where it computes anything else, somewhere else, or what may fail.
std::optional<region_scalars> numbers_of(const bound_graph& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/region_scalars.ipp>
#endif
