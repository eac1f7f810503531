// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include <rill/expr/fused_op.hpp>

// Fused nodes that come from a file say which compiled kernels serve them. That of an adjoint is named by the program it
// differentiates: whether it does is found out by differentiating that program again.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A program from its key, be it that of an expression ("Mul(Add($0:float32,s0:float32),$1:float32)") or spelled out. None for what
/// is no key, or has ops in it that this process lacks.
std::optional<program> program_of_key(std::string_view key);

/// Whether a fused node is the adjoint of the program it names: its own program is what differentiating that one gives, and its
/// results are the sums that their masks say.
bool is_adjoint(const fused_spec& spec, const elementwise_info& add);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/expr/adjoint_of.ipp>
#endif
