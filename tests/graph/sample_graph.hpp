// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/all_kernels.hpp>

// What tests of graphs that travel begin with.

namespace sample_graph {

using namespace rill;

/// x, y = tanh(x) + x, a variable that is given its first value, and an update of it.
inline graph sample() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 2> x("x");
    const name_scope scope("layer");
    const tensor y(tanh(x) + x, "y");
    variable<float, 2> w("w", zeros());
    const tensor added = w.assign_add(reduce_sum<0>(y));
    group(operation(added.node()));
    g.add_to_collection("mine", y.end());
    return g;
}

} // namespace sample_graph
