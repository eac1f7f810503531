// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/jit_ir.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/jit/factor_common_terms.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD int jit_ir::emit(const ir_instruction& i) {
    if (i.op == vector_op::mul) // drop factors of 1
        for (const int k : {0, 1})
            if (is_one(i.args[static_cast<std::size_t>(k)], bytes_of(i)))
                return i.args[static_cast<std::size_t>(1 - k)];
    const auto [at, fresh] = known_.try_emplace(i, static_cast<int>(code_.size()));
    if (fresh) code_.push_back(i);
    return at->second;
}

RILL_COLD bool jit_ir::is_one(int v, int element_bytes) const {
    const auto& i = code_[static_cast<std::size_t>(v)];
    return i.op == vector_op::constant &&
           rows_[static_cast<std::size_t>(i.number)] == row_of(bits_of(1, element_bytes), element_bytes);
}

RILL_COLD void jit_ir::begin_node() {
    std::erase_if(known_, [](const auto& k) { return operands_of(k.first.op) > 0; });
}

/// Returns a row of equal elements.
RILL_COLD auto jit_ir::row_of(std::uint64_t bits, int element_bytes) -> row {
    row r{};
    for (std::size_t k = 0; k < r.size(); ++k)
        r[k] = static_cast<std::uint32_t>(element_bytes == 8 && k % 2 != 0 ? bits >> 32 : bits);
    return r;
}

RILL_COLD std::uint64_t jit_ir::bits_of(double value, int element_bytes) {
    return element_bytes == 8 ? std::bit_cast<std::uint64_t>(value)
                              : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

RILL_COLD int jit_ir::constant_bits(std::uint64_t bits) { return constant_bits(bits, element_bytes_); }
RILL_COLD int jit_ir::constant_bits(std::uint64_t bits, int element_bytes) {
    return constant_of(row_of(bits, element_bytes));
}

RILL_COLD int jit_ir::constant(double value) { return constant_bits(bits_of(value, element_bytes_)); }

RILL_COLD int jit_ir::constant_row(const float* values) {
    row r{};
    for (int k = 0; k < lanes_; ++k) r[static_cast<std::size_t>(k)] = std::bit_cast<std::uint32_t>(values[k]);
    return constant_of(r);
}

RILL_COLD int jit_ir::constant_of(const row& r) {
    const auto [at, fresh] = known_rows_.try_emplace(r, static_cast<int>(rows_.size()));
    if (fresh) rows_.push_back(r);
    return emit({vector_op::constant, at->second});
}

/// Returns the values that have readers other than instructions: the results and `whole`.
RILL_COLD std::vector<int> jit_ir::needed() const {
    auto all = results;
    all.insert(all.end(), whole.begin(), whole.end());
    return all;
}

RILL_COLD void jit_ir::join_products() {
    std::vector<int> uses(code_.size());
    for (const auto& i : code_)
        for (const int a : i.args)
            if (a >= 0) ++uses[static_cast<std::size_t>(a)];
    for (const int v : needed()) ++uses[static_cast<std::size_t>(v)];
    const auto product = [&](int v) {
        return code_[static_cast<std::size_t>(v)].op == vector_op::mul && uses[static_cast<std::size_t>(v)] == 1;
    };
    const auto factors = [&](int v) { return code_[static_cast<std::size_t>(v)].args; };
    for (auto& i : code_) {
        const auto [a, b, c, d] = i.args;
        if (i.op == vector_op::add && product(a))
            i = {vector_op::multiply_add, 0, {factors(a)[0], factors(a)[1], b, -1}, i.bytes};
        else if (i.op == vector_op::add && product(b))
            i = {vector_op::multiply_add, 0, {factors(b)[0], factors(b)[1], a, -1}, i.bytes};
        else if (i.op == vector_op::sub && product(a))
            i = {vector_op::multiply_sub, 0, {factors(a)[0], factors(a)[1], b, -1}, i.bytes};
        else if (i.op == vector_op::sub && product(b))
            i = {vector_op::sub_product, 0, {factors(b)[0], factors(b)[1], a, -1}, i.bytes};
    }
}

RILL_COLD void jit_ir::eliminate_common_subexpressions() {
    std::map<ir_instruction, int> known;
    std::vector<int> one_of(code_.size());
    for (std::size_t v = 0; v < code_.size(); ++v) {
        for (int& a : code_[v].args)
            if (a >= 0) a = one_of[static_cast<std::size_t>(a)];
        one_of[v] = known.try_emplace(code_[v], static_cast<int>(v)).first->second;
    }
    for (int& r : results) r = one_of[static_cast<std::size_t>(r)];
}

RILL_COLD void jit_ir::join_choices() {
    for (auto& i : code_) {
        if (i.op != vector_op::choose) continue;
        const auto& condition = code_[static_cast<std::size_t>(i.args[0])];
        const bool of_ints = condition.op == vector_op::int_compare;
        if (condition.bytes == i.bytes && (condition.op == vector_op::compare || of_ints))
            i = {vector_op::compare_choose,
                 condition.number + (of_ints ? of_integers : 0),
                 {condition.args[0], condition.args[1], i.args[1], i.args[2]},
                 i.bytes};
    }
}

/// Orders the needed values and their operands, each operand shortly before its first reader. Removes all other code.
RILL_COLD void jit_ir::order(const std::vector<int>& needed) {
    std::vector<int> at(code_.size(), -1), stack;
    std::vector<ir_instruction> ordered;
    for (const int r : needed) {
        stack.push_back(r);
        while (!stack.empty()) {
            const int v = stack.back();
            const auto& i = code_[static_cast<std::size_t>(v)];
            if (at[static_cast<std::size_t>(v)] >= 0) {
                stack.pop_back();
                continue;
            }
            const auto missing =
                detail::find_if(i.args, [&](int a) { return a >= 0 && at[static_cast<std::size_t>(a)] < 0; });
            if (missing != i.args.end()) {
                stack.push_back(*missing);
                continue;
            }
            stack.pop_back();
            at[static_cast<std::size_t>(v)] = static_cast<int>(ordered.size());
            ordered.push_back(i);
            for (int& a : ordered.back().args)
                if (a >= 0) a = at[static_cast<std::size_t>(a)];
        }
    }
    for (int& r : results) r = at[static_cast<std::size_t>(r)];
    for (int& w : whole) w = at[static_cast<std::size_t>(w)];
    std::erase(whole, -1);
    code_ = std::move(ordered);
}

RILL_COLD void jit_ir::finish() {
    factor_common_terms(code_, needed(), whole, [this](double x) { return constant(x); });
    order(needed());
    join_products();
    eliminate_common_subexpressions();
    order(results);
    if (wide()) join_choices();
    order(results);
    known_.clear();
}

}}} // namespace rill::RILL_ABI::detail
