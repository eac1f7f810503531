// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// References of what takes parts of arrays.

#include <functional>

#include "ops/harness.hpp"

namespace slice_test {

using index = std::vector<std::size_t>;

/// An array of that shape whose element at i is x's element at from(i).
template <class X, class From> X picked(const X& x, const index& shape, const From& from) {
    X y(shape);
    index i(shape.size());
    for (std::size_t flat = 0; flat < y.size(); ++flat) {
        std::size_t rest = flat;
        for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) i[k] = rest % shape[k];
        const index at = from(i);
        y.storage()[flat] = x.element(at.begin(), at.end());
    }
    return y;
}

} // namespace slice_test
