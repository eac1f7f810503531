// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <rill/core/program.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Merges the nodes of a fusion group into one program. Its leaves are fused_stages::leaves_of(group); its results are the group's.
program join_members(const fusion_group& group, std::size_t results, program_nodes* nodes = nullptr);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/joined_program.ipp>
#endif
