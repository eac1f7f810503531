// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include <rill/device/strided_layout.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct complex_op; // builds the gradient of a part

namespace detail {

using complex_types = type_set<std::complex<float>, std::complex<double>>;

/// Returns the layout of a copy of real numbers, broadcast to a shape, into one part of complex numbers.
strided_layout part_layout(const dims& from, const dims& to);

std::vector<tensor_type> part_outputs(const tensor_type& whole);

/// The common base of real and imag. `Place` is the index of the part in a complex number: 0 or 1.
template <int Place> struct complex_part {
    static constexpr int inputs = 1;
    using domain_type = complex_types;
    using compiled_types = complex_types;
    using brings = op_list<complex_op>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return part_outputs(in[0]); }
    template <class D, class T> kernel bind(kernel_request& request) const {
        strided_layout l;
        l.push(request.inputs[0].shape.size(), 2, 1);
        return kernel([l, empty = request.inputs[0].shape.size() == 0](const kernel_args& a) {
            using R = real_type<T>;
            if (!empty) D::copy(a.on, a.in<R>(0) + Place, a.out<R>(0), l);
        });
    }
};

/// Compiles the kernels of an op for all complex types, if the operand's type is known only at run time.
template <class Op> void require_complex() {
    complex_types::each([]<class T>(std::type_identity<T>) { require_kernel_for<Op, T>(); });
}

template <class Op, class X> auto part_of(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        using T = value_type_of<X>;
        constexpr auto rule = [](const dims& shape) { return shape_result{shape}; };
        return apply_node<real_type<T>, T>(Op{}, rule, where, x);
    } else {
        require_complex<Op>();
        return any_tensor(add_op_node(make_op(Op{}), 0, where, x));
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE strided_layout part_layout(const dims& from, const dims& to) {
    const auto steps = dense_strides(from), into = dense_strides(to);
    strided_layout l;
    for (int i = 0, k = from.rank - to.rank; i < to.rank; ++i, ++k)
        l.push(to[i], k < 0 || from[k] == 1 ? 0 : steps[static_cast<std::size_t>(k)],
               2 * into[static_cast<std::size_t>(i)]);
    l.collapse();
    return l;
}

RILL_INLINE std::vector<tensor_type> part_outputs(const tensor_type& whole) {
    if (whole.type != dtype::complex64 && whole.type != dtype::complex128)
        throw invalid_argument("the elements must be complex, not " + std::string(to_string(whole.type)));
    return {{whole.type == dtype::complex64 ? dtype::float32 : dtype::float64, whole.shape}};
}

}}} // namespace rill::RILL_ABI::detail
#endif
