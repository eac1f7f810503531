// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/dims.hpp>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE void detail::refuse_rank(const char* what) { throw invalid_argument(what); }

RILL_INLINE std::string to_string(const dims& d) {
    if (!d.known_rank()) return "unknown rank";
    std::string text = "[";
    for (int i = 0; i < d.rank; ++i) {
        if (i) text += ", ";
        text += d[i] == dyn ? "?" : std::to_string(d[i]);
    }
    return text + "]";
}

RILL_INLINE std::string to_string(const tensor_type& t) {
    return std::string(to_string(t.type)) + " " + to_string(t.shape);
}

}} // namespace rill::RILL_ABI
