// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void refuse_untyped(std::string_view op, const std::string& why, const std::vector<endpoint>& operands) {
    std::string text;
    for (const auto& e : operands)
        text += (text.empty() ? "" : ", ") + name_of(e) + " " + to_string(type_of(e)) + ", made at " +
                to_string(e.from->where);
    throw invalid_argument(snake_case(op) + ": " + why + " (" + text + ")");
}

RILL_INLINE endpoint add_over(const graph& g, op_ptr made, std::uint32_t taken, std::span<const endpoint> inputs,
                              const std::source_location& where) {
    if (taken != 0 && !inputs.empty())
        if (const dtype type = type_of(inputs[0]).type; (taken >> static_cast<int>(type) & 1u) == 0)
            refuse_untyped(made->label(), "it does not take " + std::string(to_string(type)),
                           {inputs.begin(), inputs.end()});
    return {add_node(g, std::move(made), inputs, {}, true, where), 0};
}

RILL_INLINE endpoint apply_untyped(const elementwise_info& op, dtype fixed_result, untyped_arguments&& a,
                                   const graph& g) {
    std::vector<dtype> leaves;
    for (const auto& e : a.inputs) leaves.push_back(type_of(e).type);
    tracer t(leaves, a.scalars);
    t.fix_scalars(a.scalars.size());
    std::vector<int> args;
    for (const int o : a.order) args.push_back(o >= 0 ? t.leaf(o) : t.scalar(static_cast<std::size_t>(~o)));
    const dtype result = fixed_result == dtype::invalid ? t.type_of(args.back()) : fixed_result;
    return add_program(g, t.finish_op(t.emit(op, result, args)), std::move(a.scalars), std::move(a.inputs));
}

}}} // namespace rill::RILL_ABI::detail
