// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI {

/// An argument of a body of a loop, a branch or a function.
struct argument_op {
    static constexpr auto name = "_Arg", label = "argument";
    static constexpr int inputs = 0;
    using domain_type = domains::every;
    static constexpr auto no_gradient = ""; // the op has no inputs
    static constexpr auto role = op_role::placeholder;
    static constexpr bool stateful = true; // CSE must keep both of two arguments
    tensor_type type;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> argument_op::outputs(std::span<const tensor_type>) const { return {type}; }

}} // namespace rill::RILL_ABI
#endif
