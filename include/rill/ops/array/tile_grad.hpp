// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include <rill/core/shared.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct tile_op;

namespace detail {

/// The shape of a tiled tensor with its repetitions as separate axes, and the sum over these axes.
struct untiling {
    dims apart, kept;
    fused_spec sum;
};
untiling untiling_of(dtype type, const dims& tiled, const dims& x);

} // namespace detail

/// Computes the gradient of a tile whose multiples are a tensor. Inputs: g, the tensor that was tiled, whose values are not
/// read, and the multiples. Gradient: g, tiled.
struct tile_grad_op {
    static constexpr auto name = "TileGrad";
    static constexpr int inputs = 3;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<tile_op, combining<combine::sum>>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {1, 2}; } // the gradient's gradient reads the multiples

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &g = request.inputs[0].shape, &x = request.outputs[0].shape;
        if (g.size() == 0) return kernel([n = x.size()](const kernel_args& a) { D::fill(a.on, n, a.out<T>(0), T(0)); });
        auto u = detail::make_shared<detail::untiling>(detail::untiling_of(dtype_of<T>, g, x));
        const tensor_type in{dtype_of<T>, u->apart}, out{dtype_of<T>, u->kept};
        const auto given = std::pair(request.inputs, request.outputs);
        request.inputs = {&in, 1};
        request.outputs = {&out, 1};
        auto sum = std::make_shared<kernel>(D::fused(u->sum, request));
        std::tie(request.inputs, request.outputs) = given;
        return kernel([u, sum](const kernel_args& a) { (*sum)(a); });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/tile.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE untiling untiling_of(dtype type, const dims& tiled, const dims& x) {
    untiling u;
    u.sum.results.resize(1);
    auto& how = u.sum.results[0].reduce;
    how.how = combine::sum;
    bool new_axis = true; // false: the axis can be merged with the previous kept axis
    for (int i = 0; i < x.rank; ++i) {
        const bool repeated = tiled[i] != x[i];
        if (u.apart.rank + (repeated ? 2 : new_axis) > max_rank)
            throw unimplemented("the gradient of more than four axes that are repeated as a tensor says");
        if (repeated) {
            how.axes.set(how.axes.count++, u.apart.rank);
            u.apart.push(tiled[i] / x[i]);
        }
        if (repeated || new_axis) {
            u.apart.push(x[i]);
            u.kept.push(x[i]);
        } else {
            u.apart[u.apart.rank - 1] *= x[i];
            u.kept[u.kept.rank - 1] *= x[i];
        }
        new_axis = false;
    }
    if (how.axes.count == 0) how.how = combine::map;
    tracer t({type}, {});
    u.sum.body = t.finish({t.leaf(0)});
    u.sum.leaves.resize(1);
    return u;
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> tile_grad_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type) throw invalid_argument("the dtypes differ");
    const dims &g = in[0].shape, &x = in[1].shape;
    bool fits = !g.known_rank() || !x.known_rank() || g.rank == x.rank;
    for (int i = 0; fits && i < std::min(g.rank, x.rank); ++i)
        fits = g[i] == dyn || x[i] == dyn || (x[i] == 0 ? g[i] == 0 : g[i] % x[i] == 0);
    if (!fits) throw invalid_argument("the gradient is not a repetition of the tensor");
    return {{in[0].type, x}};
}

RILL_INLINE std::vector<endpoint> tile_grad_op::gradient(const gradient_request& r) const {
    return {r.add<tile_grad_op>(tile_op{}, {r.gradient(), r.input(2)}), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
