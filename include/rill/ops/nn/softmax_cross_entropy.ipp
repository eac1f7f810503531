// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/softmax_cross_entropy.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> softmax_cross_entropy_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    if (!rules::compatible(in[0].shape, in[1].shape)) throw invalid_argument("the shapes of logits and labels differ");
    const auto rows = detail::rows_shape(rules::merge(in[0].shape, in[1].shape));
    if (!rows.ok()) throw invalid_argument(rows.broken);
    const dims loss = rows.shape.known_rank() ? rules::reduce(rows.shape, axis_list{-1}, false).shape : dims::unknown();
    return {{in[0].type, loss}, {in[0].type, rows.shape}};
}

RILL_INLINE std::vector<endpoint> softmax_cross_entropy_op::gradient(const gradient_request& r) const {
    using namespace detail;
    const graph here(*r.at.owner);
    const endpoint logits = r.input(0), labels = r.input(1), g = r.gradient(0), h = r.gradient(1);
    std::vector<endpoint> d(2);
    if (r.wanted[0] && g) d[0] = row_product(each_row(g), {r.output(1)});
    if (r.wanted[1] && g) {
        const endpoint log_p{add_node(here, make_op(log_softmax_op{}), {logits}), 0};
        d[1] = row_program({each_row(g), {log_p}}, false,
                           [](tracer& t) { return row_op(t, "Neg", {row_op(t, "Mul", {t.leaf(0), t.leaf(1)})}); });
    }
    if (h) { // the gradient of the gradient: of p sum(labels) - labels, with p = softmax(logits)
        const endpoint p{add_node(here, make_op(softmax_op{}), {logits}), 0};
        if (r.wanted[0]) d[0] = sum_of(d[0], row_product(each_row(row_sum(labels)), {softmax_gradient(p, h)}));
        if (r.wanted[1])
            d[1] = sum_of(d[1], row_program({each_row(row_dot(h, p)), {h}}, false,
                                            [](tracer& t) { return row_op(t, "Sub", {t.leaf(0), t.leaf(1)}); }));
    }
    return d;
}

} // namespace rill::inline RILL_ABI
