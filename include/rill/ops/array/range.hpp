// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstring>

#include <rill/ops/array/shape_input.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the shape [n], where n is the number of steps of delta in [start, limit).
template <class T> shape_result range_shape(T start, T limit, T delta) {
    if (!(delta > 0 || delta < 0)) return {dims{dyn}, "the step must not be 0"};
    if (delta > 0 ? !(start <= limit) : !(start >= limit)) return {dims{dyn}, "the step leads away from the limit"};
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>; // unsigned, so that differences of extreme values don't overflow
        const auto distance = [](T a, T b) { return static_cast<U>(static_cast<U>(b) - static_cast<U>(a)); };
        const auto way = static_cast<std::uint64_t>(delta > 0 ? distance(start, limit) : distance(limit, start));
        const auto step = static_cast<std::uint64_t>(delta > 0 ? static_cast<U>(delta)
                                                               : static_cast<U>(U(0) - static_cast<U>(delta)));
        return {dims{static_cast<index_t>(way / step + (way % step != 0))}};
    } else {
        const double n =
            std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
        if (!(n < 1e15)) return {dims{dyn}, "too many steps"};
        return {dims{static_cast<index_t>(n)}};
    }
}

/// Writes start, start + delta, and so on.
template <class T> void write_range(T start, T delta, index_t n, T* to) {
    for (index_t i = 0; i < n; ++i) {
        if constexpr (std::is_integral_v<T>) {
            using U = std::make_unsigned_t<T>;
            to[i] = static_cast<T>(static_cast<U>(start) +
                                   static_cast<U>(static_cast<std::uint64_t>(i) * static_cast<U>(delta)));
        } else {
            to[i] = static_cast<T>(static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(delta));
        }
    }
}

/// The element types of a range: all arithmetic types except bool.
struct range_domain {
    template <class T> static constexpr bool has = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
};

/// The element type of a range: that of the first typed operand, or void without one.
template <class... A> struct range_type {
    using type = void;
};
template <class A, class... More> struct range_type<A, More...> : range_type<More...> {};
template <typed_operand A, class... More> struct range_type<A, More...> {
    using type = value_type_of<A>;
};

/// Returns a range operand as a tensor. A number becomes a constant of the dtype of the other operands.
template <class A> any_tensor range_operand(const A& a, dtype type, const graph& g, const std::source_location& where) {
    if constexpr (literal<A>) {
        const scalar_value number = literal_scalar(type, a, "range");
        any_array value(type, {});
        std::memcpy(value.mutable_data(), number.bytes.data(), size_of(type));
        const graph_scope here(g);
        return constant(value, where);
    } else {
        return any_tensor(seal(a, g));
    }
}

} // namespace detail

/// Returns numbers from a start up to a limit, which is excluded. Start, limit and step are inputs.
struct range_op {
    static constexpr auto name = "Range";
    static constexpr int inputs = 3; // start, limit, step
    using domain_type = detail::range_domain;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "how many numbers there are does not change smoothly";

    std::vector<tensor_type> outputs(const known_inputs& in) const;
    static input_list host_inputs() { return {0, 1, 2}; }
    static input_list shape_inputs() { return {0, 1, 2}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([n = request.outputs[0].shape.size(), space = request.space](const kernel_args& a) {
            any_array all(dtype_of<T>, dims{n});
            detail::write_range(*a.in<T>(0), *a.in<T>(2), n, static_cast<T*>(all.mutable_data()));
            detail::copy_between(nullptr, all.data(), space, a.out<T>(0), dtype_of<T>, n);
        });
    }
};

/// Returns a constant: range(0, 10, 2) is 0, 2, 4, 6, 8. The limit is excluded. The default step is 1.
template <element T>
auto range(const T& start, const T& limit, const T& delta = T(1),
           const std::source_location& where = std::source_location::current()) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                  "range: the element type must be an integer, float or double");
    const auto counted = detail::range_shape(start, limit, delta);
    if (!counted.ok()) throw invalid_argument("range: " + counted.reason() + detail::at_place(where));
    any_array all(dtype_of<T>, counted.shape);
    detail::write_range(start, delta, all.size(), static_cast<T*>(all.mutable_data()));
    return constant_value<T, dyn>(std::move(all), where);
}
/// Returns a constant from 0: range(5) is 0, 1, 2, 3, 4.
template <element T> auto range(const T& limit, const std::source_location& where = std::source_location::current()) {
    return range(T(0), limit, T(1), where);
}
/// Returns a range with numbers or tensors of rank 0 as bounds and step: range(0, size(x), 1).
template <class A, class B, class C>
    requires(graph_operand<A> || graph_operand<B> || graph_operand<C>) && (graph_operand<A> || literal<A>) &&
            (graph_operand<B> || literal<B>) && (graph_operand<C> || literal<C>)
auto range(const A& start, const B& limit, const C& delta,
           const std::source_location& where = std::source_location::current()) {
    using T = typename detail::range_type<A, B, C>::type;
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>> && dtypes_agree<dtype_tag<B>, dtype_tag<C>> &&
                      dtypes_agree<dtype_tag<A>, dtype_tag<C>>,
                  "range: the dtypes differ; convert with cast<T>()");
    static_assert(std::is_void_v<T> || detail::range_domain::has<T>,
                  "range: the element type must be an integer, float or double");
    detail::require_kernel_for<range_op, std::conditional_t<std::is_void_v<T>, any_tensor, T>>();
    const graph_state* home = nullptr;
    dtype type = dtype_of<T>;
    const auto look = [&](const auto& x) {
        if constexpr (graph_operand<std::decay_t<decltype(x)>>) {
            home = home ? home : detail::home_of(x);
            if constexpr (!typed_operand<std::decay_t<decltype(x)>>) type = type == dtype::invalid ? x.dtype() : type;
        }
    };
    look(start), look(limit), look(delta);
    const graph g = detail::graph_or_current(home);
    detail::enable_dynamic_shapes();
    const any_tensor made =
        apply_node(range_op{}, where, detail::range_operand(start, type, g, where),
                   detail::range_operand(limit, type, g, where), detail::range_operand(delta, type, g, where));
    if constexpr (std::is_void_v<T>)
        return made;
    else
        return tensor<T, dyn>(made);
}
/// Returns a range with a step of 1.
template <class A, class B>
    requires(graph_operand<A> || graph_operand<B>) && (graph_operand<A> || literal<A>) &&
            (graph_operand<B> || literal<B>)
auto range(const A& start, const B& limit, const std::source_location& where = std::source_location::current()) {
    return range(start, limit, 1, where);
}
/// Returns a range from 0 with a step of 1.
template <graph_operand A>
auto range(const A& limit, const std::source_location& where = std::source_location::current()) {
    return range(0, limit, 1, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> range_op::outputs(const known_inputs& in) const {
    const dtype type = in.types[0].type;
    for (const auto& t : in.types) {
        if (t.type != type)
            throw invalid_argument("the dtypes differ: " + to_string(in.types[0]) + " and " + to_string(t));
        if (t.shape.known_rank() && t.shape.rank != 0)
            throw invalid_argument("start, limit and step must be of rank 0");
    }
    dims made{dyn};
    const any_array *start = in.value(0), *limit = in.value(1), *delta = in.value(2);
    bool counts = false;
    detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (detail::range_domain::has<T>) {
            counts = true;
            if (!start || !limit || !delta) return;
            const auto counted = detail::range_shape(start->value<T>(), limit->value<T>(), delta->value<T>());
            if (!counted.ok()) throw invalid_argument(counted.reason());
            made = counted.shape;
        }
    });
    if (!counts) throw invalid_argument("the element type must be an integer, float or double");
    return {{type, made}};
}

}} // namespace rill::RILL_ABI
#endif
