// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/branches.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace rill::inline RILL_ABI::detail {

/// Microseconds: what handing out lanes and waiting for them may cost.
inline constexpr double fork_cost = 10;

/// Steps of a stretch at most, which keeps the search linear.
inline constexpr int longest_stretch = 64;

/// What stretches of steps take.
class running_costs {
public:
    explicit running_costs(std::span<const step_cost> costs) {
        for (const auto& c : costs) until_.push_back(until_.back() + c.microseconds);
    }
    bool is_worth(int first, int last) const {
        return until_[static_cast<std::size_t>(last)] - until_[static_cast<std::size_t>(first)] > 2 * fork_cost;
    }

private:
    std::vector<double> until_{0};
};

/// A stretch that grows by a step at a time, and the parts it falls into.
class stretch {
public:
    stretch(std::span<const std::vector<int>> needs, std::span<const step_cost> costs, int first)
        : needs_(needs), costs_(costs), first_(first) {}

    void add() {
        const int step = first_ + static_cast<int>(part_.size());
        part_.push_back(static_cast<int>(part_.size()));
        for (const int n : needs_[static_cast<std::size_t>(step)])
            if (n >= first_) part_[find(n - first_)] = static_cast<int>(find(step - first_));
    }

    /// Microseconds that `threads` save, the lanes being the parts, longest first, each where there is least to do.
    double lanes(int threads, std::vector<std::vector<int>>* out = nullptr) {
        std::vector<std::pair<double, std::size_t>> parts; // negative time and root
        std::vector<double> cost(part_.size());
        for (std::size_t i = 0; i < part_.size(); ++i) {
            const auto& c = costs_[static_cast<std::size_t>(first_) + i];
            cost[find(static_cast<int>(i))] += c.shared ? c.microseconds / threads : c.microseconds;
        }
        for (std::size_t i = 0; i < part_.size(); ++i)
            if (find(static_cast<int>(i)) == i) parts.emplace_back(-cost[i], i);
        std::sort(parts.begin(), parts.end());
        std::vector<double> busy(static_cast<std::size_t>(threads));
        std::vector<std::size_t> lane(part_.size());
        for (const auto& [time, root] : parts) {
            const auto least = std::min_element(busy.begin(), busy.end());
            *least -= time;
            lane[root] = static_cast<std::size_t>(least - busy.begin());
        }
        if (out) {
            out->resize(busy.size());
            for (std::size_t i = 0; i < part_.size(); ++i)
                (*out)[lane[find(static_cast<int>(i))]].push_back(first_ + static_cast<int>(i));
            std::erase_if(*out, [](const auto& l) { return l.empty(); });
        }
        return std::accumulate(busy.begin(), busy.end(), 0.0) - *std::max_element(busy.begin(), busy.end());
    }

private:
    std::size_t find(int i) {
        auto at = static_cast<std::size_t>(i);
        while (static_cast<std::size_t>(part_[at]) != at) {
            part_[at] = part_[static_cast<std::size_t>(part_[at])];
            at = static_cast<std::size_t>(part_[at]);
        }
        return at;
    }

    std::span<const std::vector<int>> needs_;
    std::span<const step_cost> costs_;
    int first_;
    std::vector<int> part_; // a forest: towards the root of each step's part
};

RILL_INLINE bool worth_branching(std::span<const step_cost> costs, int threads) {
    if (threads < 2) return false;
    const running_costs cost(costs);
    const auto n = static_cast<int>(costs.size());
    for (int s = 0; s == 0 || s + longest_stretch <= n; ++s)
        if (cost.is_worth(s, std::min(n, s + longest_stretch))) return true;
    return false;
}

RILL_INLINE std::vector<branches> find_branches(std::span<const std::vector<int>> needs,
                                                std::span<const step_cost> costs, int threads) {
    const running_costs cost(costs);
    const auto n = static_cast<int>(needs.size());
    if (threads < 2) return {};

    // stretches begin behind steps that several need, end before steps that need several
    std::vector<char> begins(needs.size() + 1), ends(needs.size() + 1);
    std::vector<int> users(needs.size());
    begins[0] = ends[needs.size()] = 1;
    for (std::size_t k = 0; k < needs.size(); ++k) {
        for (const int d : needs[k])
            if (++users[static_cast<std::size_t>(d)] == 2) begins[static_cast<std::size_t>(d) + 1] = 1;
        if (needs[k].size() > 1) begins[k] = ends[k] = 1;
    }

    // saved[e]: the most that stretches before step e can save; the last of them begins at from[e], if there is one
    std::vector<double> saved(needs.size() + 1);
    std::vector<int> from(needs.size() + 1, -1);
    for (int s = 0; s < n; ++s) {
        const auto at = static_cast<std::size_t>(s);
        if (saved[at + 1] < saved[at]) saved[at + 1] = saved[at], from[at + 1] = -1;
        if (!begins[at] || !cost.is_worth(s, std::min(n, s + longest_stretch))) continue;
        stretch here(needs, costs, s);
        for (int e = s + 1; e <= std::min(n, s + longest_stretch); ++e) {
            here.add();
            const auto to = static_cast<std::size_t>(e);
            if (!ends[to] || !cost.is_worth(s, e)) continue;
            if (const double saves = saved[at] + here.lanes(threads) - fork_cost; saves > saved[to])
                saved[to] = saves, from[to] = s;
        }
    }
    std::vector<branches> found;
    for (int e = n; e > 0;) {
        const int s = from[static_cast<std::size_t>(e)];
        if (s < 0) {
            --e;
            continue;
        }
        branches b{s, e, {}};
        stretch whole(needs, costs, s);
        for (int k = s; k < e; ++k) whole.add();
        whole.lanes(threads, &b.lanes);
        found.push_back(std::move(b));
        e = s;
    }
    std::reverse(found.begin(), found.end());
    return found;
}

} // namespace rill::inline RILL_ABI::detail
