// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/second_pass.hpp>

namespace rill { inline namespace RILL_ABI {

/// The product over axes; of nothing, 1. Gradient: g times the product of the other elements, also where some are 0.
struct reduce_prod_op {
    static constexpr auto name = "Prod", label = "reduce_prod";
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    using brings = op_list<equal_op, select_op, mul_op, div_op, combining<combine::sum>, combining<combine::prod>>;
    fused_spec spec;

    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    const fused_spec* fused() const { return &spec; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return detail::fused_outputs(spec, in); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return D::fused(spec, request); }

    static op_ptr make(fused_spec spec) { return make_op(reduce_prod_op{std::move(spec)}); }
};

namespace detail {

template <bool Keep, int... Axes, class X> auto reduce_prod(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_prod: an axis is out of range, or named twice");
        static_assert(op_takes<reduce_prod_op, value_type_of<X>>, "reduce_prod: the element type is not real");
    }
    require_kernel_for<reduce_prod_op, X>();
    return reduce<combine::prod, Keep, Axes...>(x, &reduce_prod_op::make, where);
}

} // namespace detail

/// The product over axes; of nothing, 1. All axes without a list; negative axes count from the end. The argument is evaluated in
/// the same pass.
template <int... Axes, graph_operand X>
auto reduce_prod(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_prod<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_prod(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_prod<true, Axes...>(x, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> reduce_prod_op::gradient(const gradient_request& r) const {
    const detail::second_pass pass(spec, r);
    const dtype type = pass.type();
    const auto number = [&](tracer& t, double v) { return t.constant(detail::scalar_of(type, v)); };
    const auto choose = [&](tracer& t, int where, double equals, int then, int otherwise) {
        const int hit = t.emit(info_of<equal_op>, dtype::boolean, {where, number(t, equals)});
        return t.emit(info_of<select_op>, type, {hit, then, otherwise});
    };
    // the product of what is not 0, and how many are
    reduction product = pass.view();
    product.how = combine::prod;
    const endpoint others = pass.run(
        {}, [&](tracer& t) { return choose(t, t.leaf(0), 0, number(t, 1), t.leaf(0)); }, product, &make);
    const endpoint zeros = pass.run(
        {}, [&](tracer& t) { return choose(t, t.leaf(0), 0, number(t, 1), number(t, 0)); }, pass.view());
    const endpoint dx = pass.run({r.gradient(), others, zeros},
                                 [&](tracer& t) {
                                     const int g = t.leaf(1), rest = t.leaf(2), count = t.leaf(3);
                                     const int at_zero = choose(t, count, 1, rest, number(t, 0));
                                     const int elsewhere =
                                         choose(t, count, 0, t.emit<div_op>({rest, t.leaf(0)}), number(t, 0));
                                     return t.emit<mul_op>({g, choose(t, t.leaf(0), 0, at_zero, elsewhere)});
                                 },
                                 {});
    return pass.finish(dx);
}

}} // namespace rill::RILL_ABI
#endif
