// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/frozen_check.hpp>

#include <string>
#include <tuple>

#include <rill/core/number_text.hpp>
#include <rill/core/real_number.hpp>
#include <rill/graph/op/fields.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD double frozen_check(const session& s, const any_tensor& loss, const operation& train,
                              const std::vector<feed_value>& feeds, int steps) {
    const auto number = [](const any_array& a) { return detail::real_number(a, "frozen_check: the loss"); };
    any_array first;
    for (int i = 0; i < steps; ++i) {
        const any_array now = std::get<0>(s.run(std::tuple(loss, train), feeds));
        if (first.empty()) first = now;
        if (!detail::same_array(first, now))
            throw failed_precondition("frozen_check: the loss '" + loss.name() + "' was " +
                                      detail::number_text(number(first), detail::number_form::general, 9) + " and is " +
                                      detail::number_text(number(now), detail::number_form::general, 9) + " in step " +
                                      std::to_string(i + 1));
    }
    return first.empty() ? 0 : number(first);
}

}} // namespace rill::RILL_ABI
