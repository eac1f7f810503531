// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/bound_region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/runtime/plan/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::optional<bound_region> bound_region::bind(const body& b, const std::shared_ptr<plan>& made,
                                                         std::span<const tensor_type> arguments,
                                                         std::span<const tensor_type> inputs,
                                                         const memory_space* space) {
    std::vector<tensor_type> feeds(arguments.begin(), arguments.end());
    for (const int c : b.captured) feeds.push_back(inputs[c]);
    auto steps = made->bind(feeds);
    return steps ? std::optional(bound_region(b, made, std::move(steps), space)) : std::nullopt;
}

RILL_COLD bound_region::bound_region(const body& b, std::shared_ptr<plan> made, std::shared_ptr<segment> steps,
                                     const memory_space* space)
    : of_(b), space_(space), plan_(std::move(made)), steps_(std::move(steps)) {
    hash_map<std::pair<const node*, int>, int> feed_of;
    const auto arguments = static_cast<int>(b.arguments.size());
    for (std::size_t f = b.arguments.size() + b.captured.size(); f-- > 0;) {
        const auto& fed = f < b.arguments.size() ? b.arguments[f] : b.captures[f - b.arguments.size()];
        feed_of[{fed.from, fed.port}] = static_cast<int>(f);
    }
    int fetch = 0;
    for (const auto& r : b.results) {
        fetch_.push_back(r ? fetch++ : -1);
        types_.push_back(r ? steps_->fetch_type(fetch_.back()) : tensor_type{});
        is_loop_invariant_.push_back(is_loop_invariant_.size() < b.arguments.size() &&
                                     r == b.arguments[is_loop_invariant_.size()]);
        direct_.push_back(r && steps_->can_redirect(fetch_.back()));
        const std::size_t at = updates_.size();
        auto& earlier = earlier_updates_.emplace_back();
        int from = r ? steps_->updated_feed(fetch_.back(), earlier) : -1;
        if (from < 0) earlier.clear();
        updates_.push_back(at < b.arguments.size() && from == static_cast<int>(at));
        if (const auto same = feed_of.find({r.from, r.port}); r && same != feed_of.end()) from = same->second;
        overwritten_inputs_.push_back(from < arguments ? from : b.captured[static_cast<std::size_t>(from - arguments)]);
    }
    find_redirected();
}

RILL_COLD void bound_region::find_redirected() {
    for (std::size_t r = 0; r < direct_.size(); ++r) {
        if (!direct_[r]) continue;
        redirected_.push_back(steps_->slot_of_fetch(static_cast<std::size_t>(fetch_[r])));
        for (const int slot : earlier_updates_[r]) redirected_.push_back(static_cast<std::size_t>(slot));
    }
}

RILL_INLINE std::size_t chosen_body(const any_array& by, std::size_t bodies) {
    const std::size_t last = bodies - 1;
    if (by.dtype() == dtype::boolean) return *static_cast<const bool*>(by.data()) ? 0 : last;
    const std::int64_t i = by.dtype() == dtype::int32 ? *static_cast<const std::int32_t*>(by.data())
                                                      : *static_cast<const std::int64_t*>(by.data());
    return i < 0 || static_cast<std::uint64_t>(i) > last ? last : static_cast<std::size_t>(i);
}

[[noreturn]] RILL_COLD void rethrow_from_iteration(std::int64_t k) {
    try {
        throw;
    } catch (const error& problem) {
        throw_error(problem.code(), "in iteration " + std::to_string(k) + ": " + problem.what());
    }
}

}}} // namespace rill::RILL_ABI::detail
