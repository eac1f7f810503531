// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/jit_loop.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/jit/code_cache.hpp>
#include <rill/device/cpu/jit/jit_limits.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>
#include <rill/device/cpu/jit/x86_codegen.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A translator of a loop over numbers to vector code.
class loop_translator {
public:
    loop_translator(const scalar_loop& loop, int level)
        : loop_(loop), element_bytes_(element_bytes()), code_(lanes_at(level, element_bytes_), element_bytes_),
          inputs_(loop.inputs.size(), none) {}

    /// Returns false if the loop has no vector code.
    bool translate() {
        auto& l = code_.loop.emplace();
        l.conditional = loop_.conditional, l.reverse = loop_.reverse;
        for (int i = 0; i < loop_.parts(); ++i) l.state_bytes.push_back(memory_bytes(loop_.inputs[index(i)]));
        if (detail::contains(l.state_bytes, 0)) return false;
        std::size_t ops = 0;
        for (const auto& member : loop_.group.members) ops += member.spec->body->code.size();
        if (ops > most_jit_ops) return false;
        for (const auto& member : loop_.group.members)
            if (!add(member)) return false;
        if (loop_.conditional && !add_result(loop_.condition, nullptr)) return false;
        for (const auto& from : loop_.next)
            if (!add_result(from, nullptr)) return false;
        for (const auto& from : loop_.stacked)
            if (!add_result(from, &l.stacked_bytes)) return false;
        code_.finish();
        return true;
    }

    const jit_ir& code() const { return code_; }
    const detail::vector<loop_code::operand>& operands() const { return operands_; }
    int work() const { return work_; } // of an iteration, in additions

private:
    static constexpr int none = -1;
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }
    /// Returns the bytes of an element in memory; 0 if there is no vector code for the type.
    static int memory_bytes(dtype type) { return type == dtype::boolean ? 1 : number_bytes(type); }

    /// Returns the usual size of the numbers. Code over doubles alone is as that of single nodes over doubles.
    int element_bytes() const {
        bool four = false, eight = false;
        const auto see = [&](dtype type) { (number_bytes(type) == 8 ? eight : four) |= number_bytes(type) > 0; };
        for (const auto type : loop_.inputs) see(type);
        for (const auto& member : loop_.group.members)
            for (const auto& i : member.spec->body->code) see(i.type);
        return eight && !four ? 8 : 4;
    }

    int emit(vector_op op, int number, dtype type) {
        const int bytes = memory_bytes(type);
        if (bytes == 0) return none;
        ir_instruction i{op, number};
        i.bytes = bytes == element_bytes_ ? 0 : bytes;
        return code_.emit(i);
    }
    int operand(const loop_code::operand& o, dtype type) {
        operands_.push_back(o);
        return emit(vector_op::splat, static_cast<int>(operands_.size()) - 1, type);
    }
    int input(int i) {
        int& known = inputs_[index(i)];
        const auto type = loop_.inputs[index(i)];
        if (known == none)
            known = loop_.is_invariant(i) ? operand({i, {}}, type)
                    : i < loop_.parts()   ? emit(vector_op::state, i, type)
                                          : emit(vector_op::leaf, i - loop_.parts(), type);
        return known;
    }
    int constant(const scalar_value& value) {
        // a factor of 1 is dropped
        if (value == scalar_value(1.f)) return code_.constant_bits(std::bit_cast<std::uint32_t>(1.f), 4);
        if (value == scalar_value(1.)) return code_.constant_bits(std::bit_cast<std::uint64_t>(1.), 8);
        for (std::size_t k = 0; k < operands_.size(); ++k)
            if (operands_[k].input < 0 && operands_[k].constant == value)
                return emit(vector_op::splat, static_cast<int>(k), value.type);
        return operand({-1, value}, value.type);
    }
    int value_of(const scalar_loop::source& from) {
        return from.member < 0 ? input(from.index) : made_[index(from.member)][index(from.index)];
    }

    bool add(const fusion_group::member& member) {
        code_.begin_node();
        const auto& spec = *member.spec;
        const auto& body = *spec.body;
        std::vector<int> value, args;
        for (const auto& l : spec.leaves) value.push_back(value_of(member.inputs[index(l.input)]));
        for (const auto& s : spec.scalars) value.push_back(constant(s));
        for (const auto& i : body.code) {
            const vector_emitter emitter = find_vector_op(instruction_key(body, i));
            args.clear();
            for (const int a : i.args) args.push_back(value[index(a)]);
            if (!emitter || detail::contains(args, none)) return false;
            value.push_back(emitter(code_, args.data()));
            if (value.back() < 0) return false;
            work_ += i.op->cost;
        }
        auto& own = made_.emplace_back();
        for (const int r : body.results) own.push_back(value[index(r)]);
        code_.whole.insert(code_.whole.end(), own.begin(), own.end());
        return !detail::contains(own, none);
    }
    bool add_result(const scalar_loop::source& from, std::vector<int>* bytes) {
        if (bytes) bytes->push_back(memory_bytes(loop_.type_of(from)));
        code_.results.push_back(value_of(from));
        return code_.results.back() >= 0;
    }

    const scalar_loop& loop_;
    int element_bytes_;
    jit_ir code_;
    std::vector<int> inputs_;            // per input of the group: its value
    std::vector<std::vector<int>> made_; // per member and result
    detail::vector<loop_code::operand> operands_;
    int work_ = 0;
};

/// Returns a text that is equal for loops with the same code.
inline std::string code_key(const scalar_loop& loop, int level) {
    std::string key = "loop v" + std::to_string(level);
    const auto add = [&](auto n) { key += ' ' + std::to_string(n); };
    const auto add_source = [&](const scalar_loop::source& s) { add(s.member), add(s.index); };
    for (const auto type : loop.inputs) key += ' ', key += to_string(type);
    add(loop.slices), add(int{loop.conditional}), add(int{loop.reverse});
    if (loop.conditional) add_source(loop.condition);
    for (const auto* all : {&loop.next, &loop.stacked}) {
        key += ';';
        for (const auto& s : *all) add_source(s);
    }
    detail::vector<scalar_value> known; // equal constants share an operand
    for (const auto& member : loop.group.members) {
        key += ';' + spelled_key(*member.spec->body);
        for (const auto& l : member.spec->leaves) add_source(member.inputs[static_cast<std::size_t>(l.input)]);
        for (const auto& s : member.spec->scalars) {
            const bool one = s == scalar_value(1.f) || s == scalar_value(1.);
            const auto at = detail::find(known, s);
            add(one ? -1 : static_cast<int>(at - known.begin()));
            if (!one && at == known.end()) known.push_back(s);
        }
    }
    return key;
}

RILL_COLD loop_code emit_loop(const scalar_loop& loop, int level) {
    loop_code made;
    if (!emits_programs || level < 3 || !supports_level(level)) return made;
    loop_translator translator(loop, level);
    if (!translator.translate()) return made;
    made.operands = translator.operands();
    constexpr int work_of_call = 1 << 16; // less than a millisecond
    made.most = std::clamp(work_of_call / std::max(translator.work(), 1), 16, 1 << 14);
    made.run = cached_function<compiled_loop>(code_key(loop, level), [&] { return x86_loop(translator.code()); });
    return made;
}

RILL_COLD loop_code emit_number_loop(const scalar_loop& loop) {
    return runs_made_code() ? emit_loop(loop, best_level()) : loop_code();
}

}}} // namespace rill::RILL_ABI::detail
