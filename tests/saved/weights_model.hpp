// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The variables that weights_writer.cpp writes as C++, and weights_reader.cpp loads.

#include <cstdint>
#include <string>

#include <rill/rill.hpp>

namespace saved_weights {

using namespace rill;

struct model {
    graph g;
    graph_scope here{g};
    variable<float, 3, 4> kernel{"dense/kernel", zeros()};
    variable<double> scale{"scale", 0.};
    variable<std::int64_t> step{"step", 0, {.trainable = false}};
    variable<bool, 3> flags{"flags", {false, false, false}, {.trainable = false}};
    variable<std::string, 2> words{"words", {"", ""}, {.trainable = false}};
    session s{g};
};

} // namespace saved_weights
