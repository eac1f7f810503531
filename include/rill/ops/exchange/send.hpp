// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/core/wire_format.hpp>
#include <rill/device/rendezvous.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Sends its operand to the rendezvous of the step, without waiting. Without an operand, as for a control edge, it sends an empty
/// array.
struct send_op {
    static constexpr auto name = "Send", label = "send";
    static constexpr int least_inputs = 0;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "it joins parts of a run, which are made after gradients";
    static constexpr bool stateful = true;
    std::int32_t edge = 0; // number of the edge in the run
    std::int32_t wire = 0; // wire_format

    static void fields(auto& op, auto& visit) {
        visit("edge", op.edge);
        visit("wire", op.wire);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const {
        const auto to = static_cast<std::uint32_t>(edge);
        if (r.inputs.empty())
            return kernel(
                [to](const kernel_args& a) { detail::exchange_of(a).send(to, any_array(dtype::uint8, dims{0})); });
        return kernel([to, form = static_cast<wire_format>(wire), type = r.inputs[0]](const kernel_args& a) {
            detail::exchange_of(a).send(to, detail::packed(a.array(type, 0), form));
        });
    }
};

namespace detail {

/// Throws invalid_argument unless the fields of an exchange op are a valid edge number and wire_format.
void check_edge(const char* op, std::int32_t edge, std::int32_t wire);

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE void detail::check_edge(const char* op, std::int32_t edge, std::int32_t wire) {
    if (edge < 0) throw invalid_argument(std::string(op) + ": edge " + std::to_string(edge) + " is negative");
    if (wire < 0 || wire > static_cast<std::int32_t>(wire_format::upper16))
        throw invalid_argument("wire is " + std::to_string(wire) +
                               "; 0 (as is), 1 (bfloat16) and 2 (upper16) are known");
}

RILL_INLINE std::vector<tensor_type> send_op::outputs(std::span<const tensor_type> in) const {
    if (in.size() > 1) throw invalid_argument("send: takes one value, not " + std::to_string(in.size()));
    detail::check_edge(label, edge, wire);
    return {};
}

}} // namespace rill::RILL_ABI
#endif
