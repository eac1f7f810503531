// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

/// Where a part of a joined tensor lies: its copy into the whole, or out of it.
struct concat_part {
    index_t begin = 0; // in the whole
    bool empty = false;
    strided_layout layout;
};

std::vector<concat_part> concat_parts(const dims& whole, std::span<const tensor_type> parts, int axis,
                                      bool out_of_whole);

} // namespace detail

/// Cuts a tensor along an axis into parts shaped like others: the gradient of concat. Inputs: what is cut, then the tensors
/// whose shapes the parts have (their values don't matter). Gradient: the parts' gradients, joined.
struct concat_grad_op {
    static constexpr auto name = "ConcatGrad";
    int axis = 0;

    template <class V> void attributes(V& v) const { v("axis", axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        auto parts = detail::concat_parts(request.inputs[0].shape, request.outputs, axis, true);
        return kernel([parts = std::move(parts)](const kernel_args& a) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (!parts[i].empty)
                    D::copy(a.in<T>(0) + parts[i].begin, a.out<T>(static_cast<int>(i)), parts[i].layout);
        });
    }
    friend bool operator==(const concat_grad_op&, const concat_grad_op&) = default;
};

} // namespace rill::inline RILL_ABI

#include <rill/ops/array/concat.hpp> // its gradient, as this is the gradient of that

#if !RILL_COMPILED
#include <rill/ops/array/concat_grad.ipp>
#endif
