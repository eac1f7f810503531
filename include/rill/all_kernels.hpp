// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Registers every op of the catalogue by name, with its kernels for the common element types that it accepts. It serves programs that
// look up kernels of ops which they do not name. Include it in one file. Header-only, it is slow to compile. With rill::kernels it
// links all kernels of the library. Programs that read graphs, or use any_placeholder or any_variable with a run-time dtype, get these
// without this header.

#include <rill/rill.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

bool register_catalogue();

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/all_kernels.ipp>
#endif

#if !RILL_IN_KERNELS
namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool catalogue_at_start = register_catalogue();

}}} // namespace rill::RILL_ABI::detail
#endif
