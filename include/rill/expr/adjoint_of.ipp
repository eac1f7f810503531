// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/adjoint_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/expr/fused_gradient.hpp>
#include <rill/expr/tracer.hpp>
#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A parser of program keys. It numbers values as a tracer does: leaves, scalars and instructions each from a base.
class key_parser {
public:
    explicit key_parser(std::string_view key) : rest_(key) {}

    std::optional<program> parse() {
        if (rest_.starts_with("program ")) return parse_spelled();
        const int root = value(0);
        if (root < 0 || !rest_.empty()) return {};
        const auto number = [&](int v) {
            if (v >= tracer::code_base) return made_.first_instruction() + v - tracer::code_base;
            return v >= tracer::scalar_base ? made_.first_scalar() + v - tracer::scalar_base : v;
        };
        for (auto& i : made_.code)
            for (int& a : i.args) a = number(a);
        made_.results = {number(root)};
        return std::move(made_);
    }

private:
    static constexpr int deepest = 64; // compiled expressions are less deep

    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::string_view word() {
        const auto end = rest_.find_first_of("(),:$[]");
        const auto taken = rest_.substr(0, end);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    dtype type() {
        const auto name = word();
        for (int d = 1; d < dtype_count; ++d)
            if (to_string(static_cast<dtype>(d)) == name) return static_cast<dtype>(d);
        return dtype::invalid;
    }
    dtype type_of(int v) const {
        if (v >= tracer::code_base) return made_.code[v - tracer::code_base].type;
        return v >= tracer::scalar_base ? made_.scalars[v - tracer::scalar_base] : made_.leaves[v];
    }

    /// Parses "$2:float32" or "s0:float32" from its number on. Operands of a kind must be numbered in order.
    int operand(std::vector<dtype>& all, int base, std::string_view number) {
        if (number != std::to_string(all.size()) || !take(':')) return -1;
        all.push_back(type());
        return all.back() == dtype::invalid ? -1 : base + static_cast<int>(all.size()) - 1;
    }

    /// Parses one value. Returns its number, or -1 if the text is malformed.
    int value(int depth) {
        if (depth > deepest) return -1;
        if (take('$')) return operand(made_.leaves, 0, word());
        const auto name = word();
        if (!take('(')) return name.starts_with('s') ? operand(made_.scalars, tracer::scalar_base, name.substr(1)) : -1;
        program::instruction i{};
        do {
            i.args.push_back(value(depth + 1));
            if (i.args.back() < 0) return -1;
        } while (take(','));
        if (!take(')')) return -1;
        i.type = take(':') ? type() : type_of(i.args[0]);
        const auto* const op = find_registered_op(name, i.type);
        if (!op || !op->elementwise || op->operands != static_cast<int>(i.args.size())) return -1;
        i.op = op->elementwise;
        made_.code.push_back(std::move(i));
        return tracer::code_base + static_cast<int>(made_.code.size()) - 1;
    }

    // spelled-out keys: "program float32; float64; Mul:float32 0 0 -> 2"

    std::string_view next() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        const auto taken = rest_.substr(0, rest_.find_first_of(" ;"));
        rest_.remove_prefix(taken.size());
        return taken;
    }
    bool at_end_of_list() const { return rest_.starts_with(";") || rest_.starts_with(" ->"); }
    dtype type_named(std::string_view name) {
        std::swap(rest_, name);
        const dtype found = type();
        std::swap(rest_, name);
        return found;
    }
    bool types(std::vector<dtype>& all) {
        while (!rest_.empty() && !at_end_of_list())
            if (all.push_back(type_named(next())); all.back() == dtype::invalid) return false;
        return !rest_.empty();
    }
    /// Returns the number that the digits spell, or -1 if no earlier value has it.
    int known(std::string_view digits) const {
        if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != digits.npos) return -1;
        int n = 0;
        for (const char c : digits) n = 10 * n + (c - '0');
        return n < made_.first_instruction() + static_cast<int>(made_.code.size()) ? n : -1;
    }
    std::optional<program> parse_spelled() {
        (void)next();
        if (!types(made_.leaves) || !take(';') || !types(made_.scalars)) return {};
        while (take(';')) {
            const auto name = next();
            const auto colon = name.find(':');
            if (colon == name.npos) return {};
            program::instruction i{};
            i.type = type_named(name.substr(colon + 1));
            const auto* const op = find_registered_op(name.substr(0, colon), i.type);
            if (!op || !op->elementwise || i.type == dtype::invalid) return {};
            i.op = op->elementwise;
            for (int k = 0; k < op->operands; ++k)
                if (i.args.push_back(known(next())); i.args.back() < 0) return {};
            made_.code.push_back(std::move(i));
        }
        if (next() != "->") return {};
        do {
            made_.results.push_back(known(next()));
            if (made_.results.back() < 0) return {};
        } while (!rest_.empty());
        return std::move(made_);
    }

    std::string_view rest_;
    program made_;
};

RILL_COLD std::optional<program> program_of_key(std::string_view key) {
    auto made = key_parser(key).parse();
    if (!made || (expression_key(*made) != key && spelled_key(*made) != key)) return {};
    made->key = key;
    return made;
}

/// Returns the leaves that each result sums, according to its mask; nothing if the masks are invalid.
inline std::optional<std::vector<std::vector<int>>> groups_of(const fused_spec& spec, const program& forward) {
    constexpr std::size_t most = 32; // leaves: the bits of a mask
    const std::size_t leaves = forward.leaves.size();
    if (leaves > most) return {};
    std::vector<std::vector<int>> groups;
    std::uint32_t seen = 0;
    for (const auto& r : spec.results) {
        if ((r.mask & seen) != 0) return {};
        seen |= r.mask;
        auto& group = groups.emplace_back();
        for (std::size_t l = 0; l < most; ++l)
            if (r.mask >> l & 1) group.push_back(static_cast<int>(l));
        if (group.empty() || static_cast<std::size_t>(group.back()) >= leaves) return {};
        for (const int l : group)
            if (!is_differentiable(forward.leaves[l]) || forward.leaves[l] != forward.leaves[group[0]]) return {};
    }
    return groups;
}

/// Returns true if each result sums the leaves of one input. The node must have the leaves of the program it differentiates.
inline bool fits_leaves(const fused_spec& spec, const std::vector<std::vector<int>>& groups) {
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const auto& r = spec.results[k];
        const auto& first = spec.leaves[groups[k][0]];
        for (const int l : groups[k])
            if (!(spec.leaves[l] == first)) return false;
        const bool mapped = first.view.how == combine::map;
        if (r.like != (mapped ? first.input : -1) || !(r.reduce == (mapped ? reduction() : first.view))) return false;
    }
    return true;
}

RILL_COLD bool is_adjoint(const fused_spec& spec, const elementwise_info& add) {
    const auto forward = program_of_key(spec.body->adjoint_of);
    if (!forward) return false;
    const bool by_result = spec.kind == fused_spec::form::by_result;
    const std::size_t own = by_result ? 0 : forward->scalars.size();
    if (!by_result && (spec.leaves.size() != forward->leaves.size() + 1 || spec.scalars.size() < own)) return false;
    const auto groups = groups_of(spec, *forward);
    if (!groups || !(by_result || fits_leaves(spec, *groups))) return false;
    try {
        const vector<scalar_value> first(std::span(spec.scalars).first(own));
        const auto again = differentiate(*forward, first, {1}, *groups, add, by_result);
        const auto more = std::span(spec.scalars).subspan(own);
        return by_result == (again.reads != pullback_reads::operands) && again.body->key == spelled_key(*spec.body) &&
               std::equal(more.begin(), more.end(), again.constants.begin(), again.constants.end());
    } catch (const error&) {
        return false; // this process lacks a pullback
    }
}

}}} // namespace rill::RILL_ABI::detail
