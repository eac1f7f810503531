// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>

/// What the fused node that a tensor comes from computes.
inline const rill::fused_spec& spec_of(const rill::any_tensor& t) {
    return static_cast<const rill::fused_op*>(t.node()->op->attributes())->spec;
}
