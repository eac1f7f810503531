// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/replica_index.hpp>

#include <string>

namespace rill { inline namespace RILL_ABI {

RILL_COLD index_t replica_index::number_for(const endpoint& loss, index_t count, const char* who,
                                            const std::source_location& where) const {
    const auto& device = requested_device(*loss.from);
    const index_t number = number_ >= 0 ? number_ : parse_device(device).task;
    if (number >= count)
        throw invalid_argument(std::string(who) + ": the replica is " + std::to_string(number) +
                               (number_ >= 0 ? "" : ", the task of '" + name_of(loss) + "' on '" + device + "'") +
                               "; there are " + std::to_string(count) + ", numbered from 0" + detail::at_place(where));
    return number;
}

}} // namespace rill::RILL_ABI
