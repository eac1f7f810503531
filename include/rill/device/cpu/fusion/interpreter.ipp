// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/interpreter.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/repeat.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD block_interpreter::block_interpreter(program_ptr p) : program_(std::move(p)) {
    find_loops();
    place_values();
}

RILL_COLD block_interpreter::loop block_interpreter::find_loop(const program& p, const program::instruction& i,
                                                               bool spreads) {
    loop best;
    if (const auto found = the_kernels().blocks.find(instruction_key(p, i)); found && found->forward)
        best = {found->forward, found->level, -1, found->lanes};
    if (!spreads || i.args.size() != 2 || p.is_scalar(i.args[0]) == p.is_scalar(i.args[1])) return best;
    const int k = p.is_scalar(i.args[0]) ? 0 : 1;
    const auto found = the_kernels().blocks.find(instruction_key(p, i, k));
    if (found && found->forward && found->level >= best.level)
        best = {found->forward, found->level, i.args[k] - p.first_scalar(), found->lanes};
    return best;
}

RILL_COLD block_interpreter::loop block_interpreter::need_loop(const program& p, const program::instruction& i) {
    loop found = find_loop(p, i);
    if (!found.run && load_rare_kernels()) found = find_loop(p, i);
    if (!found.run) throw unimplemented(no_kernel_text(instruction_key(p, i)));
    return found;
}

RILL_COLD void block_interpreter::find_loops() {
    const program& p = *program_;
    spread_.resize(p.scalars.size());
    const auto splat = [&](int v) {
        if (p.is_scalar(v)) spread_[static_cast<std::size_t>(v - p.first_scalar())] = true;
    };
    for (const auto& i : p.code) {
        const loop found = need_loop(p, i);
        step s{};
        s.run = found.run;
        s.scalar = found.scalar;
        if (s.scalar < 0) std::for_each(i.args.begin(), i.args.end(), splat);
        steps_.push_back(s);
    }
    std::for_each(p.results.begin(), p.results.end(), splat);
}

RILL_COLD void block_interpreter::place_values() {
    const program& p = *program_;
    const int scalars = p.first_scalar(), instructions = p.first_instruction(),
              values = instructions + static_cast<int>(p.code.size());
    const auto new_buffer = [&](std::size_t element) {
        return std::exchange(bytes_, bytes_ + block_elements * element);
    };
    value_.resize(static_cast<std::size_t>(values));
    for (int v = 0; v < scalars; ++v) value_[v] = {place::in::leaf, static_cast<std::uint32_t>(v), 0};
    for (int v = scalars; v < instructions; ++v)
        if (spread_[static_cast<std::size_t>(v - scalars)]) value_[v].at = new_buffer(size_of(p.type_of(v)));

    // A value lives until its last use, a result until the end. Other values of the same element size then reuse its buffer.
    detail::vector<int> last(static_cast<std::size_t>(values), -1);
    int last_read = -1; // the last instruction that reads a leaf
    for (int k = 0; k < static_cast<int>(p.code.size()); ++k)
        for (const int v : p.code[k].args) {
            last[v] = k;
            if (v < scalars) last_read = k;
        }
    for (const int r : p.results) {
        last[r] = values;
        if (r < scalars) last_read = values; // a leaf that is a result is copied at the end
    }
    struct free_buffer {
        std::size_t element, at;
    };
    detail::vector<free_buffer> free;
    for (int k = 0; k < static_cast<int>(p.code.size()); ++k) {
        const auto& i = p.code[k];
        step& s = steps_[k];
        for (const int v : i.args) {
            if (s.scalar >= 0 && v == scalars + s.scalar) continue;
            s.arg[s.args++] = value_[v];
            if (v >= instructions && last[v] == k) {
                last[v] = values; // an operand may occur twice: free it once
                free.push_back({size_of(p.type_of(v)), value_[v].at});
            }
        }
        place& to = value_[instructions + k];
        const std::size_t element = size_of(i.type);
        const auto found = detail::find_if(free, [&](const auto& f) { return f.element == element; });
        to.at = found == free.end() ? new_buffer(element) : found->at;
        if (found != free.end()) free.erase(found, found + 1);
        // A result may overlap a leaf's memory. It is written there directly only after the last read of a leaf.
        const auto r = detail::find(p.results, instructions + k);
        if (r != p.results.end() && k >= last_read)
            to = {place::in::result, static_cast<std::uint32_t>(r - p.results.begin()), to.at};
        s.to = to;
    }
}

RILL_COLD bool block_interpreter::faster_than(const program& p, int level, index_t elements) {
    if (level >= 4 || is_one_op(p)) return false; // no higher level exists, or the program's loop is the op's own
    // Costs in additions of a register: loading and storing take about 1.5, each call of a loop about 50, each run about 100.
    const auto lanes = [](int l) { return l >= 4 ? 16. : l >= 3 ? 8. : 4.; };
    const auto all = static_cast<double>(std::max<index_t>(elements, 1)), block = std::min(all, double(block_elements));
    double own = 0, interpreted = 0;
    for (const auto& i : p.code) {
        const loop found = find_loop(p, i);
        if (!found.run || found.level <= level) return false;
        own += i.op->cost / lanes(level);
        interpreted += (i.op->cost + 1.5) / lanes(found.level) + 50 / block + 100 / all;
    }
    return interpreted < own;
}

RILL_INLINE void block_interpreter::begin(std::byte* scratch, const void* const* scalars, std::int64_t most) const {
    for (std::size_t s = 0; s < spread_.size(); ++s) {
        if (!spread_[s]) continue;
        const std::size_t size = size_of(program_->scalars[s]);
        std::byte* const to = scratch + value_[program_->leaves.size() + s].at;
        std::memcpy(to, scalars[s], size);
        detail::repeat(to, size, static_cast<std::size_t>(most) * size);
    }
}

RILL_INLINE void block_interpreter::run(const block_args& a, std::byte* scratch) const {
    const auto at = [&](const place& p) -> void* {
        if (p.where == place::in::leaf) return const_cast<void*>(a.leaf[p.number]);
        return p.where == place::in::result && a.result[p.number] ? a.result[p.number] : scratch + p.at;
    };
    for (const auto& s : steps_) {
        const void* args[max_args];
        for (std::uint32_t k = 0; k < s.args; ++k) args[k] = at(s.arg[k]);
        void* to = at(s.to);
        s.run({args, s.scalar >= 0 ? a.scalar + s.scalar : nullptr, &to, nullptr, a.n});
    }
    const auto copy_results = [&](bool of_leaves) {
        for (std::size_t r = 0; r < program_->results.size(); ++r) {
            const int v = program_->results[r];
            const void* const from = at(value_[v]);
            if (a.result[r] && from != a.result[r] && (v < program_->first_scalar()) == of_leaves)
                std::memmove(a.result[r], from, static_cast<std::size_t>(a.n) * size_of(program_->type_of(v)));
        }
    };
    copy_results(true); // first, before another result overwrites the leaf's memory
    copy_results(false);
}

}} // namespace rill::RILL_ABI
