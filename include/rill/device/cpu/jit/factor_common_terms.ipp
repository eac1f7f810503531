// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/factor_common_terms.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class common_term_factoring {
public:
    common_term_factoring(std::vector<ir_instruction>& code, const std::vector<int>& needed,
                          const std::vector<int>& whole, const std::function<int(double)>& constant)
        : code_(code), needed_(needed), constant_(constant), uses_(code.size()), whole_(code.size()),
          within_(code.size()) {
        for (const auto& i : code)
            for (const int a : i.args)
                if (a >= 0) ++uses_[index(a)];
        for (const int v : whole) whole_[index(v)] = 1;
        for (const int v : needed) ++uses_[index(v)];
        for (const auto& i : code)
            if (i.op == vector_op::add)
                for (const int a : {i.args[0], i.args[1]})
                    within_[index(a)] = at(a).op == vector_op::add && uses_[index(a)] == 1 && !whole_[index(a)];
    }

    void join() {
        for (int v = 0; v < static_cast<int>(uses_.size()); ++v)
            if (at(v).op == vector_op::add && at(v).bytes == 0 && !within_[index(v)]) join(v);
    }

private:
    struct term {
        int value, times;
    };
    static constexpr std::size_t most_factors = 16, most_terms = 64;

    static std::size_t index(int v) { return static_cast<std::size_t>(v); }
    const ir_instruction& at(int v) const { return code_[index(v)]; }

    void add_terms(int sum, std::vector<term>& to) const {
        for (const int a : {at(sum).args[0], at(sum).args[1]})
            if (within_[index(a)])
                add_terms(a, to);
            else
                to.push_back({a, 1});
    }

    /// Appends the factors of v. Returns false if there are more than most_factors.
    bool add_factors(int v, std::vector<int>& to) const {
        if (at(v).op == vector_op::mul && !whole_[index(v)])
            return add_factors(at(v).args[0], to) && add_factors(at(v).args[1], to);
        to.push_back(v);
        return to.size() <= most_factors;
    }

    void join(int sum) {
        std::vector<term> terms;
        add_terms(sum, terms);
        if (terms.size() > most_terms) return;
        std::map<std::vector<int>, std::vector<int>> products;
        for (const auto& t : terms) {
            std::vector<int> factors;
            if (!add_factors(t.value, factors) || factors.size() < 2) continue;
            detail::sort(factors);
            products[std::move(factors)].push_back(t.value);
        }
        bool joined = false;
        for (const auto& [factors, equal] : products) {
            if (equal.size() < 2) continue;
            joined = true;
            keep_one(sum, terms, equal);
        }
        if (joined) write(sum, terms);
    }

    /// Replaces equal terms by a multiple of one of them, at the place of the first.
    void keep_one(int sum, std::vector<term>& terms, const std::vector<int>& equal) const {
        const auto is_equal = [&](const term& t) { return detail::contains(equal, t.value); };
        const auto first = detail::find_if(terms, is_equal) - terms.begin();
        std::erase_if(terms, is_equal);
        std::pair<std::size_t, int> best{code_.size() + 1, -1};
        const auto place = terms.insert(terms.begin() + first, {-1, static_cast<int>(equal.size())});
        for (const int v : equal) {
            place->value = v;
            if (const auto n = reached(sum, terms); n < best.first) best = {n, v};
        }
        place->value = best.second;
    }

    /// Returns the number of instructions that the results need if the sum has these terms.
    std::size_t reached(int sum, const std::vector<term>& terms) const {
        std::vector<char> seen(code_.size());
        std::vector<int> open(needed_);
        std::size_t n = 0;
        while (!open.empty()) {
            const int v = open.back();
            open.pop_back();
            if (std::exchange(seen[index(v)], 1)) continue;
            ++n;
            if (v == sum)
                for (const auto& t : terms) open.push_back(t.value);
            else
                for (const int a : at(v).args)
                    if (a >= 0) open.push_back(a);
        }
        return n;
    }

    void write(int sum, const std::vector<term>& terms) {
        int so_far = -1; // the last part replaces the sum
        const auto add = [&](const ir_instruction& i) {
            code_.push_back(i);
            return static_cast<int>(code_.size()) - 1;
        };
        for (const auto& t : terms) {
            const int part = t.times == 1 ? t.value : add({vector_op::mul, 0, {t.value, constant_(t.times), -1, -1}});
            so_far = so_far < 0 ? part : add({vector_op::add, 0, {so_far, part, -1, -1}});
        }
        code_[index(sum)] = at(so_far);
    }

    std::vector<ir_instruction>& code_;
    const std::vector<int>& needed_;
    const std::function<int(double)>& constant_;
    std::vector<int> uses_;
    std::vector<char> whole_, within_; // within_: an addition that is part of a larger sum
};

RILL_COLD void factor_common_terms(std::vector<ir_instruction>& code, const std::vector<int>& needed,
                                   const std::vector<int>& whole, const std::function<int(double)>& constant) {
    common_term_factoring(code, needed, whole, constant).join();
}

}}} // namespace rill::RILL_ABI::detail
