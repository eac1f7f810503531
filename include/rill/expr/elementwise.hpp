// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/expression_kernel.hpp>
#include <rill/device/kernel_list.hpp>
#include <rill/expr/handle.hpp>
#include <rill/expr/tracer.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

template <class Op, class... T> struct elementwise_result_of {
    using type = std::tuple_element_t<sizeof...(T) - 1, std::tuple<T...>>;
};
template <class Op, class... T>
    requires requires { typename Op::result_type; }
struct elementwise_result_of<Op, T...> {
    using type = typename Op::result_type;
};

} // namespace detail

/// The element type of an elementwise op's result: what the op says (`result_type`), else its last operand's.
template <class Op, class... T> using elementwise_result = typename detail::elementwise_result_of<Op, T...>::type;

// Which element types an elementwise op takes; an op names one as `using domain_type`.
namespace domains {
struct numeric {
    template <class T> static constexpr bool has = is_numeric<T>;
};
struct floating {
    template <class T> static constexpr bool has = is_differentiable(dtype_of<T>);
};
struct real {
    template <class T> static constexpr bool has = is_numeric<T> && !is_complex<T>;
};
struct real_floating {
    template <class T> static constexpr bool has = is_real_floating<T>;
};
struct boolean {
    template <class T> static constexpr bool has = std::is_same_v<T, bool>;
};
struct comparable {
    template <class T> static constexpr bool has = is_numeric<T> || std::is_same_v<T, bool>;
};
struct any {
    template <class T> static constexpr bool has = !std::is_same_v<T, std::string>;
};
} // namespace domains

namespace detail {

template <class Op> struct op_domain {
    using type = domains::floating;
};
template <class Op>
    requires requires { typename Op::domain_type; }
struct op_domain<Op> {
    using type = typename Op::domain_type;
};

template <class Op> constexpr int op_weight_of() {
    if constexpr (requires { Op::weight; })
        return Op::weight;
    else
        return 1;
}

} // namespace detail

/// An elementwise op takes operands of element type T (`domain_type`; floating and complex if it does not say).
template <class Op, class T> inline constexpr bool op_takes = detail::op_domain<Op>::type::template has<T>;

/// What an op counts against the weight limit of expressions.
template <class Op> inline constexpr int op_weight = detail::op_weight_of<Op>();

namespace detail::inline RILL_ISA {

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
    return_adjoints(Op::pullback(symbol<T>(t, args[I])..., symbol<R>(t, result), symbol<R>(t, gradient)), t, out, all);
}

template <class Op, class R, class... T> bool register_primitive() {
    using one_op = structure<Op, R, leaf<T>...>;
    const std::string& key = key_of<one_op>();
    register_primitive_blocks(key, RILL_ISA_LEVEL, &forward_block<one_op>);
    if constexpr (differentiable_structure<one_op>)
        register_pullback(key, RILL_ISA_LEVEL, [](void* t, const int* args, int result, int gradient, int* out) {
            trace_pullback<Op, R, T...>(*static_cast<rill::tracer*>(t), args, result, gradient, out,
                                        std::index_sequence_for<T...>{});
        });
    return true;
}

template <class Op, class R, class... T> struct primitive_registrar {
    static bool ensure() {
        static const bool done = register_primitive<Op, R, T...>();
        return done;
    }
    static inline const bool at_start = ensure();
};

} // namespace detail::inline RILL_ISA

inline namespace RILL_ISA {

/// Compiles an elementwise op for the interpreter and the tracer into this program, and with it the ops its pullback uses.
template <class Op, class... T> void compile_primitive() {
    using registrar = detail::primitive_registrar<Op, elementwise_result<Op, T...>, T...>;
    (void)registrar::at_start;
    registrar::ensure();
}

/// The same, unless the program links rill::kernels and finds it there.
template <class Op, class... T> void require_primitive() {
    if constexpr (!(RILL_COMPILED && detail::listed_primitive<Op, T...>)) compile_primitive<Op, T...>();
}

} // namespace RILL_ISA

namespace detail {

template <class A> struct symbol_element {
    using type = void;
};
template <symbolic A> struct symbol_element<A> {
    using type = typename A::value_type;
};

template <class T, class A> auto as_symbol(const A& a) {
    if constexpr (symbolic<A>)
        return a;
    else
        return symbol<T>(a);
}

template <class Op, class... T> symbol<elementwise_result<Op, T...>> trace(const symbol<T>&... args) {
    using R = elementwise_result<Op, T...>;
    tracer* t = nullptr;
    ((t = t ? t : args.where()), ...);
    if constexpr (std::is_arithmetic_v<R> && (std::is_arithmetic_v<T> && ...)) {
        if (!t) return symbol<R>(static_cast<R>(Op::value(lane<T>(args.literal())...).v)); // literals only: fold
    }
    require_primitive<Op, T...>();
    return symbol<R>(*t, t->emit(Op::name, dtype_of<R>, {args.id(*t)...}));
}

} // namespace detail

template <class T> template <class Op, class... V> auto symbol<T>::traced(const V&... args) {
    return detail::trace<Op>(args...);
}

/// Applies an elementwise op to traced values and literals.
template <class Op, class... A>
    requires(symbolic<A> || ...)
auto apply(const A&... args) {
    using first =
        std::tuple_element_t<0, decltype(std::tuple_cat(
                                    std::declval<std::conditional_t<symbolic<A>, std::tuple<A>, std::tuple<>>>()...))>;
    return detail::trace<Op>(detail::as_symbol<typename first::value_type>(args)...);
}

} // namespace rill::inline RILL_ABI
