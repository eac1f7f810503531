// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <rill/ops/collective/collective.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the value of one rank on all ranks. The other ranks also provide a value, for its type. It waits until all ranks have provided a
/// value. Shape: that of the value.
struct broadcast_from_op : detail::collective_user {
    static constexpr auto name = "CollectiveBroadcast", label = "broadcast_from";
    using domain_type = domains::any;
    using compiled_types = types::common;
    index_t root = 0; // the rank whose value is returned

    static void fields(auto& op, auto& visit) {
        visit("root", op.root);
        visit("tensor", op.tensor);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        check_rank(in);
        if (root < 0) throw invalid_argument("the rank is " + std::to_string(root) + "; ranks are numbered from 0");
        return {in[2]};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::collective_kernel(
            r, {detail::collective_kind::broadcast_from, root, tensor,
                [at = root](std::span<const any_array> values) { return values[static_cast<std::size_t>(at)]; }});
    }
};

/// Returns the value of x on one rank: broadcast_from(x, group, 0). Not differentiable. Throws invalid_argument if the root is not a rank.
/// The run throws invalid_argument if the ranks' values have different types.
template <graph_operand X>
auto broadcast_from(const X& x, const collective_group& group, index_t root,
                    const std::source_location& where = std::source_location::current()) {
    if (root < 0 || root >= group.ranks())
        throw invalid_argument("broadcast_from: the rank is " + std::to_string(root) + "; there are " +
                               std::to_string(group.ranks()) + ", numbered from 0" + detail::at_place(where));
    const auto value = sealed(x);
    broadcast_from_op op;
    op.root = root;
    return detail::exchanged<std::remove_cvref_t<decltype(value)>>(op, value, group, where);
}

}} // namespace rill::RILL_ABI
