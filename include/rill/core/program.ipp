// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE dtype program::type_of(int value) const {
    const auto at = static_cast<std::size_t>(value);
    if (value < first_scalar()) return leaves[at];
    if (value < first_instruction()) return scalars[at - leaves.size()];
    return code[at - leaves.size() - scalars.size()].type;
}

RILL_COLD double program::work() const {
    double additions = 0;
    for (const auto& i : code) additions += i.op->cost;
    return additions;
}

RILL_COLD bool program::uses(int value) const {
    return detail::contains(results, value) ||
           detail::any_of(code, [value](const instruction& i) { return detail::contains(i.args, value); });
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

RILL_COLD std::string spelled_key(const program& p) {
    std::string key = "program";
    for (const auto d : p.leaves) key.append(" ").append(to_string(d));
    key += ";";
    for (const auto d : p.scalars) key.append(" ").append(to_string(d));
    for (const auto& i : p.code) {
        key.append("; ").append(i.op->name).append(":").append(to_string(i.type));
        for (const int a : i.args) key.append(" ").append(std::to_string(a));
    }
    key += " ->";
    for (const int r : p.results) key.append(" ").append(std::to_string(r));
    return key;
}

namespace detail {

/// A writer of an expression's key, from its root. It reports whether all operands came in order.
struct expression_speller {
    const program& p;
    int leaf = 0, scalar = 0, instruction = 0;
    std::string text = {};

    bool spell(int value) {
        if (value >= p.first_instruction()) return spell_op(value - p.first_instruction());
        const bool is_leaf = value < p.first_scalar();
        const int number = is_leaf ? leaf++ : scalar++;
        text.append(is_leaf ? "$" : "s").append(std::to_string(number)).append(":").append(to_string(p.type_of(value)));
        return value == (is_leaf ? number : p.first_scalar() + number);
    }

private:
    bool spell_op(int at) {
        const auto& i = p.code[at];
        text += i.op->name;
        for (std::size_t k = 0; k < i.args.size(); ++k) {
            text += k == 0 ? '(' : ',';
            if (!spell(i.args[k])) return false;
        }
        text.append(")").append(result_suffix(i.type, p.type_of(i.args[0])));
        return at == instruction++;
    }
};

} // namespace detail

RILL_COLD std::string expression_key(const program& p) {
    constexpr std::size_t most = 64; // instructions
    if (p.results.size() != 1 || p.code.size() > most) return {};
    detail::expression_speller s{p};
    const bool whole = s.spell(p.results[0]) && s.leaf == p.first_scalar() &&
                       s.scalar == static_cast<int>(p.scalars.size()) &&
                       s.instruction == static_cast<int>(p.code.size());
    return whole && s.leaf > 0 ? std::move(s.text) : std::string();
}

RILL_INLINE bool is_one_op(const program& p) {
    if (p.code.size() != 1 || !p.scalars.empty() || p.code[0].args.size() != p.leaves.size()) return false;
    for (std::size_t k = 0; k < p.leaves.size(); ++k)
        if (p.code[0].args[k] != static_cast<int>(k)) return false;
    return true;
}

RILL_INLINE const std::string& fused_spec::kernel() const {
    static const std::string& none = *new std::string;
    return kind == form::forward ? body->key : is_adjoint() ? body->adjoint_of : none;
}

RILL_COLD bool fused_spec::reads_leaf(std::size_t k) const {
    const bool may_be_compiled = is_adjoint() || (kind == form::forward && !body->key.starts_with("program "));
    return may_be_compiled || body->uses(static_cast<int>(k));
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
