// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct scalar_code;

/// Merges successive calls that compute with numbers of one size into calls of machine code. Numbers that pass from
/// one merged call to another keep their places. Truth values are recomputed where they are read. Repeated parts of long codes share one
/// function. If a group cannot be compiled, all calls stay as they are.
void join_calls(scalar_code& code, const code_emitter& emit);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_jit.ipp>
#endif
