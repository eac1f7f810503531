// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/cumsum.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Running products along an axis. Gradient: the running sums of g times the products, the other way, over x; at the first 0 of a
/// row, those of the products without it. That of the gradient is finite there, and exact where no element is 0.
struct cumprod_op : detail::running {
    static constexpr auto name = "Cumprod";
    using domain_type = domains::real;
    using brings = op_list<cumprod_op, cumsum_op, mul_op, div_op, equal_op, select_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return bind_scan<combine::prod, D, T>(request);
    }
};

/// cumprod<0>(x): [a, b, c] becomes [a, a b, a b c]; cumprod<0>(x, {.exclusive = true, .reverse = true}).
template <int Axis, graph_operand X>
auto cumprod(const X& x, const scan_options& how = {},
             const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "cumprod: the axis is out of range");
        static_assert(op_takes<cumprod_op, value_type_of<X>>, "cumprod: the element type is not real");
    }
    return detail::add_scan(x, cumprod_op{{Axis, how}}, where);
}
/// Along an axis known at run time only.
template <graph_operand X>
any_tensor cumprod(const X& x, int axis, const scan_options& how = {},
                   const std::source_location& where = std::source_location::current()) {
    return apply_node(cumprod_op{{axis, how}}, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> cumprod_op::gradient(const gradient_request& r) const {
    const cumsum_op zeros{{axis, how}}, back{{axis, {how.exclusive, !how.reverse}}};
    const endpoint x = r.input(0);
    const dtype type = type_of(x).type;
    const auto number = [&](tracer& t, int n) { return t.constant(detail::scalar_of(type, n)); };
    const auto where_equal = [&](tracer& t, int leaf, int n, int then, int otherwise) {
        const int equal = t.emit(info_of<equal_op>, dtype::boolean, {leaf, number(t, n)});
        return t.emit(info_of<select_op>, type, {equal, then, otherwise});
    };
    const auto made = [&](const endpoint_list& inputs, const auto& build) -> endpoint {
        tracer t(std::vector<dtype>(inputs.size(), type), {});
        fused_spec spec;
        spec.kind = fused_spec::form::program;
        spec.body = t.finish({build(t)});
        spec.scalars = t.scalars();
        for (std::size_t i = 0; i < inputs.size(); ++i) spec.leaves.push_back({static_cast<int>(i), {}});
        spec.results.resize(1);
        return {detail::add_node(graph(*r.at.owner), detail::make_fused_op(std::move(spec)), inputs), 0};
    };
    // the products without zeros, and how many zeros each had: one that had none gives to all that it was made of, one that
    // had one gives to that zero, others give nothing
    const endpoint is_zero =
        made({x}, [&](tracer& t) { return where_equal(t, t.leaf(0), 0, number(t, 1), number(t, 0)); });
    const endpoint factors =
        made({x}, [&](tracer& t) { return where_equal(t, t.leaf(0), 0, number(t, 1), t.leaf(0)); });
    const endpoint count = r.add<cumprod_op>(zeros, {is_zero}), products = r.add<cumprod_op>(*this, {factors});
    const auto sums_of = [&](int had) {
        const endpoint weighted = made({r.gradient(), products, count}, [&](tracer& t) {
            return where_equal(t, t.leaf(2), had, t.emit<mul_op>({t.leaf(0), t.leaf(1)}), number(t, 0));
        });
        return r.add<cumprod_op>(back, {weighted});
    };
    return {made({x, sums_of(0), sums_of(1), factors}, [&](tracer& t) {
        return where_equal(t, t.leaf(0), 0, t.leaf(2), t.emit<div_op>({t.leaf(1), t.leaf(3)}));
    })};
}

}} // namespace rill::RILL_ABI
#endif
