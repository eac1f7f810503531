// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Every op of the catalogue by name, with its kernels for the common element types that it takes, whether or not the program's
// typed functions need them: for header-only programs that run graphs they did not write. Dear to compile: include it in one
// file. rill::kernels holds all this.

#include <rill/rill.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

bool register_catalogue();

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/all_kernels.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool catalogue_at_start = register_catalogue(); // with rill::kernels, the first look-up does it

}}} // namespace rill::RILL_ABI::detail
#endif
