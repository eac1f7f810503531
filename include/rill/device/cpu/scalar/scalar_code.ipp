// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/scalar/scalar_code.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash.hpp>
#include <rill/core/hash_index.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/fused_stages.hpp>
#include <rill/device/cpu/fusion/interpreter.hpp>
#include <rill/device/cpu/scalar/scalar_jit.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A builder of scalar code: it adds the nodes of a fusion group one by one.
class scalar_code_builder {
public:
    scalar_code_builder(const fusion_group& group, std::size_t results, std::size_t least_joined)
        : emit_(the_kernels().emit.load()) {
        code_.results.resize(results, scalar_code::none);
        if (emit_) choose_joined(group, least_joined);
        for (const auto& member : group.members) add(member);
    }

    scalar_code finish() && {
        settle();
        return std::move(code_);
    }
    scalar_code finish(const scalar_loop& loop) && {
        const auto parts = static_cast<int>(loop.next.size());
        if (loop.conditional) add_result(loop, loop.condition);
        const std::size_t first = code_.results.size();
        for (const auto& from : loop.next) add_result(loop, from);
        for (const auto& from : loop.stacked) add_result(loop, from);
        for (int i = 0; i < parts; ++i) add_result(loop, {-1, i});
        settle();
        code_.repeats = true;
        for (int i = 0; i < parts + loop.slices; ++i) {
            const int value = input(i, loop.inputs[static_cast<std::size_t>(i)]);
            const int next = i < parts ? code_.results[first + static_cast<std::size_t>(i)] : scalar_code::none;
            if (value == next || code_.values[static_cast<std::size_t>(value)].lanes == 0) continue;
            code_.carried.push_back({value, next});
            if (next == scalar_code::none) continue;
            // both share a place (current and next), so they need equally many copies
            auto &a = code_.values[static_cast<std::size_t>(value)].lanes,
                 &b = code_.values[static_cast<std::size_t>(next)].lanes;
            a = b = std::max(a, b);
        }
        return std::move(code_);
    }

private:
    using home = scalar_code::home;
    using u32s = std::span<const std::uint32_t>;

    template <class T> static std::uint64_t hash_of(std::uint64_t seed, std::span<const T> all) {
        for (const T x : all) seed = hash_combine(seed, static_cast<std::uint32_t>(x));
        return seed;
    }

    int add_value(home where, std::uint32_t number, dtype type) {
        code_.values.push_back({where, number, type});
        return static_cast<int>(code_.values.size()) - 1;
    }
    int input(int number, dtype type) {
        const auto [at, fresh] = inputs_.try_emplace(number, 0);
        if (fresh) at->second = add_value(home::input, static_cast<std::uint32_t>(number), type);
        return at->second;
    }
    std::uint32_t constant(const scalar_value& value) {
        const auto hash = hash_bytes({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
        auto at = constants_.find(hash, [&](std::uint32_t n) { return code_.constants[n] == value; });
        if (at == hash_index::none) {
            at = static_cast<std::uint32_t>(code_.constants.size());
            constants_.add(hash, at);
            code_.constants.push_back(value);
        }
        return at;
    }
    int splat_constant(const scalar_value& value) {
        const auto number = constant(value);
        const auto [at, fresh] = splat_.try_emplace(number, 0);
        if (fresh) at->second = add_value(home::constant, number, value.type);
        return at->second;
    }

    std::span<const int> read_by(const scalar_code::call& c) const {
        return std::span(code_.operands).subspan(c.first_operand, c.reads);
    }
    std::span<int> written_by(const scalar_code::call& c) {
        return std::span(code_.operands).subspan(c.first_operand + c.reads, c.writes);
    }

    /// Adds a call unless an equal one exists. Returns the values it writes, one per entry of `types`; invalid: nothing is written there.
    std::span<const int> add_call(block_function run, int lanes, std::span<const int> read, u32s scalars,
                                  std::span<const dtype> types, u32s masks) {
        auto hash = hash_of(hash_of(std::bit_cast<std::uintptr_t>(run), read), scalars);
        hash = hash_of(hash, masks);
        const auto same = [&](std::uint32_t n) {
            const auto& c = code_.calls[n];
            return c.run == run && detail::equal(read_by(c), read) &&
                   detail::equal(u32s(code_.scalars).subspan(c.first_scalar, scalars.size()), scalars) &&
                   detail::equal(u32s(code_.masks).subspan(c.first_mask, masks.size()), masks);
        };
        if (const auto known = calls_.find(hash, same); known != hash_index::none)
            return written_by(code_.calls[known]);
        calls_.add(hash, static_cast<std::uint32_t>(code_.calls.size()));
        scalar_code::call c;
        c.run = run, c.lanes = lanes;
        c.first_operand = static_cast<std::uint32_t>(code_.operands.size());
        c.first_scalar = static_cast<std::uint32_t>(code_.scalars.size());
        c.first_mask = static_cast<std::uint32_t>(code_.masks.size());
        c.reads = static_cast<std::uint32_t>(read.size()), c.writes = static_cast<std::uint32_t>(types.size());
        code_.operands.insert(code_.operands.end(), read.begin(), read.end());
        code_.scalars.insert(code_.scalars.end(), scalars.begin(), scalars.end());
        code_.masks.insert(code_.masks.end(), masks.begin(), masks.end());
        for (const auto t : types)
            code_.operands.push_back(t == dtype::invalid ? scalar_code::none : add_value(home::computed, 0, t));
        code_.calls.push_back(c);
        return written_by(c);
    }

    void add_result(const scalar_loop& loop, const scalar_loop::source& from) {
        code_.results.push_back(
            from.member < 0 ? input(from.index, loop.inputs[static_cast<std::size_t>(from.index)])
                            : made_[static_cast<std::size_t>(from.member)][static_cast<std::size_t>(from.index)]);
    }

    /// Turns the JIT off unless it can compile `least` instructions. It serves nodes all of whose instructions it can compile.
    void choose_joined(const fusion_group& group, std::size_t least) {
        std::size_t count = 0;
        for (const auto& member : group.members)
            if (const auto& p = *member.spec->body; knows(p)) count += p.code.size();
        if (count < least) emit_ = nullptr;
    }
    bool knows(const program& p) {
        const auto [at, fresh] = known_programs_.try_emplace(&p, true);
        if (!fresh) return at->second;
        const auto knows_op = [&](const auto& i) {
            const auto [op, is_new] = known_ops_.try_emplace(instruction_key(p, i), false);
            if (is_new) op->second = emit_->knows(p, i) && block_interpreter::find_loop(p, i, false).run;
            return op->second;
        };
        return at->second = detail::all_of(p.code, knows_op);
    }
    /// Finishes the code once all results are known.
    void settle() {
        drop_unused();
        if (emit_) join_calls(code_, *emit_);
        count_copies();
    }

    void add(const fusion_group::member& member) {
        ++node_;
        const auto& spec = *member.spec;
        code_.may_divide = code_.may_divide || divides_integers(*spec.body);
        leaves_.clear();
        for (std::size_t i = 0; i < spec.leaves.size(); ++i) {
            const auto from = member.inputs[static_cast<std::size_t>(spec.leaves[i].input)];
            leaves_.push_back(from.member < 0
                                  ? input(from.index, spec.body->leaves[i])
                                  : made_[static_cast<std::size_t>(from.member)][static_cast<std::size_t>(from.index)]);
        }
        const bool joined = emit_ && knows(*spec.body);
        const auto function = joined ? node_function() : find_function(spec, 1);
        auto& made = made_.emplace_back(function.run ? compiled(spec, function) : interpreted(spec, joined));
        for (std::size_t r = 0; r < made.size(); ++r)
            if (member.results[r] >= 0) code_.results[static_cast<std::size_t>(member.results[r])] = made[r];
    }

    std::vector<int> compiled(const fused_spec& spec, const node_function& function) {
        std::vector<std::uint32_t> scalars, masks(function.places);
        for (const auto& s : spec.scalars) scalars.push_back(constant(s));
        std::vector<dtype> types(function.places, dtype::invalid);
        for (std::size_t r = 0; r < spec.results.size(); ++r) {
            const auto place = function.place_of(spec, r);
            types[place] = spec.body->type_of(spec.body->results[r]);
            masks[place] = spec.results[r].mask;
        }
        const auto written = add_call(function.run, function.lanes, leaves_, scalars, types, masks);
        std::vector<int> made;
        for (std::size_t r = 0; r < spec.results.size(); ++r) made.push_back(written[function.place_of(spec, r)]);
        return made;
    }

    std::vector<int> interpreted(const fused_spec& spec, bool joined) {
        const program& p = *spec.body;
        auto& loops = loops_[&p];
        if (loops.empty())
            for (const auto& i : p.code)
                loops.push_back(joined ? block_interpreter::find_loop(p, i, false)
                                       : block_interpreter::need_loop(p, i));
        std::vector<int> value = leaves_, read;
        value.resize(static_cast<std::size_t>(p.first_instruction()),
                     scalar_code::none); // scalars become values on first use
        const auto value_of = [&](int v) {
            auto& known = value[static_cast<std::size_t>(v)];
            if (known < 0) known = splat_constant(spec.scalars[static_cast<std::size_t>(v - p.first_scalar())]);
            return known;
        };
        for (std::size_t k = 0; k < p.code.size(); ++k) {
            const auto& i = p.code[k];
            const auto& loop = loops[k];
            read.clear();
            for (const int a : i.args)
                if (loop.scalar < 0 || a != p.first_scalar() + loop.scalar) read.push_back(value_of(a));
            std::uint32_t scalar = 0;
            if (loop.scalar >= 0) scalar = constant(spec.scalars[static_cast<std::size_t>(loop.scalar)]);
            constexpr std::uint32_t unused = 0;
            const std::size_t calls = code_.calls.size();
            value.push_back(add_call(loop.run, loop.lanes, read, {&scalar, loop.scalar >= 0 ? 1u : 0u}, {&i.type, 1},
                                     {&unused, 1})[0]);
            if (joined && code_.calls.size() > calls) {
                auto& made = code_.calls.back();
                made.of = &p, made.instruction = static_cast<std::uint32_t>(k), made.node = node_;
            }
        }
        std::vector<int> made;
        for (const int r : p.results) made.push_back(value_of(r));
        return made;
    }

    /// Removes calls whose results have no readers. Other calls no longer write results without readers.
    void drop_unused() {
        std::vector<char> needed(code_.values.size());
        const auto need = [&](int v) { needed[static_cast<std::size_t>(v)] = 1; };
        for (const int r : code_.results) need(r);
        auto* kept = code_.calls.end();
        for (std::size_t k = code_.calls.size(); k-- > 0;) {
            const auto c = code_.calls[k];
            const auto written = written_by(c);
            for (int& w : written)
                if (w >= 0 && !needed[static_cast<std::size_t>(w)]) w = scalar_code::none;
            if (detail::all_of(written, [](int w) { return w < 0; })) continue;
            for (const int r : read_by(c)) need(r);
            *--kept = c;
        }
        code_.calls.erase(code_.calls.begin(), kept);
    }
    /// Computes the number of copies of each value.
    void count_copies() {
        const auto need = [&](int v, int lanes) {
            auto& known = code_.values[static_cast<std::size_t>(v)].lanes;
            known = std::max(known, lanes);
        };
        for (const int r : code_.results) need(r, 1);
        for (const auto& c : code_.calls) {
            for (const int r : read_by(c)) need(r, c.lanes);
            for (const int w : written_by(c))
                if (w >= 0) need(w, c.lanes);
        }
    }

    scalar_code code_;
    const code_emitter* emit_; // null: the JIT is off
    std::uint32_t node_ = 0;
    hash_map<const program*, bool> known_programs_;
    hash_map<std::string, bool> known_ops_;
    std::vector<int> leaves_;            // leaves of the current node
    std::vector<std::vector<int>> made_; // per member and result
    hash_map<int, int> inputs_;          // input to value
    hash_map<std::uint32_t, int> splat_; // constant to value
    hash_index constants_, calls_;       // positions in code_
    hash_map<const program*, vector<block_interpreter::loop>> loops_;
};

RILL_COLD scalar_code make_scalar_code(const fusion_group& group, std::size_t results) {
    constexpr std::size_t least = 12; // fewer do not repay the time to compile
    return scalar_code_builder(group, results, least).finish();
}
RILL_COLD scalar_code make_scalar_code(const scalar_loop& loop) {
    return scalar_code_builder(loop.group, 0, 2).finish(loop);
}

}}} // namespace rill::RILL_ABI::detail
