// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/region_use.hpp>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD input_list region_use::writes() const {
    input_list all;
    for (int i = 0; i < written; ++i) all.push_back(static_cast<std::int16_t>(operands + captures + i));
    return all;
}

}} // namespace rill::RILL_ABI
