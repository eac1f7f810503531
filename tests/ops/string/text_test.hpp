// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What tests of text share.

#include <rill/ops/array/placeholder.hpp>

#include "ops/harness.hpp"

namespace text_test {

using namespace rill;
using texts = std::vector<std::string>;

inline any_array array(const dims& shape, const texts& values) { return op_test::make_array(shape, values); }

inline texts list(const any_array& a) {
    const auto all = a.elements<std::string>();
    return {all.begin(), all.end()};
}

} // namespace text_test
