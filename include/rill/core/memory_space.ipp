// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/memory_space.hpp>

#include <vector>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void copy_bytes(const memory_space* from_space, const void* from, const memory_space* to_space, void* to,
                          std::size_t bytes) {
    if (!from_space) return to_space->from_host(*to_space, from, to, bytes);
    if (!to_space) return copy_to_host(*from_space, from, to, bytes);
    if (from_space == to_space) return from_space->within(*from_space, from, to, bytes);
    std::vector<std::byte> host(bytes);
    copy_to_host(*from_space, from, host.data(), bytes);
    to_space->from_host(*to_space, host.data(), to, bytes);
}

}}} // namespace rill::RILL_ABI::detail
