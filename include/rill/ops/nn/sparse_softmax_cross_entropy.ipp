// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> sparse_softmax_cross_entropy_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the labels");
    const auto loss = rules::sparse_cross_entropy(in[0].shape, in[1].shape);
    if (!loss.ok()) throw invalid_argument(loss.broken);
    return {{in[0].type, loss.shape}, {in[0].type, in[0].shape}};
}

RILL_INLINE std::vector<endpoint> sparse_softmax_cross_entropy_op::gradient(const gradient_request& r) const {
    using namespace detail;
    const endpoint g = r.gradient(0), h = r.gradient(1);
    endpoint d = g ? row_product(each_row(g), {r.output(1)}) : endpoint();
    if (h) { // the gradient of the gradient is that of softmax: the label's share is constant
        const endpoint p{add_node(graph(*r.at.owner), make_op(softmax_op{}), {r.input(0)}), 0};
        d = sum_of(d, softmax_gradient(p, h));
    }
    return {d, {}};
}

} // namespace rill::inline RILL_ABI
