// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op/region_attributes.hpp>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD bool region_attributes::counts(std::size_t inputs) const {
    return operands >= 0 && captures >= 0 && written >= 0 &&
           std::int64_t(operands) + captures + written == static_cast<std::int64_t>(inputs);
}

RILL_COLD input_list region_attributes::writes() const {
    input_list all;
    for (int i = 0; i < written; ++i) all.push_back(operands + captures + i);
    return all;
}

}} // namespace rill::RILL_ABI
