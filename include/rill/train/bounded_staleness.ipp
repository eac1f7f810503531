// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/bounded_staleness.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD staleness_traits checked_staleness(const bounded_staleness_options& how, const std::source_location& where) {
    const staleness_traits traits{how.bound, how.workers};
    try {
        traits.check();
    } catch (const invalid_argument& problem) {
        throw invalid_argument("bounded_staleness: " + std::string(problem.what()) + at_place(where));
    }
    return traits;
}

}}} // namespace rill::RILL_ABI::detail
