// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/scalar/scalar_jit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/scalar/scalar_code.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class call_joiner {
public:
    call_joiner(scalar_code& code, const code_emitter& emit) : code_(code), emit_(emit) {}

    void join() {
        find_kinds();
        divide();
        if (groups_.empty()) return;
        for (auto& g : groups_) translate(g);
        find_needed();
        for (auto& g : groups_)
            if (!finish(g)) return;
        replace();
    }

private:
    /// The kinds of calls: alone, joined to a group, or within groups (a truth value without a place, which only groups read).
    enum class kind : char { alone, joined, within };
    struct group {
        std::vector<std::uint32_t> calls;
        program body;
        program_nodes nodes;
        operand_forms forms;
        std::vector<int> leaves, results; // values
        hash_map<int, int> number;        // value to its number in the program
        block_function run = nullptr;
    };
    static constexpr std::size_t most_calls = 192; // maximum calls of a group
    static constexpr std::size_t most_leaves = 64;

    std::span<const int> reads(const scalar_code::call& c) const {
        return std::span(code_.operands).subspan(c.first_operand, c.reads);
    }
    int result_of(const scalar_code::call& c) const { return code_.operands[c.first_operand + c.reads]; }
    dtype type_of(int v) const { return code_.values[static_cast<std::size_t>(v)].type; }
    const program::instruction& instruction_of(const scalar_code::call& c) const { return c.of->code[c.instruction]; }

    /// Returns the call that computes a value, if it may be merged; else -1.
    int maker_of(int v) const { return maker_[static_cast<std::size_t>(v)]; }

    /// Returns the size of the numbers that most of the work computes. Machine code computes with numbers of one size, so calls over
    /// others stay alone.
    std::size_t usual_bytes() const {
        int four = 0, eight = 0; // costs
        for (const auto& c : code_.calls)
            if (c.of && c.writes == 1 && type_of(result_of(c)) != dtype::boolean)
                (size_of(type_of(result_of(c))) == 8 ? eight : four) += instruction_of(c).op->cost;
        return eight > four ? 8 : 4;
    }

    void find_kinds() {
        const auto& calls = code_.calls;
        kind_.assign(calls.size(), kind::alone);
        maker_.assign(code_.values.size(), -1);
        std::vector<int> depth(code_.values.size()); // nesting depth of truth values
        constexpr int deepest = 8;                   // each group computes them again
        const std::size_t bytes = usual_bytes();
        for (std::size_t k = 0; k < calls.size(); ++k) {
            const auto& c = calls[k];
            if (!c.of || c.writes != 1) continue;
            const bool known = detail::all_of(reads(c), [&](int v) {
                return type_of(v) == dtype::boolean ? maker_of(v) >= 0 : size_of(type_of(v)) == bytes;
            });
            const int result = result_of(c);
            const dtype type = type_of(result);
            if (!known || (type != dtype::boolean && size_of(type) != bytes)) continue;
            if (type == dtype::boolean) {
                auto& own = depth[static_cast<std::size_t>(result)];
                for (const int v : reads(c)) own = std::max(own, depth[static_cast<std::size_t>(v)] + 1);
                if (own > deepest) continue;
            }
            kind_[k] = type == dtype::boolean ? kind::within : kind::joined;
            maker_[static_cast<std::size_t>(result)] = static_cast<int>(k);
        }
        // a truth value that is read outside of groups needs a place: its call stays alone
        std::vector<char> read(code_.values.size());
        for (const int r : code_.results) read[static_cast<std::size_t>(r)] = 1;
        for (std::size_t k = calls.size(); k-- > 0;) {
            if (kind_[k] == kind::within && read[static_cast<std::size_t>(result_of(calls[k]))]) kind_[k] = kind::alone;
            if (kind_[k] != kind::alone) continue;
            for (const int v : reads(calls[k])) read[static_cast<std::size_t>(v)] = 1;
        }
    }

    /// Divides the calls into groups. A lone call goes before the open group, unless it reads a result of that group.
    void divide() {
        in_.assign(code_.values.size(), -1);
        std::vector<std::uint32_t> open;
        std::vector<int> leaves;
        std::size_t most = most_calls;
        const auto close = [&] {
            if (open.size() < 2) {
                for (const auto k : open) alone(k);
            } else {
                order_.push_back(-1 - static_cast<int>(groups_.size()));
                groups_.emplace_back().calls = open;
            }
            open.clear(), leaves.clear();
        };
        const auto is_open = [&](int v) {
            return in_[static_cast<std::size_t>(v)] == static_cast<int>(groups_.size());
        };
        for (std::size_t k = 0; k < code_.calls.size(); ++k) {
            const auto& c = code_.calls[k];
            const auto number = static_cast<std::uint32_t>(k);
            if (kind_[k] == kind::within) continue;
            if (kind_[k] == kind::alone) {
                if (detail::any_of(reads(c), is_open)) close();
                alone(number);
                continue;
            }
            if (open.size() >= most || leaves.size() + c.reads > most_leaves) close();
            if (open.empty()) most = length_from(k);
            for (const int v : reads(c))
                if (!is_open(v) && !detail::contains(leaves, v)) leaves.push_back(v);
            open.push_back(number);
            in_[static_cast<std::size_t>(result_of(c))] = static_cast<int>(groups_.size());
        }
        close();
    }
    /// Adds a call outside of groups. Truth values that it reads get places, even if otherwise only groups would read them.
    void alone(std::uint32_t call) {
        for (const int v : reads(code_.calls[call]))
            if (const int maker = maker_of(v); maker >= 0 && kind_[static_cast<std::size_t>(maker)] == kind::within) {
                kind_[static_cast<std::size_t>(maker)] = kind::alone;
                alone(static_cast<std::uint32_t>(maker));
            }
        order_.push_back(static_cast<int>(call));
        for (std::uint32_t w = 0; w < code_.calls[call].writes; ++w)
            if (const int v = code_.operands[code_.calls[call].first_operand + code_.calls[call].reads + w]; v >= 0)
                in_[static_cast<std::size_t>(v)] = -1;
    }

    /// Returns the number of calls for a group that begins at `first`. Repetitive code gets whole periods, so that later groups compile
    /// to the same function.
    std::size_t length_from(std::size_t first) {
        constexpr std::size_t window = 2 * most_calls;
        const std::size_t from = first + most_calls; // the first calls often differ
        const auto repeats = [&](std::size_t period) {
            std::size_t differ = 0;
            for (std::size_t k = from; k < from + window && differ <= window / 32; ++k)
                differ += op_at(k) != op_at(k + period);
            return differ <= window / 32;
        };
        if (from + window + most_calls > code_.calls.size()) return most_calls;
        if (period_ == 0 || !repeats(period_)) {
            period_ = 1;
            while (period_ <= most_calls && !repeats(period_)) ++period_;
        }
        return period_ <= most_calls ? most_calls / period_ * period_ : (period_ = 0, most_calls);
    }
    const void* op_at(std::size_t k) const {
        const auto& c = code_.calls[k];
        return c.of ? instruction_of(c).op : nullptr;
    }

    /// Translates group g to a program. Its leaves must become results of other groups.
    void translate(group& g) {
        auto& p = g.body;
        const auto leaf = [&](int v) {
            const auto [at, fresh] = g.number.try_emplace(v, static_cast<int>(g.leaves.size()));
            if (fresh) g.leaves.push_back(v), wanted_.push_back(v);
        };
        // leaves first: a program numbers them before its instructions
        const auto leaves_of = [&](const auto& self, const scalar_code::call& c) -> void {
            for (const int v : reads(c)) {
                if (type_of(v) == dtype::boolean)
                    self(self, code_.calls[static_cast<std::size_t>(maker_of(v))]);
                else if (!in_group(g, v))
                    leaf(v);
            }
        };
        for (const auto k : g.calls) leaves_of(leaves_of, code_.calls[k]);
        for (const int v : g.leaves) p.leaves.push_back(type_of(v)), g.forms.ones.push_back(is_one(v));
        const auto add = [&](const auto& self, const scalar_code::call& c) -> void {
            for (const int v : reads(c)) // recompute truth values
                if (!g.number.contains(v)) self(self, code_.calls[static_cast<std::size_t>(maker_of(v))]);
            program::instruction i{instruction_of(c).op, type_of(result_of(c)), {}};
            for (const int v : reads(c)) i.args.push_back(g.number.at(v));
            g.number.try_emplace(result_of(c), static_cast<int>(p.leaves.size() + p.code.size()));
            p.code.push_back(std::move(i));
        };
        std::uint32_t node = 0;
        for (const auto k : g.calls) {
            const auto& c = code_.calls[k];
            if (!p.code.empty() && c.node != node) g.nodes.begins.push_back(static_cast<int>(p.code.size()));
            node = c.node;
            for (const int v : reads(c))
                if (in_group(g, v) && code_.calls[static_cast<std::size_t>(maker_of(v))].node != c.node)
                    g.nodes.gives.push_back(g.number.at(v));
            add(add, c);
        }
    }
    bool is_one(int v) const {
        const auto& value = code_.values[static_cast<std::size_t>(v)];
        if (value.where != scalar_code::home::constant) return false;
        const auto& number = code_.constants[value.number];
        return number == scalar_value(1.f) || number == scalar_value(1.0);
    }
    bool in_group(const group& g, int v) const {
        return in_[static_cast<std::size_t>(v)] == static_cast<int>(&g - groups_.data());
    }

    bool finish(group& g) {
        for (const auto k : g.calls) {
            const int v = result_of(code_.calls[k]);
            if (!needed_[static_cast<std::size_t>(v)]) continue;
            g.results.push_back(v);
            g.body.results.push_back(g.number.at(v));
        }
        g.nodes.of_numbers = true;
        return (g.run = emit_.numbers(g.body, g.nodes, g.forms)) != nullptr;
    }
    void find_needed() {
        needed_.assign(code_.values.size(), 0);
        for (const int v : wanted_) needed_[static_cast<std::size_t>(v)] = 1;
        for (const int v : code_.results) needed_[static_cast<std::size_t>(v)] = 1;
        for (const int o : order_)
            if (o >= 0)
                for (const int v : reads(code_.calls[static_cast<std::size_t>(o)]))
                    needed_[static_cast<std::size_t>(v)] = 1;
    }

    void replace() {
        vector<scalar_code::call> calls;
        for (const int o : order_) {
            if (o >= 0) {
                calls.push_back(code_.calls[static_cast<std::size_t>(o)]);
                continue;
            }
            const auto& g = groups_[static_cast<std::size_t>(-1 - o)];
            auto& c = calls.emplace_back();
            c.run = g.run;
            c.first_operand = static_cast<std::uint32_t>(code_.operands.size());
            c.reads = static_cast<std::uint32_t>(g.leaves.size());
            c.writes = static_cast<std::uint32_t>(g.results.size());
            for (const auto* all : {&g.leaves, &g.results})
                code_.operands.insert(code_.operands.end(), all->begin(), all->end());
        }
        code_.calls = std::move(calls);
    }

    scalar_code& code_;
    const code_emitter& emit_;
    vector<kind> kind_;           // per call
    std::vector<int> maker_, in_; // per value: the call, and the group, that computes it; -1: none
    std::vector<int> order_;      // call k is k; group g is -1 - g
    std::vector<group> groups_;
    std::size_t period_ = 0;   // in calls; 0: unknown
    std::vector<int> wanted_;  // values that groups read
    std::vector<char> needed_; // per value: it has readers outside its group
};

RILL_COLD void join_calls(scalar_code& code, const code_emitter& emit) { call_joiner(code, emit).join(); }

}}} // namespace rill::RILL_ABI::detail
