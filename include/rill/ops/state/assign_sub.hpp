// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/sub.hpp>
#include <rill/ops/state/assign.hpp>

namespace rill { inline namespace RILL_ABI {

/// Subtracts from a variable, in place and as one step. The output is the variable after the write.
struct assign_sub_op : detail::fused_write {
    static constexpr auto name = "AssignSub";
    using joins = sub_op; // the variable and the value

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return joined_outputs(in); }
};

}} // namespace rill::RILL_ABI
