// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat_parts.hpp>

namespace rill { inline namespace RILL_ABI {

struct concat_op;

/// Splits a tensor along an axis into parts with the shapes of other tensors. This is the gradient of concat. Inputs: the
/// tensor to split, then the tensors that give the shapes (their values are not read). Gradient: the parts' gradients,
/// concatenated.
struct concat_grad_op {
    static constexpr auto name = "ConcatGrad";
    static constexpr int least_inputs = 2;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<concat_op>;
    int axis = 0;

    static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs(int count) {
        input_list parts;
        for (int i = 1; i < count; ++i) parts.push_back(i);
        return parts;
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        auto parts = detail::concat_parts(request.inputs[0].shape, request.outputs, axis, true);
        return kernel([parts = std::move(parts)](const kernel_args& a) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (!parts[i].empty)
                    D::copy(a.on, a.in<T>(0) + parts[i].begin, a.out<T>(static_cast<int>(i)), parts[i].layout);
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/concat.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> concat_grad_op::outputs(std::span<const tensor_type> in) const {
    std::vector<tensor_type> out;
    std::vector<dims> parts;
    for (const auto& t : in.subspan(1)) {
        out.push_back({in[0].type, t.shape});
        parts.push_back(t.shape);
    }
    const auto whole = rules::concat(parts, axis);
    if (!whole.ok()) throw invalid_argument(whole.reason());
    if (!rules::compatible(in[0].shape, whole.shape)) throw invalid_argument("the parts don't make up the whole");
    return out;
}

RILL_INLINE std::vector<endpoint> concat_grad_op::gradient(const gradient_request& r) const {
    endpoint_list parts;
    for (std::size_t i = 0; i < r.gradients.size(); ++i)
        parts.push_back(r.gradients[i] ? r.gradients[i] : detail::filled_like(r.input(static_cast<int>(i) + 1), 0));
    std::vector<endpoint> d(r.at.inputs.size()); // the shapes of the parts carry no gradient
    d[0] = r.add<concat_grad_op>(concat_op{axis}, std::move(parts));
    return d;
}

}} // namespace rill::RILL_ABI
#endif
