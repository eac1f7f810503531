// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>
#include <type_traits>

#include <rill/core/at_start.hpp>
#include <rill/device/compiled_expressions.hpp>
#include <rill/device/devices.hpp>
#include <rill/device/structure_key.hpp>
#include <rill/expr/handle.hpp>
#include <rill/expr/tracer.hpp>
#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {
void require_fused(); // expr/fused_op.hpp, which comes after the ops

/// Functions of rill::kernels (all_kernels.ipp). Each registers kernels for the processor's level, with those that their gradients
/// need. The linker keeps the kernels that a program brings, and drops the others.
namespace kernels {
template <class Op, class T> RILL_NO_INLINE void bring_kernel();
template <class Op, class... T> RILL_NO_INLINE void bring_primitive();
template <class S> RILL_NO_INLINE void bring_expression();
template <combine How, class T> RILL_NO_INLINE void bring_combiner();
} // namespace kernels

} // namespace detail

namespace detail { inline namespace RILL_ISA {

template <class D, std::size_t... I>
void return_adjoints(const D& d, rill::tracer& t, int* out, std::index_sequence<I...>) {
    const auto one = [&](const auto& part, int& to) {
        if constexpr (symbolic<decltype(part)>)
            to = part.id(t);
        else
            to = -1;
    };
    if constexpr (symbolic<D>)
        one(d, out[0]);
    else
        (one(at<I>(d), out[I]), ...);
}

template <class Op, class R, class... T, std::size_t... I>
void trace_pullback(rill::tracer& t, const int* args, int result, int gradient, int* out,
                    std::index_sequence<I...> all) {
    return_adjoints(pull_back<Op>(symbol<R>(t, result), symbol<R>(t, gradient), symbol<T>(t, args[I])...), t, out, all);
}

/// Returns the registry entry by which programs that are read from files find the op.
template <class Op, class R, class... T> op_entry elementwise_entry() {
    op_entry e;
    e.name = Op::name;
    e.struct_name = type_name<Op>();
    e.version = op_version<Op>;
    e.dtypes = dtypes_of<Op>();
    e.elementwise = &info_of<Op>;
    e.operands = sizeof...(T);
    e.mixed = requires { typename Op::template operands<R>; };
    if constexpr (requires { typename Op::result_type; }) e.result = dtype_of<R>;
    if constexpr (!differentiable_structure<structure<Op, R, leaf<T>...>>) e.no_gradient = "";
    return e;
}

template <class Op, class R, class... T> bool register_primitive() {
    require_fused(); // also where a graph with the op is only received
    using one_op = structure<Op, R, leaf<T>...>;
    devices::each([]<class D>(std::type_identity<D>) { D::template compile_one_op<one_op>(); });
    if constexpr (requires { Op::name; } && has_pullback<Op>) register_op(elementwise_entry<Op, R, T...>());
    if constexpr (differentiable_structure<one_op>)
        register_pullback(key_of<one_op>(), {[](void* t, const int* args, int result, int gradient, int* out) {
                                                 trace_pullback<Op, R, T...>(*static_cast<rill::tracer*>(t), args,
                                                                             result, gradient, out,
                                                                             std::index_sequence_for<T...>{});
                                             },
                                             pullback_reads_of<Op, symbol<R>>()});
    return true;
}

template <class Op, class R, class... T> struct primitive_registrar {
    static bool ensure() {
        static const bool done = register_primitive<Op, R, T...>();
        return done;
    }
};

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// Compiles an elementwise op, and the ops that its pullback uses, into this program: for the interpreter and the tracer.
template <class Op, class... T> void compile_primitive() {
    using registrar = detail::primitive_registrar<Op, elementwise_result<Op, T...>, T...>;
    detail::run_at_start<&registrar::ensure>();
}

/// Compiles the kernels of an expression's structure, for every device of this file.
template <class S> void compile_for_devices() {
    devices::each([]<class D>(std::type_identity<D>) { D::template compile_expression<S>(); });
}

// These functions compile a kernel into this program, or bring it from rill::kernels, which contains the usual ones.

template <class Op, class... T> void require_primitive() {
    if constexpr (RILL_COMPILED && detail::is_compiled_primitive<Op, T...>)
        detail::kernels::bring_primitive<Op, T...>();
    else
        compile_primitive<Op, T...>();
}
template <class S> void require_expression() {
    if constexpr (RILL_COMPILED && detail::is_compiled_expression<S>)
        detail::kernels::bring_expression<S>();
    else
        compile_for_devices<S>();
}
template <combine How, class T> void require_combiner() {
    if constexpr (RILL_COMPILED && detail::is_compiled_combiner<T>)
        detail::kernels::bring_combiner<How, T>();
    else
        devices::each([]<class D>(std::type_identity<D>) { D::template compile_reducer<How, T>(); });
}

} // namespace RILL_ISA

namespace detail {

template <class T, class A> constexpr auto as_symbol(const A& a) {
    if constexpr (symbolic<A>)
        return a;
    else
        return symbol<T>(a);
}

inline namespace RILL_ISA {

template <class Op, class... T> constexpr symbol<elementwise_result<Op, T...>> trace(const symbol<T>&... args) {
    using R = elementwise_result<Op, T...>;
    tracer* t = nullptr;
    ((t = t ? t : args.where()), ...);
    if constexpr (std::is_arithmetic_v<R> && (std::is_arithmetic_v<T> && ...)) {
        if (!t) return symbol<R>(static_cast<R>(compute<Op>(lane<T>(args.literal())...).v)); // literals only: fold
    }
    require_primitive<Op, T...>();
    return symbol<R>(*t, t->emit(info_of<Op>, dtype_of<R>, {args.id(*t)...}));
}

} // namespace RILL_ISA

} // namespace detail

template <class T> template <class Op, class... V> constexpr auto symbol<T>::traced(const V&... args) {
    return detail::trace<Op>(args...);
}

/// Applies an elementwise op to traced values and literals.
template <class Op, class... A>
    requires(symbolic<A> || ...)
constexpr auto apply(const A&... args) {
    using first =
        std::tuple_element_t<0, decltype(std::tuple_cat(
                                    std::declval<std::conditional_t<symbolic<A>, std::tuple<A>, std::tuple<>>>()...))>;
    return detail::trace<Op>(detail::as_symbol<typename first::value_type>(args)...);
}

}} // namespace rill::RILL_ABI
