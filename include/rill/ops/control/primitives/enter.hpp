// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/primitives/primitive_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Brings a value into the loop of a given name. The value enters the first iteration or, if it is constant, every one.
struct enter_op : detail::flow_primitive {
    static constexpr auto name = "Enter";
    static constexpr int inputs = 1;
    std::string frame;
    bool is_constant = false;
    std::int32_t parallel_iterations = 10;

    static void fields(auto& op, auto& visit) {
        visit("frame_name", op.frame);
        visit("is_constant", op.is_constant);
        visit("parallel_iterations", op.parallel_iterations);
    }
    control_flow_kind flow() const {
        return {control_flow_kind::form::enters, &frame, is_constant, parallel_iterations};
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

struct enter_options {
    bool is_constant = false;     // loop-invariant: the value needs no merge
    int parallel_iterations = 10; // iterations that may run at once
};

/// Brings x into the loop of that name: enter(x, "loop"). Enters of one name at one place of the graph enter the same loop.
template <graph_operand X>
auto enter(const X& x, const std::string& frame, const enter_options& options = {},
           const std::source_location& where = std::source_location::current()) {
    return detail::handle_like<X>(
        {detail::add_flow_node(enter_op{{}, frame, options.is_constant, options.parallel_iterations}, where, x), 0});
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> enter_op::outputs(std::span<const tensor_type> in) const {
    if (frame.empty()) throw invalid_argument("a loop needs a name");
    if (parallel_iterations < 1)
        throw invalid_argument("parallel_iterations must be at least 1, not " + std::to_string(parallel_iterations));
    return {in[0]};
}

}} // namespace rill::RILL_ABI
#endif
