// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/second_pass.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

template <class T> inline constexpr bool is_real = is_numeric<T> && !is_complex<T>;
template <class X> inline constexpr bool are_real = true;
template <typed_operand X> inline constexpr bool are_real<X> = is_real<value_type_of<X>>;

namespace detail {

/// Returns the gradient of a maximum or minimum, in two passes that evaluate the argument again. The first counts the elements equal to the
/// result. The second gives each of them its share; the argument's own adjoint follows.
std::vector<endpoint> extremum_gradient(const fused_spec& spec, const gradient_request& r);

/// The common base of reduce_max and reduce_min: fused nodes with a gradient of their own.
template <class Self, combine How> struct extremum {
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    using brings = op_list<equal_op, select_op, div_op, combining<combine::sum>, combining<How>>;
    fused_spec spec;

    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    const fused_spec* fused() const { return &spec; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return fused_outputs(spec, in); }
    std::vector<endpoint> gradient(const gradient_request& r) const { return extremum_gradient(spec, r); }
    input_list shape_only_inputs(int count) const { return unread_inputs(spec, 0, count); }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return fused_cost(spec, in, out);
    }
    template <class D, class T> kernel bind(kernel_request& request) const { return D::fused(spec, request); }

    static op_ptr make(fused_spec spec) { return make_op(Self{{std::move(spec)}}); }
};

template <class Op, combine How, bool Keep, int... Axes, class X>
auto reduce_extremum(const X& x, const std::source_location& where) {
    require_kernel_for<Op, X>();
    return reduce<How, Keep, Axes...>(x, &Op::make, where);
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <limits>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<endpoint> extremum_gradient(const fused_spec& spec, const gradient_request& r) {
    const second_pass pass(spec, r);
    const dtype type = pass.type();
    const auto hit = [&](tracer& t, int then, int otherwise) {
        const int equal = t.emit(info_of<equal_op>, dtype::boolean, {t.leaf(0), t.leaf(1)});
        return t.emit(info_of<select_op>, type, {equal, then, otherwise});
    };
    const endpoint count = pass.run(
        {r.output(0)},
        [&](tracer& t) { return hit(t, t.constant(scalar_of(type, 1)), t.constant(scalar_of(type, 0))); }, pass.view());
    const endpoint dx =
        pass.run({r.output(0), r.gradient(), count},
                 [&](tracer& t) {
                     // a NaN result equals no element: then, as in TensorFlow, all elements of its group get NaN
                     const int number = t.emit(info_of<equal_op>, dtype::boolean, {t.leaf(1), t.leaf(1)});
                     const int none = t.constant(scalar_of(type, 0)),
                               nan = t.constant(scalar_of(type, std::numeric_limits<double>::quiet_NaN()));
                     const int other = t.emit(info_of<select_op>, type, {number, none, nan});
                     return hit(t, t.emit<div_op>({t.leaf(2), t.leaf(3)}), other);
                 },
                 {});
    return pass.finish(dx);
}

}}} // namespace rill::RILL_ABI::detail
#endif
