// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE endpoint named_edge(const endpoint& e, const std::string& name, const std::source_location& where) {
    require_kernel<identity_op, void>();
    return {add_node(graph(*checked(e).from->owner), make_op(identity_op{}), {e}, name, false, where), 0};
}

} // namespace rill::inline RILL_ABI::detail
