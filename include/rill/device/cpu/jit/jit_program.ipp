// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/jit_program.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/fusion/joined_program.hpp>
#include <rill/device/cpu/jit/code_cache.hpp>
#include <rill/device/cpu/jit/jit_limits.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>
#include <rill/device/cpu/jit/x86_codegen.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the size of the numbers of a program: all leaves, scalars and results are numbers of one size. Returns 0 for other programs.
inline int element_bytes_of(const program& p) {
    int bytes = 0;
    const auto fits = [&](dtype d) {
        const int size = number_bytes(d);
        if (bytes == 0) bytes = size;
        return size != 0 && size == bytes;
    };
    const bool same = detail::all_of(p.leaves, fits) && detail::all_of(p.scalars, fits) &&
                      detail::all_of(p.results, [&](int r) { return fits(p.type_of(r)); }) &&
                      detail::all_of(p.code, [&](const auto& i) { return i.type == dtype::boolean || fits(i.type); });
    return same ? bytes : 0;
}
static_assert(std::has_single_bit(unsigned{partial_sums}));

inline bool translate(const program& p, const program_nodes& nodes, const operand_forms& forms, jit_ir& to) {
    std::vector<int> value;
    for (int k = 0; k < static_cast<int>(p.leaves.size()); ++k) {
        const auto is = [&](const std::vector<char>& all) { return !all.empty() && all[static_cast<std::size_t>(k)]; };
        value.push_back(is(forms.ones) ? to.constant(1)
                                       : to.emit({is(forms.splat) ? vector_op::splat : vector_op::leaf, k}));
    }
    for (int k = 0; k < static_cast<int>(p.scalars.size()); ++k) value.push_back(to.emit({vector_op::scalar, k}));
    for (std::size_t at = 0; at < p.code.size(); ++at) {
        if (detail::contains(nodes.begins, static_cast<int>(at))) to.begin_node();
        const auto& i = p.code[at];
        std::vector<int> args;
        for (const int a : i.args) args.push_back(value[static_cast<std::size_t>(a)]);
        const vector_emitter emit = find_vector_op(instruction_key(p, i));
        if (!emit) return false;
        value.push_back(emit(to, args.data()));
        if (value.back() < 0) return false;
    }
    for (const int r : p.results) {
        to.results.push_back(value[static_cast<std::size_t>(r)]);
        to.integers.push_back(p.type_of(r) == dtype::int32 || p.type_of(r) == dtype::int64);
    }
    for (const int v : nodes.gives) to.whole.push_back(value[static_cast<std::size_t>(v)]);
    to.summed = forms.summed;
    to.one_element = nodes.of_numbers;
    to.finish();
    return true;
}

inline std::vector<std::uint8_t> make_program(const program& p, int level, const program_nodes& nodes,
                                              const operand_forms& forms) {
    if (!emits_programs || level < 3 || !supports_level(level) || p.code.size() > most_jit_ops || p.results.empty() ||
        p.leaves.empty() || std::max(p.leaves.size(), p.results.size()) > most_jit_operands)
        return {};
    const int element_bytes = element_bytes_of(p);
    if (element_bytes == 0) return {};
    jit_ir code(lanes_at(level, element_bytes), element_bytes);
    return translate(p, nodes, forms, code) ? x86_loop(code) : std::vector<std::uint8_t>();
}

RILL_COLD block_function emit_program(const program& p, int level, const program_nodes& nodes,
                                      const operand_forms& forms) {
    std::string key = spelled_key(p) + " v" + std::to_string(level) + (nodes.of_numbers ? " numbers" : "");
    for (const auto& list : {nodes.begins, nodes.gives}) {
        key += ';';
        for (const int v : list) key += ' ' + std::to_string(v);
    }
    for (const auto& list : {forms.splat, forms.ones, forms.summed}) {
        key += ';';
        for (const char on : list) key += on ? '1' : '0';
    }
    return cached_function<block_function>(std::move(key), [&] { return make_program(p, level, nodes, forms); });
}

/// Returns true if the precompiled kernel of a single node is as good. Gradients of expressions are better compiled by the JIT, which
/// computes common parts of value and gradient once.
inline bool compiled_as_good(const fusion_group& group, int level) {
    if (group.members.size() > 1) return false;
    const auto& spec = *group.members[0].spec;
    if (is_one_op(*spec.body)) return true;
    const auto compiled = the_kernels().blocks.find(spec.kernel());
    return compiled && spec.kind == fused_spec::form::forward && compiled->forward && compiled->level >= level;
}

RILL_COLD block_function emit_fusion_group(const fusion_group& group, std::size_t results, index_t elements,
                                           const operand_forms& forms) {
    static const int level = best_level();
    if (level < 3 || elements < least_emitted_elements) return {};
    std::size_t ops = 0;
    for (const auto& member : group.members) ops += member.spec->body->code.size();
    if (ops > most_jit_ops || compiled_as_good(group, level)) return {};
    program_nodes nodes;
    const program joined = join_members(group, results, &nodes);
    return emit_program(joined, level, nodes, forms);
}

RILL_COLD bool is_emitted(const program& p, const program::instruction& i) {
    if (!runs_made_code()) return false;
    const auto emit = find_vector_op(instruction_key(p, i));
    if (!emit) return false;
    int element_bytes = number_bytes(i.type);
    for (const int a : i.args) element_bytes = std::max(element_bytes, number_bytes(p.type_of(a)));
    if (element_bytes == 0) element_bytes = 4; // truth values alone: the same code for each size
    jit_ir code(lanes_at(best_level(), element_bytes), element_bytes);
    std::vector<int> args;
    for (int k = 0; k < static_cast<int>(i.args.size()); ++k) args.push_back(code.emit({vector_op::leaf, k}));
    return emit(code, args.data()) >= 0;
}

RILL_COLD block_function emit_numbers(const program& p, const program_nodes& nodes, const operand_forms& forms) {
    return emit_program(p, best_level(), nodes, forms);
}

}}} // namespace rill::RILL_ABI::detail
