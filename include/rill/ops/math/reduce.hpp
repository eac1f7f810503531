// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Asks a reduction to leave the reduced axes as extents of 1: reduce_max<1>(x, keep_dims).
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// The default of a reduction: the reduced axes are removed.
struct drop_dims_t {};
template <class K>
concept dims_option = std::same_as<K, keep_dims_t> || std::same_as<K, drop_dims_t>;

/// True if the axes exist, and none is named twice.
template <class E, int... Axes>
inline constexpr bool axes_exist = rules::reduce(static_dims<E>, axis_list{Axes...}, false).ok();

/// True if the elements are of a kind, or if the operand's type does not tell.
template <class X> inline constexpr bool are_numbers = true;
template <typed_operand X> inline constexpr bool are_numbers<X> = is_numeric<value_type_of<X>>;
template <class X> inline constexpr bool are_real_floating = true;
template <typed_operand X> inline constexpr bool are_real_floating<X> = is_real_floating<value_type_of<X>>;
template <class X> inline constexpr bool are_bool = true;
template <typed_operand X> inline constexpr bool are_bool<X> = std::is_same_v<value_type_of<X>, bool>;

namespace detail {

template <class E, bool Keep, int... Axes> struct reduce_rule {
    static constexpr dims value = rules::reduce(static_dims<E>, axis_list{Axes...}, Keep).shape;
};

/// Reduces a tensor of unknown type.
endpoint add_reduction(const any_tensor& x, const reduction& how, make_fused make, const std::source_location& where);

template <combine How, class X> void require_reduction() {
    const auto one = []<class T>(std::type_identity<T>) { require_combiner<How, T>(); };
    if constexpr (How == combine::all || How == combine::any)
        one(std::type_identity<bool>{});
    else if constexpr (typed_operand<X>)
        one(std::type_identity<value_type_of<X>>{});
    else
        types::numbers::each(one);
}

/// Adds a node that evaluates an expression and reduces it in the same pass. All reductions share it.
template <combine How, class X>
any_tensor reduced(const X& x, const axis_list& axes, bool keep, make_fused make, const std::source_location& where) {
    require_reduction<How, X>();
    const reduction how{How, axes, keep};
    if constexpr (typed_operand<X>) {
        using S = typename strip<X>::type;
        require_structure<S>();
        sealing s(graph_of_operand(x));
        gather_leaves(x, s);
        return add_expression(program_of<S>(), s, how, make, {}, true, where);
    } else {
        return add_reduction(x, how, make, where);
    }
}
template <combine How, bool Keep, int... Axes, class X>
auto reduce(const X& x, make_fused make, const std::source_location& where) {
    const any_tensor made = reduced<How>(x, axis_list{Axes...}, Keep, make, where);
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of_rule<reduce_rule<extents_of<X>, Keep, Axes...>>>(unchecked, made);
    else
        return made;
}

/// Reduces along axes known only at run time. The result is typed if the rank is known.
template <combine How, class Keep, class A, class X>
auto reduce_at(const X& x, const A& axes, make_fused make, const std::source_location& where) {
    constexpr bool keep = std::is_same_v<Keep, keep_dims_t>;
    constexpr auto rule = [](const dims& shape) { return rules::reduce_later<A>(shape, keep); };
    return typed_result<void, X>(rule, reduced<How>(x, to_axes(axes), keep, make, where));
}

/// Throws invalid_argument if an operand of a type known only at run time is not floating.
template <class X> void require_floating(const char* op, const X& x, const std::source_location& where) {
    if constexpr (!typed_operand<X>) {
        if (!x) refuse_null(op, where);
        if (const dtype type = x.dtype();
            !is_differentiable(type) || type == dtype::complex64 || type == dtype::complex128)
            throw invalid_argument(std::string(op) + ": the elements of '" + x.name() + "' are " +
                                   std::string(to_string(type)) + ", not floating" + at_place(where));
    }
}
/// Throws invalid_argument if an axis is out of range or named twice. For ops that are composed of reductions, which would report the axis
/// under their own names.
void check_axes(const char* op, const dims& shape, const axis_list& axes, const std::source_location& where);
template <class X>
void require_axes(const char* op, const X& x, const axis_list& axes, const std::source_location& where) {
    if constexpr (!typed_operand<X>)
        if (!x) refuse_null(op, where);
    check_axes(op, operand_type(x).shape, axes, where);
}
/// Checks axes of a template. A static type has been checked when the program was compiled.
template <int... Axes, class X> void require_axes(const char* op, const X& x, const std::source_location& where) {
    if constexpr (!typed_operand<X>) require_axes(op, x, axis_list{Axes...}, where);
}
/// Returns the sealed operand. Throws invalid_argument if its elements are not floating.
template <class X> auto floating_operand(const char* op, const X& x, const std::source_location& where) {
    require_floating(op, x, where);
    return sealed(x);
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void check_axes(const char* op, const dims& shape, const axis_list& axes, const std::source_location& where) {
    if (const auto reduced = rules::reduce(shape, axes, true); !reduced.ok())
        throw invalid_argument(std::string(op) + ": " + reduced.reason() + " (" + to_string(shape) + ")" +
                               at_place(where));
}

RILL_INLINE endpoint add_reduction(const any_tensor& x, const reduction& how, make_fused make,
                                   const std::source_location& where) {
    require_fused();
    if (!x) refuse_null("reduce_" + snake_case(to_string(how.how)), where);
    if ((how.how == combine::all || how.how == combine::any) && x.dtype() != dtype::boolean)
        throw invalid_argument((how.how == combine::all ? "reduce_all" : "reduce_any") +
                               std::string(": the elements of '") + x.name() + "' are " +
                               std::string(to_string(x.dtype())) + ", not bool: compare them first" + at_place(where));
    tracer t({x.dtype()}, {});
    fused_spec spec;
    spec.body = t.finish({t.leaf(0)});
    spec.leaves.resize(1);
    spec.results.resize(1);
    spec.results[0].reduce = how;
    return {add_node(graph(x.graph()), make(std::move(spec)), {x.end()}, {}, true, where), 0};
}

}}} // namespace rill::RILL_ABI::detail
#endif
