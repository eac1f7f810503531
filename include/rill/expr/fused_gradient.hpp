// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/expr/fused_op.hpp>

// Gradients of fused nodes. `fused_gradient` (declared in fused_op.hpp) adds one node for the gradients of all inputs. It uses the
// compiled adjoint kernel if there is one, else the traced program (second and higher derivatives).

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The derivative of a program: the program of the adjoints, and the constants it needs beside the node's own scalars. `flows` tells for
/// each group of leaves whether it gets a gradient. If no operand is read, the leaves are the result (if read) and the gradient. The
/// program then has none of the node's scalars.
struct adjoint_program {
    program_ptr body;
    pullback_reads reads = pullback_reads::operands;
    vector<scalar_value> constants;
    std::vector<char> flows;
};

/// Differentiates a program. `groups` holds the leaves of each handle. `seeded` tells which results have a gradient; each gradient
/// becomes a leaf after the existing ones. `add` sums the adjoints of a group within the program. With `by_result`, if no operand is
/// read, the leaves are the result (if read) and its gradient; `reads` tells which case applies.
adjoint_program differentiate(const program& p, const vector<scalar_value>& scalars, const std::vector<char>& seeded,
                              const std::vector<std::vector<int>>& groups, const elementwise_info& add,
                              bool by_result = false);

/// A cached derivative, and the last op made from it.
struct known_adjoint {
    adjoint_program made;
    last_fused_op op;
};

/// Differentiates as above and caches the result, since all nodes of one structure share a program. A full cache is cleared.
std::shared_ptr<const known_adjoint> differentiate_once(const program_ptr& p, const vector<scalar_value>& scalars,
                                                        const std::vector<char>& seeded,
                                                        const std::vector<std::vector<int>>& groups,
                                                        const elementwise_info& add, bool by_result = false);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/expr/fused_gradient.ipp>
#endif
