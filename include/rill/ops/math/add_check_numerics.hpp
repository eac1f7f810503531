// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/ops/control/group.hpp>
#include <rill/ops/math/check_numerics.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns an operation that checks the floating outputs of all nodes made so far in the current graph. Nodes within loops and branches are
/// not checked. Run it as a further target: s.run({loss, train, check}). It fails with invalid_argument, which names the first node that
/// gives NaN or an infinity.
template <class Tensor = any_tensor> // a template, so that only programs that call it have its kernels
operation add_check_numerics(const std::source_location& where = std::source_location::current()) {
    std::vector<operation> checks;
    for (const auto* n : current_graph().nodes()) {
        if (n->inside || n->op->role() == op_role::variable || n->op->role() == op_role::constant) continue;
        for (int i = 0; i < static_cast<int>(n->outputs.size()); ++i)
            if (const auto type = n->outputs[i].type;
                type == dtype::float32 || type == dtype::float64 || type == dtype::half || type == dtype::bfloat16) {
                const endpoint e{n, i};
                checks.emplace_back(check_numerics(Tensor(e), "of '" + name_of(e) + "'", where).node());
            }
    }
    return group(checks, "check_numerics", where);
}

}} // namespace rill::RILL_ABI
