// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/compiled_loop.hpp>

#include <span>
#include <string>
#include <vector>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string loop_key(const std::string& expression, std::span<const int> parts) {
    std::string key = expression + "[";
    for (const int p : parts) key += p < 0 ? "." : std::to_string(p) + ".";
    return key + "]";
}

RILL_COLD std::string joined_loop_key(const std::vector<std::string>& expressions) {
    std::string key;
    for (const auto& e : expressions) key += (key.empty() ? "" : ";") + e;
    return key;
}

}}} // namespace rill::RILL_ABI::detail
