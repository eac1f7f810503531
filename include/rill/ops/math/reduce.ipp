// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE endpoint add_reduction(const any_tensor& x, const reduction& how, make_fused make,
                                   const std::source_location& where) {
    require_fused();
    tracer t({x.dtype()}, {});
    fused_spec spec;
    spec.body = t.finish({t.leaf(0)});
    spec.leaves.resize(1);
    spec.results.resize(1);
    spec.results[0].reduce = how;
    return {add_node(graph(x.graph()), make(std::move(spec)), {x.end()}, {}, false, where), 0};
}

} // namespace rill::inline RILL_ABI::detail
