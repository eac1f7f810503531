// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/eager/evaluate.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::shared_ptr<const evaluation> kept_evaluations::find(const vector<scalar_value>& scalars,
                                                                     const std::vector<any_array>& values) {
    const auto has_shape = [](const dims& shape, const any_array& value) { return shape == value.shape(); };
    const std::lock_guard lock(mutex_);
    const auto at = detail::find_if(kept_, [&](const auto& k) {
        return k->core->device().type == &default_device() && k->scalars == scalars &&
               std::equal(k->shapes.begin(), k->shapes.end(), values.begin(), values.end(), has_shape);
    });
    if (at == kept_.end()) return nullptr;
    std::rotate(at, at + 1, kept_.end()); // most recently used last
    return kept_.back();
}

RILL_INLINE void kept_evaluations::add(std::shared_ptr<const evaluation> made) {
    constexpr std::size_t most = 16;
    std::shared_ptr<const evaluation> gone; // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= most) {
        gone = std::move(kept_.front());
        kept_.erase(kept_.begin(), kept_.begin() + 1);
    }
    kept_.push_back(std::move(made));
}

}}} // namespace rill::RILL_ABI::detail
