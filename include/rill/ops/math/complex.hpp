// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/math/complex_part.hpp>

namespace rill { inline namespace RILL_ABI {

struct real_op;
struct imag_op;

/// Complex numbers from real and imaginary parts. Shape: both broadcast. Gradient: the parts of g, summed to the shapes of the operands.
struct complex_op {
    static constexpr auto name = "Complex";
    static constexpr int inputs = 2;
    using domain_type = detail::complex_types; // the dtypes of the result
    using compiled_types = detail::complex_types;
    using brings = op_list<real_op, imag_op, combining<combine::sum>>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type> out) const { return out[0].type; }
    template <class D, class T> kernel bind(kernel_request& request) const {
        using R = real_type<T>;
        const dims& to = request.outputs[0].shape;
        const auto part = [&](std::size_t k) { return detail::part_layout(request.inputs[k].shape, to); };
        return kernel([re = part(0), im = part(1), empty = to.size() == 0](const kernel_args& a) {
            if (empty) return;
            D::copy(a.on, a.in<R>(0), a.out<R>(0), re);
            D::copy(a.on, a.in<R>(1), a.out<R>(0) + 1, im);
        });
    }
};

/// Returns complex numbers from parts in float or double: complex(re, im).
template <graph_operand A, graph_operand B>
auto complex(const A& re, const B& im, const std::source_location& where = std::source_location::current()) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "complex: the dtypes differ; convert with cast<T>()");
    if constexpr (typed_operand<A> && typed_operand<B>) {
        using R = value_type_of<A>;
        static_assert(same_dtype<R, float> || same_dtype<R, double>, "complex: the parts must be float or double");
        static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "complex: the shapes do not broadcast");
        using C = std::complex<std::conditional_t<same_dtype<R, float>, float, double>>;
        constexpr auto rule = [](const dims& a, const dims& b) { return rules::broadcast(a, b); };
        return apply_node<C, C>(complex_op{}, rule, where, re, im);
    } else {
        detail::require_complex<complex_op>();
        return any_tensor(detail::add_op_node(make_op(complex_op{}), 0, where, re, im));
    }
}

}} // namespace rill::RILL_ABI

#include <rill/ops/math/imag.hpp> // its gradient, as this is the gradient of them
#include <rill/ops/math/real.hpp>

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> complex_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    if (in[0].type != dtype::float32 && in[0].type != dtype::float64)
        throw invalid_argument("the parts must be float32 or float64, not " + std::string(to_string(in[0].type)));
    const auto shape = rules::broadcast(in[0].shape, in[1].shape);
    if (!shape.ok()) throw invalid_argument(shape.reason());
    return {{in[0].type == dtype::float32 ? dtype::complex64 : dtype::complex128, shape.shape}};
}

RILL_INLINE std::vector<endpoint> complex_op::gradient(const gradient_request& r) const {
    std::vector<endpoint> d(2);
    if (r.wanted[0]) d[0] = detail::summed_like(r.add<complex_op>(real_op{}, {r.gradient()}), r.input(0));
    if (r.wanted[1]) d[1] = detail::summed_like(r.add<complex_op>(imag_op{}, {r.gradient()}), r.input(1));
    return d;
}

}} // namespace rill::RILL_ABI
#endif
