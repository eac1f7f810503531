// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/graph/op/fields.hpp>

// Fields of ops as bytes: each by name, with its kind and length, so that a reader finds what it knows, keeps its own default
// for what is missing, and refuses what it does not know. Little-endian.

namespace rill { inline namespace RILL_ABI {

class op;

/// The fields of an op, written.
std::string bytes_of_fields(const op& o);

/// Loads fields from such bytes, whatever they hold: `load` is called once with a visitor that does it. Throws invalid_argument
/// for anything malformed or left over, unimplemented (with all of their names) for elementwise ops that this process lacks, and
/// never reads or makes room beyond what is there. Nothing is believed: the key by which compiled kernels are found is worked out
/// anew, and an adjoint that is not that of the program it names is run as the program it is.
void load_fields(std::string_view bytes, const std::function<void(field_visitor&)>& load);

namespace detail {

/// An array in the same form, alone.
std::string bytes_of_array(const any_array& a);
any_array array_of_bytes(std::string_view bytes);

/// Ops that this process lacks, or knows in an older version only.
struct lacking_ops final : unimplemented {
    explicit lacking_ops(std::vector<std::string> all);
    std::vector<std::string> ops; // as `described`

private:
    static std::string text_of(const std::vector<std::string>& all);
};
std::string described(std::string_view op, int version, int known);

/// Whether a fused node that was read is the adjoint it says it is: expr/ can tell. Until it is set, none is.
using adjoint_check = bool (*)(const fused_spec&);
void set_adjoint_check(adjoint_check check);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/op/field_bytes.ipp>
#endif
