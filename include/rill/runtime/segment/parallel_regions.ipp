// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/parallel_regions.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The total costs of ranges of steps.
class running_costs {
public:
    explicit running_costs(std::span<const step_cost> costs) {
        for (const auto& c : costs) until_.push_back(until_.back() + c.microseconds);
    }
    bool is_worth(int first, int last) const { return until_[last] - until_[first] > 2 * fork_cost; }

private:
    std::vector<double> until_{0};
};

/// A window that grows by one step at a time, and its independent parts.
class step_window {
public:
    step_window(std::span<const step_order> order, std::span<const step_cost> costs, int first)
        : order_(order), costs_(costs), first_(first) {}

    /// Adds the next step. Returns false if it can't be in one window with the first.
    bool add() {
        const int step = first_ + static_cast<int>(part_.size());
        const auto& o = order_[step];
        if (o.fence >= first_) return false;
        part_.push_back(static_cast<int>(part_.size()));
        for (const int n : o.after)
            if (n >= first_) part_[find(n - first_)] = static_cast<int>(find(step - first_));
        return true;
    }

    /// An assignment of the parts to threads: longest part first, each to the least busy thread.
    struct deal {
        std::vector<std::size_t> thread_of; // per step of the window
        double saved;                       // microseconds, compared to one thread
    };
    deal deal_out(int threads) {
        vector<std::pair<double, std::size_t>> parts; // negative time, and root
        std::vector<double> cost(part_.size());
        for (std::size_t i = 0; i < part_.size(); ++i) {
            const auto& c = costs_[static_cast<std::size_t>(first_) + i];
            cost[find(static_cast<int>(i))] += c.shared ? c.microseconds / threads : c.microseconds;
        }
        for (std::size_t i = 0; i < part_.size(); ++i)
            if (find(static_cast<int>(i)) == i) parts.emplace_back(-cost[i], i);
        detail::sort(parts);
        std::vector<double> busy(static_cast<std::size_t>(threads));
        std::vector<std::size_t> thread(part_.size());
        for (const auto& [time, root] : parts) {
            const auto least = std::min_element(busy.begin(), busy.end());
            *least -= time;
            thread[root] = static_cast<std::size_t>(least - busy.begin());
        }
        deal d{{}, std::accumulate(busy.begin(), busy.end(), 0.0) - *std::max_element(busy.begin(), busy.end())};
        for (std::size_t i = 0; i < part_.size(); ++i) d.thread_of.push_back(thread[find(static_cast<int>(i))]);
        return d;
    }

private:
    std::size_t find(int i) {
        auto at = static_cast<std::size_t>(i);
        while (static_cast<std::size_t>(part_[at]) != at) {
            part_[at] = part_[part_[at]];
            at = static_cast<std::size_t>(part_[at]);
        }
        return at;
    }

    std::span<const step_order> order_;
    std::span<const step_cost> costs_;
    int first_;
    std::vector<int> part_; // a union-find forest: towards the root of each step's part
};

RILL_COLD bool worth_branching(std::span<const step_cost> costs, int threads) {
    if (threads < 2) return false;
    const running_costs cost(costs);
    const auto n = static_cast<int>(costs.size());
    for (int s = 0; s == 0 || s + longest_window <= n; ++s)
        if (cost.is_worth(s, std::min(n, s + longest_window))) return true;
    return false;
}

RILL_COLD vector<parallel_regions> find_parallel_regions(std::span<const step_order> order,
                                                         std::span<const step_cost> costs, int threads) {
    const running_costs cost(costs);
    const auto n = static_cast<int>(order.size());
    if (threads < 2) return {};

    // windows begin after steps with several users, and end before steps with several dependencies
    std::vector<char> begins(order.size() + 1), ends(order.size() + 1);
    std::vector<int> users(order.size());
    begins[0] = ends[order.size()] = 1;
    for (std::size_t k = 0; k < order.size(); ++k) {
        for (const int d : order[k].after)
            if (++users[d] == 2) begins[static_cast<std::size_t>(d) + 1] = 1;
        if (order[k].after.size() > 1 || order[k].fence >= 0) begins[k] = ends[k] = 1;
    }

    // per position: the most that windows before it save, and the begin of the last one, if it ends there
    struct best {
        double saved = 0;
        int from = -1;
    };
    vector<best> until(order.size() + 1);
    for (int s = 0; s < n; ++s) {
        const auto at = static_cast<std::size_t>(s);
        if (until[at + 1].saved < until[at].saved) until[at + 1] = {until[at].saved, -1};
        if (!begins[at] || !cost.is_worth(s, std::min(n, s + longest_window))) continue;
        step_window here(order, costs, s);
        for (int e = s + 1; e <= std::min(n, s + longest_window) && here.add(); ++e) {
            if (!ends[e] || !cost.is_worth(s, e)) continue;
            auto& to = until[e];
            const double saved = until[at].saved + here.deal_out(threads).saved - fork_cost;
            if (saved > to.saved) to = {saved, s};
        }
    }
    vector<parallel_regions> found;
    for (int e = n; e > 0;) {
        const int s = until[e].from;
        if (s < 0) {
            --e;
            continue;
        }
        step_window whole(order, costs, s);
        for (int k = s; k < e; ++k) whole.add();
        const auto dealt = whole.deal_out(threads);
        parallel_regions b{s, e, std::vector<std::vector<int>>(static_cast<std::size_t>(threads))};
        for (int k = s; k < e; ++k) b.lanes[dealt.thread_of[k - s]].push_back(k);
        std::erase_if(b.lanes, [](const auto& lane) { return lane.empty(); });
        found.push_back(std::move(b));
        e = s;
    }
    std::reverse(found.begin(), found.end());
    return found;
}

}}} // namespace rill::RILL_ABI::detail
