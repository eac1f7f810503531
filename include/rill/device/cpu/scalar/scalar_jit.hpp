// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct scalar_code;

/// Calls that compute floats from floats, one after the other, become one of machine code. What goes from one such call to another
/// is a number as others are; truth values are computed again where they are read. Repeated parts of long codes become calls of one
/// function. Where code can't be made, all stays as it is.
void join_calls(scalar_code& code, const code_emitter& emit);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_jit.ipp>
#endif
