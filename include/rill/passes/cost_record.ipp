// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/cost_record.hpp>

#include <algorithm>

namespace rill { inline namespace RILL_ABI {

RILL_COLD void cost_record::add(const std::string& node, const device_type& on, double microseconds) {
    const std::lock_guard lock(mutex_);
    auto& known = all_.try_emplace(node).at->second;
    if (known.on != &on) known = {.on = &on};
    known.last[known.count++ % most] = microseconds;
    is_empty_ = false;
}

RILL_COLD std::optional<cost_record::cost> cost_record::of(const std::string& node) const {
    if (empty()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto at = all_.find(node);
    if (at == all_.end()) return std::nullopt;
    auto last = at->second.last;
    const auto end = last.begin() + static_cast<std::ptrdiff_t>(std::min(at->second.count, most));
    const auto middle = last.begin() + (end - last.begin() - 1) / 2; // the lower median of an even number
    std::nth_element(last.begin(), middle, end);
    return cost{*middle, at->second.on};
}

}} // namespace rill::RILL_ABI
