// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Every op of the catalogue by name, with its kernels for the common element types that it takes, whether or not the program's
// typed functions need them: for programs that look up kernels of ops which they do not name. Include it in one file. Header-only it is
// dear to compile. With rill::kernels it brings all that the library holds: programs that read graphs, or are told element types at run
// time by any_placeholder or any_variable, have that without it.

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
