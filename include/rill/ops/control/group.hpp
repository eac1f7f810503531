// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/handle.hpp>

namespace rill::inline RILL_ABI {

/// Does nothing, after whatever it waits for.
struct no_op {
    static constexpr auto name = "NoOp", label = "group";
    static constexpr auto no_gradient = ""; // it has no value
    static constexpr bool stateful = true;

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    friend bool operator==(const no_op&, const no_op&) = default;
};

namespace detail {

operation add_group(std::vector<const node*> after, const std::string& name, const std::source_location& where);

} // namespace detail

/// An operation that has run when all of the given ones have: group(assign, enqueue).
template <node_handle... H>
    requires(sizeof...(H) > 0)
operation group(const H&... all) {
    return detail::add_group({static_cast<const node*>(all.node())...}, "group", {});
}
operation group(const std::vector<operation>& all, const std::string& name = "group",
                const std::source_location& where = std::source_location::current());

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/control/group.ipp>
#endif
