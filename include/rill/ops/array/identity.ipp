// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>

#include <span>
#include <string>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> identity_op::outputs(std::span<const tensor_type> in) const { return {in[0]}; }

RILL_INLINE std::vector<endpoint> identity_op::gradient(const gradient_request& r) const { return {r.gradient()}; }

RILL_INLINE endpoint detail::named_edge(const endpoint& e, const std::string& name, const std::source_location& where) {
    require_kernel<identity_op, void>();
    return {add_node(graph(*checked(e).from->owner), make_op(identity_op{}), {e}, name, false, where), 0};
}

} // namespace rill::inline RILL_ABI
