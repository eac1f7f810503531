// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matmul.hpp>

#include <optional>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<endpoint> matmul_op::gradient(const gradient_request& r) const {
    // with A = op(a), B = op(b): dA = g B^T, dB = A^T g, each written so that a and b keep their own layout
    const auto product = [&](const endpoint& x, bool tx, const endpoint& y, bool ty) {
        return endpoint{detail::add_node(graph(*r.at.owner), make_op(matmul_op{tx, ty}), {x, y}), 0};
    };
    const auto conjugate = [&](const endpoint& x) {
        const dtype type = type_of(x).type;
        if (type != dtype::complex64 && type != dtype::complex128) return x;
        return detail::apply_untyped(conj_op::name, dtype::invalid, {{x}, {}, {0}}, graph(*r.at.owner));
    };
    const endpoint g = r.gradient();
    const endpoint a = r.wanted[1] ? conjugate(r.input(0)) : r.input(0),
                   b = r.wanted[0] ? conjugate(r.input(1)) : r.input(1);
    std::vector<endpoint> d(2);
    if (r.wanted[0]) d[0] = transpose_a ? product(b, transpose_b, g, true) : product(g, false, b, !transpose_b);
    if (r.wanted[1]) d[1] = transpose_b ? product(g, true, a, transpose_a) : product(a, !transpose_a, g, false);
    return d;
}

RILL_INLINE std::optional<matmul_op> matmul_op::absorb(int input, const op& producer) const {
    if (producer.kernel_name() != transpose_op::name) return std::nullopt;
    const auto& order = static_cast<const transpose_op*>(producer.attributes())->order;
    const bool swapped = order.count == 0 || order[0] == 1 || order[0] == -1;
    return matmul_op{transpose_a != (swapped && input == 0), transpose_b != (swapped && input == 1)};
}

} // namespace rill::inline RILL_ABI
