// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A builder of gradients for reductions other than sums, by further passes over the argument. Each pass evaluates the
/// argument again.
class second_pass {
public:
    second_pass(const fused_spec& spec, const gradient_request& r);

    dtype type() const { return type_; }
    /// Returns the argument as a node of its own.
    const endpoint& argument() const { return x_; }
    /// Returns the reduction as a view: it broadcasts tensors of the result's shape to the argument's elements.
    const reduction& view() const { return view_; }

    /// Adds a node over the argument (leaf 0) and reduced tensors (the leaves after it). `how` reduces its result.
    template <class Build>
    endpoint run(const std::vector<endpoint>& reduced, const Build& build, const reduction& how) const {
        return run_over(x_, reduced, build, how);
    }
    /// Adds the node over another tensor of the argument's shape.
    template <class Build>
    endpoint run_over(const endpoint& full, const std::vector<endpoint>& reduced, const Build& build,
                      const reduction& how) const {
        tracer t(std::vector<dtype>(1 + reduced.size(), type_), {});
        return add(t, build(t), full, reduced, how);
    }
    /// Returns the gradients of the node's inputs, given the gradient of the argument's elements.
    std::vector<endpoint> finish(const endpoint& dx) const;

private:
    endpoint add(tracer& t, int result, const endpoint& full, const std::vector<endpoint>& reduced,
                 const reduction& how) const;

    const gradient_request& request_;
    fused_spec mapped_;
    reduction view_;
    dtype type_;
    endpoint x_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE second_pass::second_pass(const fused_spec& spec, const gradient_request& r)
    : request_(r), mapped_(spec), view_{combine::sum, spec.results[0].reduce.axes, spec.results[0].reduce.keep_dims},
      type_(type_of(r.output(0)).type) {
    mapped_.results[0].reduce = {}; // the argument as a node: the same expression without the reduction
    x_ = {add_node(graph(*r.at.owner), make_op(fused_op{mapped_}), r.at.inputs), 0};
}

RILL_INLINE endpoint second_pass::add(tracer& t, int result, const endpoint& full, const std::vector<endpoint>& reduced,
                                      const reduction& how) const {
    fused_spec next;
    next.body = t.finish({result});
    next.kind = fused_spec::form::program;
    next.scalars = t.scalars();
    next.leaves.push_back({0, {}});
    endpoint_list inputs{full};
    for (const auto& e : reduced) {
        next.leaves.push_back({static_cast<int>(inputs.size()), view_});
        inputs.push_back(e);
    }
    next.results.resize(1);
    next.results[0].reduce = how;
    return {add_node(graph(*request_.at.owner), make_op(fused_op{std::move(next)}), std::move(inputs)), 0};
}

RILL_INLINE std::vector<endpoint> second_pass::finish(const endpoint& dx) const {
    return fused_gradient(mapped_, {*x_.from, std::span(&dx, 1), request_.wanted, request_.ops});
}

}}} // namespace rill::RILL_ABI::detail
#endif
