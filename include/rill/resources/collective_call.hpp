// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The number of elements from which a sum is cut into one piece per rank; each rank adds up its piece.
inline constexpr index_t pieces_from = 1 << 14;

enum class collective_kind : std::int32_t { all_reduce, all_gather, broadcast_from };

/// An exchange that a rank requests, without its value.
struct collective_call {
    collective_kind kind = collective_kind::all_reduce;
    index_t root = 0;        // the source rank of a broadcast
    std::string tensor = {}; // the name of the value; empty: unnamed
    /// Computes the result from the values, which are in order of rank.
    std::function<any_array(std::span<const any_array> values)> join = {};
};

/// Throws invalid_argument for a broadcast from an invalid rank.
void check_root(const collective_call& call, index_t ranks);

/// Returns an error message if two ranks request different exchanges: different kinds, value names, or incompatible values. Returns an
/// empty string otherwise. Names are compared without the suffixes that a graph gives to equal names ("mul_2").
std::string disagreement(index_t a, const collective_call& call_a, const tensor_type& type_a, index_t b,
                         const collective_call& call_b, const tensor_type& type_b);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void check_root(const collective_call& call, index_t ranks) {
    if (call.kind == collective_kind::broadcast_from && (call.root < 0 || call.root >= ranks))
        throw invalid_argument("broadcast_from: the rank is " + std::to_string(call.root) + "; there are " +
                               std::to_string(ranks) + ", numbered from 0");
}

/// Returns a name without the numeric suffixes of its parts: "a_1/mul_12" becomes "a/mul".
RILL_COLD std::string without_numbers(const std::string& name) {
    std::string made;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '_') {
            auto end = i + 1;
            while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
            if (end > i + 1 && (end == name.size() || name[end] == '/' || name[end] == ':')) {
                i = end - 1;
                continue;
            }
        }
        made += name[i];
    }
    return made;
}

/// Returns a rank's request as text: "float32 [2] ('w', to all_reduce)".
RILL_COLD std::string described_call(const collective_call& call, const tensor_type& type) {
    std::string to = call.kind == collective_kind::all_reduce   ? "all_reduce"
                     : call.kind == collective_kind::all_gather ? "all_gather"
                                                                : "broadcast_from rank " + std::to_string(call.root);
    return to_string(type) + " (" + (call.tensor.empty() ? "" : "'" + call.tensor + "', ") + "to " + to + ")";
}

RILL_COLD std::string disagreement(index_t a, const collective_call& call_a, const tensor_type& type_a, index_t b,
                                   const collective_call& call_b, const tensor_type& type_b) {
    auto mine = type_a, other = type_b;
    if (call_a.kind == collective_kind::all_gather && mine.shape.rank > 0 && other.shape.rank > 0)
        mine.shape[0] = other.shape[0];
    const bool are_same_calls = call_a.kind == call_b.kind && call_a.root == call_b.root &&
                                without_numbers(call_a.tensor) == without_numbers(call_b.tensor);
    if (are_same_calls && mine == other) return "";
    return "rank " + std::to_string(a) + " gives " + described_call(call_a, type_a) + ", and rank " +
           std::to_string(b) + " " + described_call(call_b, type_b) +
           (are_same_calls ? "" : "; all ranks build the same operations in the same order");
}

}}} // namespace rill::RILL_ABI::detail
#endif
