// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <rill/ops/summary/summary.hpp>

namespace rill { inline namespace RILL_ABI {

/// Serializes a scalar, of rank 0 or with one element, as a summary. TensorBoard shows it as a curve. Shape: [].
struct scalar_summary_op {
    static constexpr auto name = "ScalarSummary", label = "scalar_summary";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    static constexpr auto no_gradient = "a summary does not change smoothly";
    std::string tag;

    static void fields(auto& op, auto& visit) { visit("tag", op.tag); }
    static input_list host_inputs() { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

/// Returns the bytes of a summary as a tensor<std::string>: scalar_summary("loss", loss). It joins the collection
/// "summaries".
template <graph_operand X>
tensor<std::string> scalar_summary(const std::string& tag, const X& x,
                                   const std::source_location& where = std::source_location::current()) {
    return detail::add_summary(scalar_summary_op{tag}, x, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> scalar_summary_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type == dtype::string || in[0].type == dtype::complex64 || in[0].type == dtype::complex128)
        throw invalid_argument("the elements are " + std::string(to_string(in[0].type)) +
                               ", which are not real numbers");
    if (in[0].shape.known_rank() && in[0].shape.complete() && in[0].shape.size() != 1)
        throw invalid_argument("a scalar has one element, the shape is " + to_string(in[0].shape));
    return {{dtype::string, dims{}}};
}

RILL_COLD kernel scalar_summary_op::bound(const kernel_request& r) const {
    return kernel([type = r.inputs[0], tag = tag](const kernel_args& a) {
        const any_array x = a.array(type, 0);
        *a.out<std::string>(0) = detail::scalar_summary_bytes(tag, x);
    });
}

}} // namespace rill::RILL_ABI
#endif
