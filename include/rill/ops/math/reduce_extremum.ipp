// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_extremum.hpp>

#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE std::vector<endpoint> extremum_gradient(const fused_spec& spec, const gradient_request& r) {
    const dtype type = type_of(r.output(0)).type;
    const reduction view{combine::sum, spec.results[0].reduce.axes, spec.results[0].reduce.keep_dims};

    // the argument as a node of its own: the same expression, mapped
    fused_spec mapped = spec;
    mapped.results[0].reduce = {};
    const endpoint x{add_node(graph(*r.at.owner), make_op(fused_op{mapped}), r.at.inputs), 0};

    const auto over = [&](std::vector<endpoint> reduced, auto&& build, const fused_result& how) {
        fused_spec next;
        std::vector<dtype> leaves(1 + reduced.size(), type);
        tracer t(leaves, {});
        next.body = t.finish({build(t)});
        next.kind = fused_spec::form::program;
        next.scalars = t.scalars();
        next.leaves.push_back({0, {}});
        for (std::size_t i = 0; i < reduced.size(); ++i) next.leaves.push_back({static_cast<int>(i) + 1, view});
        next.results = {how};
        reduced.insert(reduced.begin(), x);
        return endpoint{add_node(graph(*r.at.owner), make_op(fused_op{std::move(next)}), std::move(reduced)), 0};
    };
    const auto hit = [&](tracer& t, int then) {
        const int equal = t.emit("Equal", dtype::boolean, {t.leaf(0), t.leaf(1)});
        return t.emit("Select", type, {equal, then, t.constant(scalar_of(type, 0))});
    };
    fused_result reduced;
    reduced.reduce = view;
    const endpoint count =
        over({r.output(0)}, [&](tracer& t) { return hit(t, t.constant(scalar_of(type, 1))); }, reduced);
    const endpoint dx = over(
        {r.output(0), r.gradient(), count},
        [&](tracer& t) { return hit(t, t.emit("Div", type, {t.leaf(2), t.leaf(3)})); }, fused_result{});
    return fused_gradient(mapped, {*x.from, std::span(&dx, 1), r.wanted});
}

} // namespace rill::inline RILL_ABI::detail
