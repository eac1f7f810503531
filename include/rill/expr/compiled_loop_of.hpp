// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>

#include <rill/device/kernel_registry.hpp>
#include <rill/expr/tensor.hpp>

// Loops whose state is numbers, and whose condition and body are expressions of them. Each loop is one compiled function, found by the
// keys of its expressions.

namespace rill { inline namespace RILL_ABI {

/// A part of a loop's state, as condition and body get it: a tensor whose type holds the part's number. A loop over numbers can thus keep
/// it in a register.
template <int Part, class T> class loop_part : public tensor<T> {
public:
    static constexpr int loop_part_number = Part;
    using tensor<T>::tensor;
};

namespace detail {

/// The leaves of an expression: for each occurrence the part of the state that it is, or -1.
template <int... Part> struct part_list {};
template <class... L> struct joined_parts {
    using type = part_list<>;
};
template <int... A> struct joined_parts<part_list<A...>> {
    using type = part_list<A...>;
};
template <int... A, int... B, class... More>
struct joined_parts<part_list<A...>, part_list<B...>, More...> : joined_parts<part_list<A..., B...>, More...> {};

template <class A> struct parts_of {
    using type = part_list<-1>;
};
template <class T> struct parts_of<scalar<T>> {
    using type = part_list<>;
};
template <int Part, class T> struct parts_of<loop_part<Part, T>> {
    using type = part_list<Part>;
};
template <class Op, class... Args>
struct parts_of<expression<Op, Args...>> : joined_parts<typename parts_of<Args>::type...> {};

template <class S, class Parts> struct loop_expression_with;
template <class S, int... Part> struct loop_expression_with<S, part_list<Part...>> {
    using type = loop_expression<S, Part...>;
};

/// The loop_expression of a value that a body returns: an expression, or a value as it is. Void if the value is not a number.
template <class X> struct scalar_expression {
    using type = void;
};
template <typed_operand X>
    requires(extents_of<X>::rank == 0 && std::is_arithmetic_v<value_type_of<X>>)
struct scalar_expression<X> {
    using type = typename loop_expression_with<leaf<value_type_of<X>>, typename parts_of<X>::type>::type;
};
template <class X>
    requires std::is_arithmetic_v<X>
struct scalar_expression<X> {
    using type = loop_expression<leaf<X>, -1>;
};
template <class Op, class... Args>
    requires(extents_of<expression<Op, Args...>>::rank == 0 &&
             std::is_arithmetic_v<typename expression<Op, Args...>::value_type>)
struct scalar_expression<expression<Op, Args...>> {
    using of = expression<Op, Args...>;
    using type = typename loop_expression_with<typename strip<of>::type, typename parts_of<of>::type>::type;
};

template <class E> struct loop_key_of;
template <class S, int... Part> struct loop_key_of<loop_expression<S, Part...>> {
    static std::string text() {
        const std::array<int, sizeof...(Part)> parts{Part...};
        return loop_key(key_of<S>(), parts);
    }
};

inline namespace RILL_ISA {

template <class Condition, class... Next> struct compiled_loop_registrar {
    static bool ensure() {
        static const bool done =
            (register_compiled_loop(joined_loop_key({loop_key_of<Condition>::text(), loop_key_of<Next>::text()...}),
                                    RILL_ISA_LEVEL, &run_compiled_loop<Condition, Next...>),
             true);
        return done;
    }
};

} // namespace RILL_ISA

/// The only part of the state that an expression reads, beside loop-invariant values; -1: none, or several.
template <class E> constexpr int only_part = -1;
template <class S, int... Part>
constexpr int only_part<loop_expression<S, Part...>> =
    [](int part) { return ((Part < 0 || Part == part) && ...) ? part : -1; }(std::max({-1, Part...}));

/// The expression of a loop whose state is that part alone.
template <class E> struct of_one_part;
template <class S, int... Part> struct of_one_part<loop_expression<S, Part...>> {
    using type = loop_expression<S, std::min(Part, 0)...>;
};

template <class C, class... N> void require_compiled_loop(std::type_identity<std::tuple<N...>>) {
    using condition = typename scalar_expression<C>::type;
    if constexpr (!std::is_void_v<condition>) {
        if constexpr ((!std::is_void_v<typename scalar_expression<std::remove_cvref_t<N>>::type> && ...)) {
            compiled_loop_registrar<condition, typename scalar_expression<std::remove_cvref_t<N>>::type...>::ensure();
        } else if constexpr (constexpr int part = only_part<condition>; part >= 0) { // an induction variable
            using next = typename scalar_expression<
                std::remove_cvref_t<std::tuple_element_t<static_cast<std::size_t>(part), std::tuple<N...>>>>::type;
            if constexpr (only_part<next> == part)
                compiled_loop_registrar<typename of_one_part<condition>::type,
                                        typename of_one_part<next>::type>::ensure();
        }
    }
}

} // namespace detail

/// Compiles the loop of a condition and a body into the program, if both compute numbers. Otherwise compiles the loop of the induction
/// variable alone, if the condition reads only that. `Given` is what the body returns: a value, or a tuple, pair or array of values.
template <class Condition, class Given> void require_compiled_loop() {
    if constexpr (requires { std::tuple_size<Given>::value; })
        detail::require_compiled_loop<Condition>(std::type_identity<decltype(std::tuple_cat(std::declval<Given>()))>{});
    else
        detail::require_compiled_loop<Condition>(std::type_identity<std::tuple<Given>>{});
}

}} // namespace rill::RILL_ABI
