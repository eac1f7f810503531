// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <rill/core/file_access.hpp>

namespace rill { inline namespace RILL_ABI {

/// Allows the steps of a server to open the files below a directory: .files = below("data"). Links that lead out of it are
/// refused.
std::shared_ptr<const file_access> below(const std::string& directory);

namespace detail {

/// Returns the access of a server without files: none.
const file_access& no_files();

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/server_files.ipp>
#endif
