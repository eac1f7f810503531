// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/exchange/receive.hpp>
#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Receives the values that the SendBundle of its edge sends. The wait holds no thread.
struct receive_bundle_op {
    static constexpr auto name = "RecvBundle", label = "receive_bundle";
    static constexpr int inputs = 0;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = send_op::no_gradient;
    static constexpr bool stateful = true, is_async = true, has_dynamic_outputs = true;
    std::int32_t edge = 0;               // number of the edge in the run
    std::vector<tensor_type> components; // complete types
    std::int32_t wire = 0;               // wire_format
    bool takes_turns = false;            // see receive_op

    static void fields(auto& op, auto& visit) {
        visit("edge", op.edge);
        detail::visit_components(op.components, visit);
        visit("wire", op.wire);
        visit("takes_turns", op.takes_turns);
    }
    step_ordering ordering_of() const { return takes_turns ? step_ordering::reads : step_ordering::none; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([from = static_cast<std::uint32_t>(edge), form = static_cast<wire_format>(wire),
                       types = components](const kernel_args& a) {
            detail::receive_with(a, from, [=](any_array message) { return detail::unbundled(message, types, form); });
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> receive_bundle_op::outputs(std::span<const tensor_type>) const {
    detail::check_edge(label, edge, wire);
    for (const auto& t : components)
        if (!t.shape.complete() || !t.countable() || t.type == dtype::string)
            throw invalid_argument("receive_bundle: " + to_string(t) + " has no fixed size");
    return components;
}

}} // namespace rill::RILL_ABI
#endif
