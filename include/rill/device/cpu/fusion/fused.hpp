// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kernel of every fused node on the CPU, and of chains of them (whose outputs asked for are those of the request): block
/// functions run over blocks of elements, with stretched leaves laid out and results reduced block by block.
kernel fused_loops(const fused_spec& spec, kernel_request& request);
kernel fused_loops(const fusion_group& chain, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused.ipp>
#endif
