// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels of the listed ops for the common element types, whether or not the program's typed functions need them: for
// header-only programs that run graphs they did not write. Dear to compile: include it in one file. rill::kernels holds them.

#include <rill/rill.hpp>

namespace rill::inline RILL_ABI::detail {

bool register_listed_kernels();

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/all_kernels.ipp>

namespace rill::inline RILL_ABI::detail {

inline const bool listed_kernels = register_listed_kernels(); // with rill::kernels, the first look-up does it

} // namespace rill::inline RILL_ABI::detail
#endif
