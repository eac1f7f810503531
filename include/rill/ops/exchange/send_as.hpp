// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rill/core/wire_format.hpp>
#include <rill/graph/scope.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/exchange/send.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns x itself. If a partition boundary cuts its edges, the value crosses in the given wire format. Gradient: g,
/// unchanged.
struct send_as_op {
    static constexpr auto name = "SendAs", label = "send_as";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr int alias = 0;
    std::int32_t wire = 0; // wire_format

    static void fields(auto& op, auto& visit) { visit("wire", op.wire); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const { return {r.gradient()}; }
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
};

/// Returns the float32 value x: send_as(x, wire_format::upper16). Nodes of other partitions receive the result in this wire format.
/// It overrides session_options::wire for that edge. The node is placed with x. Throws invalid_argument if x is not float32.
template <graph_operand X>
auto send_as(const X& x, wire_format form, const std::source_location& where = std::source_location::current()) {
    const auto value = sealed(x);
    const colocate_with beside(value);
    return apply_node(send_as_op{static_cast<std::int32_t>(form)}, detail::shape_of_first, where, value);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> send_as_op::outputs(std::span<const tensor_type> in) const {
    if (in.size() != 1) throw invalid_argument("send_as: takes one value, not " + std::to_string(in.size()));
    if (in[0].type != dtype::float32)
        throw invalid_argument("send_as: a value of dtype " + std::string(to_string(in[0].type)) +
                               " travels as it is; accepted are float32 values");
    detail::check_edge(label, 0, wire);
    return {in[0]};
}

}} // namespace rill::RILL_ABI
#endif
