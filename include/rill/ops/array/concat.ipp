// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> concat_op::outputs(std::span<const tensor_type> in) const {
    std::vector<dims> shapes;
    for (const auto& t : in) {
        if (t.type != in[0].type)
            throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(t));
        shapes.push_back(t.shape);
    }
    const auto joined = rules::concat(shapes, axis);
    if (!joined.ok()) throw invalid_argument(joined.broken);
    return {{in[0].type, joined.shape}};
}

RILL_INLINE std::vector<endpoint> concat_op::gradient(const gradient_request& r) const {
    std::vector<endpoint> inputs{r.gradient()};
    inputs.insert(inputs.end(), r.at.inputs.begin(), r.at.inputs.end());
    const auto* cut = detail::add_node(graph(*r.at.owner), make_op(concat_grad_op{axis}), std::move(inputs));
    std::vector<endpoint> parts;
    for (std::size_t i = 0; i < r.at.inputs.size(); ++i) parts.push_back({cut, static_cast<int>(i)});
    return parts;
}

RILL_INLINE std::vector<endpoint> concat_grad_op::gradient(const gradient_request& r) const {
    std::vector<endpoint> parts;
    for (std::size_t i = 0; i < r.gradients.size(); ++i)
        parts.push_back(r.gradients[i] ? r.gradients[i] : detail::filled_like(r.input(static_cast<int>(i) + 1), 0));
    std::vector<endpoint> d(r.at.inputs.size()); // the shapes of the parts carry no gradient
    d[0] = {detail::add_node(graph(*r.at.owner), make_op(concat_op{axis}), std::move(parts)), 0};
    return d;
}

} // namespace rill::inline RILL_ABI
