// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>

#include <cstddef>
#include <iterator>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE dtype program::type_of(int value) const {
    const auto at = static_cast<std::size_t>(value);
    if (value < first_scalar()) return leaves[at];
    if (value < first_instruction()) return scalars[at - leaves.size()];
    return code[at - leaves.size() - scalars.size()].type;
}

RILL_INLINE bool divides_integers(const program& p) {
    for (const auto& i : p.code)
        if (i.op->divides && !is_differentiable(i.type)) return true;
    return false;
}

RILL_INLINE std::string result_suffix(dtype result, dtype first_operand) {
    return result == first_operand ? std::string() : ":" + std::string(to_string(result));
}

RILL_INLINE std::string instruction_key(const program& p, const program::instruction& i, int scalar) {
    std::string key = std::string(i.op->name) + "(";
    int leaf = 0;
    for (int k = 0; k < static_cast<int>(i.args.size()); ++k)
        key += (k ? "," : "") + (k == scalar ? "s0" : "$" + std::to_string(leaf++)) + ":" +
               std::string(to_string(p.type_of(i.args[k])));
    return key + ")" + result_suffix(i.type, p.type_of(i.args[0]));
}

RILL_INLINE bool is_one_op(const program& p) {
    if (p.code.size() != 1 || !p.scalars.empty() || p.code[0].args.size() != p.leaves.size()) return false;
    for (std::size_t k = 0; k < p.leaves.size(); ++k)
        if (p.code[0].args[k] != static_cast<int>(k)) return false;
    return true;
}

RILL_INLINE const std::string& fused_spec::kernel() const {
    static const std::string& none = *new std::string;
    return kind == form::forward ? body->key : kind == form::adjoint ? body->adjoint_of : none;
}

RILL_INLINE shape_result fused_space(const fused_spec& spec, std::span<const tensor_type> inputs) {
    shape_result space;
    for (const auto& l : spec.leaves) {
        if (l.view.how != combine::map) continue;
        space = rules::broadcast(space.shape, inputs[l.input].shape);
        if (!space.ok()) break;
    }
    return space;
}

}} // namespace rill::RILL_ABI
