// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include <rill/core/dtype.hpp>

// The traits of ops, elementwise or not: their element types and the ops they need.

namespace rill { inline namespace RILL_ABI {

// The element types that an op accepts; an op names one of these as `using domain_type`.
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
/// The element types of indices and counts.
struct index {
    template <class T> static constexpr bool has = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
};
struct text {
    template <class T> static constexpr bool has = std::is_same_v<T, std::string>;
};
struct any {
    template <class T> static constexpr bool has = element<T> && !std::is_same_v<T, std::string>;
};
struct every {
    template <class T> static constexpr bool has = element<T>;
};
/// Any element type. The op only moves elements: one kernel, that of `void`, serves all dtypes.
struct untyped {
    template <class T> static constexpr bool has = std::is_void_v<T>;
};
} // namespace domains

/// A set of element types.
template <class... U> struct type_set {
    template <class T> static constexpr bool has = (std::is_same_v<T, U> || ...);
    template <class F> static constexpr void each(F&& f) { (f(std::type_identity<U>{}), ...); }
};

/// The element types that rill::kernels compiles an op for; an op names one of these as `using compiled_types`.
namespace types {
using floats = type_set<float, double>;
using numbers = type_set<float, double, std::int32_t, std::int64_t>;
using common = type_set<float, double, std::int32_t, std::int64_t, bool>;
using text = type_set<std::string>;
using moved = type_set<float, double, std::int32_t, std::int64_t, bool, std::string>; // for ops that move elements
using untyped = type_set<void>;
} // namespace types

/// A list of ops.
template <class... Op> struct op_list {
    template <class F> static constexpr void each(F&& f) { // not a fold: clang limits its nesting to 256
        (void)std::initializer_list<int>{(f(std::type_identity<Op>{}), 0)...};
    }
};

namespace detail {

template <class Op> struct op_domain {
    using type = domains::floating;
};
template <class Op>
    requires requires { typename Op::domain_type; }
struct op_domain<Op> {
    using type = typename Op::domain_type;
};

/// Returns a type's name as the compiler spells it.
template <class T> constexpr std::string_view type_name() {
#if defined(_MSC_VER) && !defined(__clang__)
    std::string_view name = __FUNCSIG__;
    name.remove_prefix(name.find("type_name<") + 10);
    name = name.substr(0, name.rfind(">("));
    for (const std::string_view kind : {"struct ", "class "})
        if (name.starts_with(kind)) name.remove_prefix(kind.size());
    return name;
#else
    std::string_view name = __PRETTY_FUNCTION__; // "… [with T = rill::exp_op; …]"
    name.remove_prefix(name.find("T = ") + 4);
    return name.substr(0, name.find_first_of(";]"));
#endif
}

template <class Op> constexpr int op_version_of() {
    if constexpr (requires { Op::version; })
        return Op::version;
    else
        return 1;
}
/// The version of the meaning of an op's fields and results.
template <class Op> inline constexpr int op_version = op_version_of<Op>();

/// True for ops of the library. rill::kernels can only contain these, whatever a program's op declares.
template <class Op> inline constexpr bool is_own = type_name<Op>().starts_with("rill::");

/// Returns true if rill::kernels contains kernels of this op.
template <class Op> constexpr bool has_compiled_types() {
    if constexpr (requires { typename Op::compiled_types; })
        return is_own<Op> && !std::is_same_v<typename Op::compiled_types, type_set<>>;
    else
        return false;
}
template <class Op> inline constexpr bool is_in_library = has_compiled_types<Op>();

template <class Op, class T> constexpr bool is_compiled_for() {
    if constexpr (is_in_library<Op>)
        return Op::compiled_types::template has<T> && op_domain<Op>::type::template has<T>;
    else
        return false;
}
/// True if rill::kernels contains the kernel for elements of this type. Programs that link it need not compile the kernel.
template <class Op, class T> inline constexpr bool is_compiled = is_compiled_for<Op, T>();

/// The ops that an op's gradient adds, as declared by its struct (`using brings`).
template <class Op> struct brought_by {
    using type = op_list<>;
};
template <class Op>
    requires requires { typename Op::brings; }
struct brought_by<Op> {
    using type = typename Op::brings;
};

template <class Op, class List> inline constexpr bool is_listed = false;
template <class Op, class... All>
inline constexpr bool is_listed<Op, op_list<All...>> = (std::is_same_v<Op, All> || ...);

/// True if Op declares that it brings Other.
template <class Op, class Other> inline constexpr bool op_brings = is_listed<Other, typename brought_by<Op>::type>;

template <class... List> struct joined_ops;
template <class... A> struct joined_ops<op_list<A...>> {
    using type = op_list<A...>;
};
template <class... A, class... B, class... More> struct joined_ops<op_list<A...>, op_list<B...>, More...> {
    using type = typename joined_ops<op_list<A..., B...>, More...>::type;
};

} // namespace detail

/// The concatenation of several op lists.
template <class... List> using joined_ops = typename detail::joined_ops<List...>::type;

/// True if an op accepts elements of type T (`domain_type`; by default floating point and complex).
template <class Op, class T> inline constexpr bool op_takes = detail::op_domain<Op>::type::template has<T>;

}} // namespace rill::RILL_ABI
