// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include <rill/expr/fused_op.hpp>

// A fused node from a file names the compiled kernels that serve it. The kernel of an adjoint is named by the program that it
// differentiates. Differentiating that program again shows whether the name is right.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Parses a program from its key: that of an expression ("Mul(Add($0:float32,s0:float32),$1:float32)") or a spelled-out one. Returns
/// nothing if the key is malformed, or names an op that this process lacks.
std::optional<program> program_of_key(std::string_view key);

/// Returns true if a fused node is the adjoint of the program that it names. Its own program must equal the derivative of that program.
/// Its results must be the sums that their masks describe.
bool is_adjoint(const fused_spec& spec, const elementwise_info& add);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/expr/adjoint_of.ipp>
#endif
