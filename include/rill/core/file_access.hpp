// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The files that the steps of a server may open. Kernels ask step_context::files before they open a file.
class file_access {
public:
    virtual ~file_access() = default;
    /// Throws permission_denied, with the path, if the file may not be opened.
    virtual void check(const std::string& path) const = 0;
};

}} // namespace rill::RILL_ABI
