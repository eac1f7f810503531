// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <rill/core/error.hpp>
#include <rill/graph/fields.hpp>

// Fields of ops as bytes: each by name, with its kind and length, so that a reader finds what it knows, keeps its own default
// for what is missing, and refuses what it does not know. Little-endian.

namespace rill { inline namespace RILL_ABI {

class op;

/// The fields of an op, written.
std::string bytes_of_fields(const op& o);

/// Loads fields from such bytes, whatever they hold: `load` is called once with a visitor that does it. Throws invalid_argument
/// for anything malformed or left over, and never reads or makes room beyond what is there. A program's key is believed: bytes
/// that choose kernels come from bytes_of_fields, not from strangers.
void load_fields(std::string_view bytes, const std::function<void(field_visitor&)>& load);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/field_bytes.ipp>
#endif
