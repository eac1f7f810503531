// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/ops/exchange/send.hpp>

namespace rill { inline namespace RILL_ABI {

/// Sends its operands to the rendezvous of the step as one message, without waiting. Their shapes are those that the receiver expects.
struct send_bundle_op {
    static constexpr auto name = "SendBundle", label = "send_bundle";
    static constexpr int least_inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = send_op::no_gradient;
    static constexpr bool stateful = true;
    std::int32_t edge = 0; // number of the edge in the run
    std::int32_t wire = 0; // wire_format

    static void fields(auto& op, auto& visit) {
        visit("edge", op.edge);
        visit("wire", op.wire);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const {
        const std::vector<tensor_type> types(r.inputs.begin(), r.inputs.end());
        return kernel([types, to = static_cast<std::uint32_t>(edge),
                       form = static_cast<wire_format>(wire)](const kernel_args& a) {
            std::vector<any_array> all;
            for (std::size_t i = 0; i < types.size(); ++i) all.push_back(a.array(types[i], static_cast<int>(i)));
            detail::exchange_of(a).send(to, detail::bundled(all, form));
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> send_bundle_op::outputs(std::span<const tensor_type>) const {
    detail::check_edge(label, edge, wire);
    return {};
}

}} // namespace rill::RILL_ABI
#endif
