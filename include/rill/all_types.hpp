// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of all ops for the element types that few programs use: half, bfloat16, 8 and 16 bits, unsigned, complex. For programs
// that run graphs of such types which they did not write, or any_tensors of them; a typed function brings its own. Include it in one
// file. With rill::kernels it brings what the library holds (unless RILL_KERNEL_RARE_TYPES is OFF). In programs of headers alone it
// stands beside <rill/src.hpp> or <rill/all_kernels.hpp>, which then takes two minutes more.

#include <rill/all_kernels.hpp>

#if !RILL_COMPILED || RILL_DEFINE
#include <rill/all_types.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool rare_types_at_start = (register_rare_kernels(&compile_rare_types), name_rare_casts(), true);

}}} // namespace rill::RILL_ABI::detail
#endif
