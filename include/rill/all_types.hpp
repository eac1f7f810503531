// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of all ops for rarely used element types: half, bfloat16, 8 and 16 bits, unsigned, complex. It serves programs that
// run foreign graphs of such types, or any_tensors of them; typed functions compile their own kernels. Include it in one file. With
// rill::kernels it links the library's kernels (unless RILL_KERNEL_RARE_TYPES is OFF). In header-only programs include it beside
// <rill/src.hpp> or <rill/all_kernels.hpp>, which then takes two minutes longer to compile.

#include <rill/all_kernels.hpp>

#if !RILL_COMPILED || RILL_DEFINE
#include <rill/all_types.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool rare_types_at_start = (register_rare_kernels(&compile_rare_types), name_rare_casts(), true);

}}} // namespace rill::RILL_ABI::detail
#endif
