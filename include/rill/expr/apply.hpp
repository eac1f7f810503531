// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/expr/print.hpp>
#include <rill/expr/tensor.hpp>

#include <vector>

namespace rill { inline namespace RILL_ABI {

/// A number next to a tensor: of any arithmetic C++ type, complex, half or bfloat16.
template <class A>
concept literal = std::is_arithmetic_v<A> || is_complex<A> || is_real_floating<A>;

/// A tensor whose type is known at run time only.
template <class A>
concept untyped_operand = std::is_base_of_v<any_tensor, A> && !typed_operand<A>;

/// A tensor of either kind, a constant or an expression.
template <class A>
concept graph_operand = typed_operand<A> || untyped_operand<A>;

/// A list of tensors with a run-time length: a std::vector or std::array of one handle type. Braces are a std::vector<any_tensor>.
template <class L>
concept tensor_list = requires(const L& all) {
    requires graph_operand<typename L::value_type>;
    all.begin();
    all.size();
};

/// An operand of operators on expressions: a tensor, an expression or a traced value.
template <class A>
concept expression_operand = graph_operand<A> || symbolic<A>;

/// An operand of elementwise functions: an expression operand, or a value that kernels compute with.
template <class A>
concept elementwise_operand = expression_operand<A> || computed_value<A>;

/// The operands of a binary op, of which at least one is not a literal.
template <class A, class B>
concept operator_pair =
    (expression_operand<A> && (expression_operand<B> || literal<B>)) || (literal<A> && expression_operand<B>);
template <class A, class B>
concept elementwise_pair =
    (elementwise_operand<A> && (elementwise_operand<B> || literal<B>)) || (literal<A> && elementwise_operand<B>);

/// An empty pack of trailing template parameters. Functions with such a pack yield to functions of the same name without it, which are
/// more specialized.
template <class... None>
concept nothing_more = sizeof...(None) == 0;

// ---- names of the functions' checks: both compilers print their arguments -----------------------------------------------

template <class A, class B> inline constexpr bool shapes_broadcast = rules::broadcast(static_dims<A>, static_dims<B>).ok();
template <class T, class U> inline constexpr bool same_dtype = std::is_same_v<T, U>;

/// True if a literal may be an operand beside tensors of type T. Floating literals go with floating and complex tensors, integers with
/// any number. bool, half and bfloat16 go with their own type.
template <class T, class L>
inline constexpr bool literal_fits = std::is_same_v<L, bool>       ? std::is_same_v<T, bool>
                                     : std::is_integral_v<L>       ? is_numeric<T>
                                     : std::is_floating_point_v<L> ? is_differentiable(dtype_of<T>)
                                     : is_real_floating<L>         ? std::is_same_v<T, L>
                                                                   : is_complex<T>;

/// A tag for a literal in these checks. Other operands have their element type as tag; any_tensor has `unknown_dtype`.
template <class L> struct number {};
struct unknown_dtype {};

namespace detail {

template <class A> struct dtype_tag_of {
    using type = unknown_dtype;
};
template <class A>
    requires(typed_operand<A> || symbolic<A>)
struct dtype_tag_of<A> {
    using type = typename A::value_type;
};
template <literal A> struct dtype_tag_of<A> {
    using type = number<A>;
};

template <class T, class U> inline constexpr bool agree = std::is_same_v<T, U>;
template <class T> inline constexpr bool agree<T, unknown_dtype> = true;
template <class T> inline constexpr bool agree<unknown_dtype, T> = true;
template <> inline constexpr bool agree<unknown_dtype, unknown_dtype> = true;
template <class T, class L> inline constexpr bool agree<T, number<L>> = literal_fits<T, L>;
template <class T, class L> inline constexpr bool agree<number<L>, T> = literal_fits<T, L>;
template <class L> inline constexpr bool agree<unknown_dtype, number<L>> = true;
template <class L> inline constexpr bool agree<number<L>, unknown_dtype> = true;
template <class L, class K> inline constexpr bool agree<number<L>, number<K>> = true;

} // namespace detail

template <class A> using dtype_tag = typename detail::dtype_tag_of<A>::type;

/// True if two operands have one dtype, or if one is a literal that fits the other.
template <class T, class U> inline constexpr bool dtypes_agree = detail::agree<T, U>;

/// Converts a literal to type T, with rounding. Throws invalid_argument if T is an integer type and cannot hold an integer literal.
template <class T, class L> T literal_value(L value, const char* op) {
    if constexpr (is_integral<T> && std::is_integral_v<L> && !std::is_same_v<L, bool>) {
        if (!std::in_range<T>(value))
            throw invalid_argument(detail::snake_case(op) + ": the literal " + std::to_string(value) +
                                   " does not fit " + std::string(to_string(dtype_of<T>)));
        return static_cast<T>(value);
    } else if constexpr (is_complex<T> && !is_complex<L>) {
        return T(static_cast<typename T::value_type>(value));
    } else if constexpr (is_complex<T>) {
        return T(static_cast<typename T::value_type>(value.real()), static_cast<typename T::value_type>(value.imag()));
    } else if constexpr (is_real_floating<T> && !std::is_arithmetic_v<T>) {
        return T(static_cast<float>(value));
    } else if constexpr (std::is_constructible_v<T, L>) {
        return static_cast<T>(value);
    } else {
        return T{}; // ill-typed: the caller's static_assert reports it
    }
}

namespace detail {

template <class T, class A> auto typed_argument(const A& a, const char* op) {
    if constexpr (literal<A>)
        return scalar<T>{literal_value<T>(a, op)};
    else
        return as_argument(a);
}

template <class A, class... Rest> struct first_typed {
    using type = typename first_typed<Rest...>::type;
};
template <typed_operand A, class... Rest> struct first_typed<A, Rest...> {
    using type = value_type_of<A>;
};

/// True if the op computes with the operand's type. If not, a static_assert reports it; the result is merely well-formed.
template <class Op, class T, class A>
inline constexpr bool computes_with =
    literal<A> || std::is_same_v<typename dtype_tag_of<A>::type, T> || requires { typename Op::template operands<T>; };

template <class Op, class... Args> auto ill_typed(const Args&...) {
    return tensor_of<value_type_of<expression_base<Op, Args...>>, extents_of<expression_base<Op, Args...>>>();
}

// ---- operands whose types are known at run time only ---------------------------------------------------------------------

struct untyped_arguments {
    std::vector<endpoint> inputs;
    vector<scalar_value> scalars;
    std::vector<int> order; // per argument: an input, or ~scalar
};

template <class L> std::string text_of(const L& literal) {
    if constexpr (is_complex<L>)
        return "(" + std::to_string(literal.real()) + "," + std::to_string(literal.imag()) + ")";
    else
        return std::to_string(literal);
}

/// Converts a literal to a dtype by the rules of typed operands. Throws invalid_argument if it does not fit.
template <class L> scalar_value literal_scalar(dtype type, const L& value, const char* op) {
    scalar_value made;
    visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (literal_fits<T, L>) made = scalar_value(literal_value<T>(value, op));
    });
    if (made.type == dtype::invalid)
        throw invalid_argument(snake_case(op) + ": the literal " + text_of(value) + " (" +
                               std::string(to_string(dtype_of<L>)) + ") does not go with " +
                               std::string(to_string(type)));
    return made;
}

template <class A> void gather_untyped(const A& a, dtype type, const graph& g, const char* op, untyped_arguments& out) {
    if constexpr (literal<A>) {
        out.order.push_back(~static_cast<int>(out.scalars.size()));
        out.scalars.push_back(literal_scalar(type, a, op));
    } else {
        out.order.push_back(static_cast<int>(out.inputs.size()));
        out.inputs.push_back(seal(a, g));
    }
}

/// Returns the dtypes of an op's N operands for tensors of type U.
template <class Op, class U, std::size_t N> constexpr std::array<dtype, N> operand_dtypes() {
    std::array<dtype, N> all{};
    all.fill(dtype_of<U>);
    if constexpr (requires { typename Op::template operands<U>; })
        all = []<class... T>(std::tuple<T...>*) {
            return std::array<dtype, N>{dtype_of<T>...};
        }(static_cast<typename Op::template operands<U>*>(nullptr));
    return all;
}

/// Adds a node over sealed inputs. Throws invalid_argument if `taken` (a bit set of dtypes; 0: any) lacks the first input's dtype.
endpoint add_over(const graph& g, op_ptr made, std::uint32_t taken, std::span<const endpoint> inputs,
                  const std::source_location& where);
[[noreturn]] void refuse_untyped(std::string_view op, const std::string& why, const std::vector<endpoint>& operands);

/// Throws invalid_argument if the operands' dtypes differ, or if the op does not take them. For typed operands, static_assert does this.
template <class Op, std::size_t N> void check_untyped(dtype type, const untyped_arguments& a) {
    bool takes = false;
    std::array<dtype, N> wanted{};
    visit_dtype(type, [&]<class U>(std::type_identity<U>) {
        takes = op_takes<Op, U>;
        wanted = operand_dtypes<Op, U, N>();
    });
    const auto refuse = [&](const std::string& why) { refuse_untyped(Op::name, why, a.inputs); };
    for (std::size_t i = 0; i < N; ++i) {
        if (a.order[i] < 0 || type_of(a.inputs[a.order[i]]).type == wanted[i]) continue;
        if (wanted[i] == type) refuse("the dtypes differ; convert with cast<T>()");
        refuse("operand " + std::to_string(i) + " must be " + std::string(to_string(wanted[i])));
    }
    if (!takes) refuse("it does not take " + std::string(to_string(type)));
}

template <class Op, class U, std::size_t... I> void require_uniform(std::index_sequence<I...>) {
    if constexpr (op_takes<Op, U> && requires { typename Op::template operands<U>; })
        []<class... T>(std::tuple<T...>*) {
            require_primitive<Op, T...>();
        }(static_cast<typename Op::template operands<U>*>(nullptr));
    else if constexpr (op_takes<Op, U>)
        require_primitive<Op, std::enable_if_t<(I >= 0), U>...>();
}

/// Compiles the dtypes that every program supports if it uses the op on tensors of unknown dtype: four, and those that rill::kernels has.
/// Other dtypes come from typed uses, or from <rill/all_types.hpp>.
template <class Op, std::size_t N> void require_for_untyped() {
    constexpr auto all = std::make_index_sequence<N>{};
    require_uniform<Op, float>(all);
    require_uniform<Op, double>(all);
    require_uniform<Op, std::int32_t>(all);
    require_uniform<Op, std::int64_t>(all);
    if constexpr (is_in_library<Op>)
        Op::compiled_types::each([&]<class U>(std::type_identity<U>) { require_uniform<Op, U>(all); });
}

endpoint apply_untyped(const elementwise_info& op, dtype fixed_result, untyped_arguments&& a, const graph& g);

/// Adds an elementwise op over edges of one dtype, which is also the result's. Gradients of node ops are built from it.
template <class Op, std::same_as<endpoint>... More> endpoint apply_to_edges(const endpoint& x, const More&... more) {
    untyped_arguments all{{x, more...}, {}, {}};
    for (std::size_t i = 0; i <= sizeof...(More); ++i) all.order.push_back(static_cast<int>(i));
    return apply_untyped(info_of<Op>, dtype::invalid, std::move(all), graph(*x.from->owner));
}

template <class Op> constexpr dtype fixed_result_of() {
    if constexpr (requires { typename Op::result_type; })
        return dtype_of<typename Op::result_type>;
    else
        return dtype::invalid;
}

} // namespace detail

/// An undefined type: an error about it names op and element type in its first line. static_assert of g++ cannot do this.
template <class Op, class T> struct op_does_not_take_tensors_of;

/// Applies an elementwise op: returns an expression of typed operands, or a node if the type of some operand is unknown. The operands'
/// dtypes must agree; literals take the tensors' dtype.
template <class Op, class... A>
    requires((graph_operand<A> || ...) && !(symbolic<A> || ...))
auto apply(const A&... args) {
    if constexpr ((untyped_operand<A> || ...)) {
        if ((detail::is_null(args) || ...))
            detail::refuse_null_beside(Op::name, std::array<endpoint, sizeof...(A)>{detail::edge_of(args)...});
        const graph_state* home = nullptr;
        ((home = home ? home : detail::home_of(args)), ...);
        const graph g = detail::graph_or_current(home);
        // literals take the dtype of the last tensor (in select: that of the branches)
        dtype type = dtype::invalid;
        const auto look = [&](const auto& a) {
            if constexpr (requires { a.dtype(); })
                type = a.dtype();
            else if constexpr (typed_operand<decltype(a)>)
                type = dtype_of<value_type_of<decltype(a)>>;
        };
        (look(args), ...);
        detail::require_for_untyped<Op, sizeof...(A)>();
        detail::untyped_arguments gathered;
        (detail::gather_untyped(args, type, g, Op::name, gathered), ...);
        detail::check_untyped<Op, sizeof...(A)>(type, gathered);
        return any_tensor(detail::apply_untyped(info_of<Op>, detail::fixed_result_of<Op>(), std::move(gathered), g));
    } else {
        using T = typename detail::first_typed<A...>::type;
        if constexpr (!op_takes<Op, T>) op_does_not_take_tensors_of<Op, T>(); // convert operands with cast<T>()
        if constexpr (op_takes<Op, T> && (detail::computes_with<Op, T, A> && ...))
            return detail::make_expression<Op>(detail::typed_argument<T>(args, Op::name)...);
        else
            return detail::ill_typed<Op>(detail::typed_argument<T>(args, Op::name)...);
    }
}

}} // namespace rill::RILL_ABI

#include <rill/expr/deleted_operators.hpp>

#if !RILL_COMPILED
#include <rill/expr/apply.ipp>
#endif
