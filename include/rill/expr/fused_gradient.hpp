// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/expr/fused_op.hpp>

// Gradients of fused nodes. `fused_gradient`, which fused_op.hpp declares, adds one node for those of all inputs: the compiled
// adjoint kernel where there is one, the traced program elsewhere (second and higher derivatives).

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What differentiating a program gave: the program of the adjoints, the constants it needs beside the node's own
/// scalars, and per group of leaves whether a gradient flows. One that reads no operands has as leaves the result, if it reads
/// that, and the gradient, and none of the node's scalars.
struct adjoint_program {
    program_ptr body;
    pullback_reads reads = pullback_reads::operands;
    vector<scalar_value> constants;
    std::vector<char> flows;
};

/// Differentiates a program: leaves are grouped by handle, `seeded` says which results have a gradient (each becomes a
/// leaf after the old ones). Adjoints of a group are added up within the program, by `add`. `by_result`: the leaves may be the
/// result, where it is read, and its gradient instead, if no operand is read; `reads` of what comes of it says so.
adjoint_program differentiate(const program& p, const vector<scalar_value>& scalars, const std::vector<char>& seeded,
                              const std::vector<std::vector<int>>& groups, const elementwise_info& add,
                              bool by_result = false);

/// What is remembered of it.
struct known_adjoint {
    adjoint_program made;
    last_fused_op op;
};

/// The same, remembered as long as there are not too many others: programs are shared by all nodes of one structure.
std::shared_ptr<const known_adjoint> differentiate_once(const program_ptr& p, const vector<scalar_value>& scalars,
                                                        const std::vector<char>& seeded,
                                                        const std::vector<std::vector<int>>& groups,
                                                        const elementwise_info& add, bool by_result = false);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/expr/fused_gradient.ipp>
#endif
