// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/graph/op/fields.hpp>

// The binary form of op fields: each field with its name, kind and length, little-endian. A reader loads the fields it knows, keeps
// its own default for a missing one, and refuses an unknown one.

namespace rill { inline namespace RILL_ABI {

class op;

/// Returns the fields of an op as bytes.
std::string bytes_of_fields(const op& o);

/// Loads fields from untrusted bytes: calls `load` once with a visitor that reads them. Throws invalid_argument for malformed or
/// unread bytes. Throws unimplemented, with all their names, for elementwise ops that this process lacks. Never reads or allocates
/// more than the bytes allow. Recomputes the key that selects compiled kernels. A fused node that wrongly claims to be an adjoint runs
/// as its plain program.
void load_fields(std::string_view bytes, const std::function<void(field_visitor&)>& load);

namespace detail {

/// Converts an array to the same binary form, and back.
std::string bytes_of_array(const any_array& a);
any_array array_of_bytes(std::string_view bytes);

/// The error for ops that this process lacks, or has only in an older version.
struct lacking_ops final : unimplemented {
    explicit lacking_ops(std::vector<std::string> all);
    std::vector<std::string> ops; // texts made by `described`

private:
    static std::string text_of(const std::vector<std::string>& all);
};
std::string described(std::string_view op, int version, int known);

/// A function that checks whether a loaded fused node is the adjoint it claims to be; expr/ can tell. While none is set, every such
/// claim is rejected.
using adjoint_check = bool (*)(const fused_spec&);
void set_adjoint_check(adjoint_check check);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/op/field_bytes.ipp>
#endif
