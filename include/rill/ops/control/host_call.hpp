// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/executor.hpp>
#include <rill/core/host_array.hpp>
#include <rill/core/shared.hpp>
#include <rill/expr/node_op.hpp>
#include <rill/link/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A C++ function that a node calls, identified by its number.
struct host_function {
    std::function<void(std::span<const any_array> inputs, any_array* outputs, async_context* wait)> call;
    std::uint64_t number = 0;
};

std::shared_ptr<const host_function>
numbered(std::function<void(std::span<const any_array>, any_array*, async_context*)> f);

} // namespace detail

/// Calls a C++ function of the program. A saved graph does not contain the function.
struct host_call_op {
    static constexpr auto name = "HostCall";
    using domain_type = domains::untyped;
    static constexpr bool stateful = true, has_dynamic_outputs = true;
    static constexpr auto no_gradient = "a host function can't be differentiated";
    dtype type = dtype::invalid; // of the result; invalid: the node has no result
    dims shape;
    std::uint64_t number = 0;
    std::shared_ptr<const detail::host_function> function = {};

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type);
        visit("shape", op.shape);
        visit("number", op.number);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

/// Calls a C++ function that delivers its result later.
struct async_host_call_op : host_call_op {
    static constexpr auto name = "AsyncHostCall", label = "host_call";
    static constexpr bool is_async = true;
    static void fields(auto& op, auto& visit) { host_call_op::fields(op, visit); }
};

/// The callback of an asynchronous host function: done(value), or done.fail(std::make_exception_ptr(…)). Copies are the same callback; only
/// the first call counts.
template <class T, index_t... D> class host_result {
public:
    explicit host_result(completion done) : done_(std::move(done)) {}
    template <class X> void operator()(const X& value) const;
    void fail(std::exception_ptr problem) const { done_(std::move(problem), {}); }

private:
    completion done_;
};

namespace detail {

/// Returns an argument of a host function, in the form that a fetch of the operand has.
template <class H> auto host_argument(const any_array& a) {
    if constexpr (typed_operand<H>)
        return to_host_value<value_type_of<H>, extents_of<H>::rank>(a.shape(), a.data());
    else
        return a;
}

/// Returns the result of a host function. Throws invalid_argument if its dtype or shape does not fit the node's.
any_array checked_result(any_array value, const tensor_type& wanted);

template <class T, index_t... D, class X> any_array host_result_array(const X& value) {
    constexpr tensor_type type{dtype_of<T>, extents<D...>::value};
    if constexpr (std::is_same_v<X, any_array>)
        return checked_result(value, type);
    else
        return checked_result(owned_copy(to_any_array<T>(value, type.shape)), type);
}

} // namespace detail

template <class T, index_t... D> template <class X> void host_result<T, D...>::operator()(const X& value) const {
    try {
        done_(nullptr, {detail::host_result_array<T, D...>(value)});
    } catch (...) {
        done_(std::current_exception(), {});
    }
}

namespace detail {

template <class T, index_t... D, class F, class... X>
tensor<T, D...> add_host_call(const F& f, const std::source_location& where, const X&... operands) {
    constexpr auto all = std::index_sequence_for<X...>{};
    constexpr bool later =
        std::is_invocable_v<const F&, decltype(detail::host_argument<X>(any_array()))..., host_result<T, D...>>;
    auto call = [f]<std::size_t... I>(std::span<const any_array> in, any_array* out, async_context* wait,
                                      std::index_sequence<I...>) {
        if constexpr (later)
            f(detail::host_argument<X>(in[I])..., host_result<T, D...>(wait->defer()));
        else
            *out = detail::host_result_array<T, D...>(f(detail::host_argument<X>(in[I])...));
    };
    const auto function = detail::numbered(
        [call, all](std::span<const any_array> in, any_array* out, async_context* wait) { call(in, out, wait, all); });
    using op_type = std::conditional_t<later, async_host_call_op, host_call_op>;
    op_type op;
    op.type = dtype_of<T>;
    op.shape = extents<D...>::value;
    op.number = function->number;
    op.function = function;
    return {detail::unchecked, apply_node(op, where, operands...)};
}
template <class F, class... X>
operation add_effect_call(const F& f, const std::source_location& where, const X&... operands) {
    const auto function = detail::numbered([f](std::span<const any_array> in, any_array*, async_context*) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            f(detail::host_argument<X>(in[I])...);
        }(std::index_sequence_for<X...>{});
    });
    host_call_op op;
    op.number = function->number;
    op.function = function;
    return operation(apply_node(op, where, operands...).node());
}

} // namespace detail

/// Calls a C++ function f when the node runs, with the operands' values as a fetch gives them. host_call<float, dyn>(f, x) is the result of
/// f, a tensor<float, dyn>. A function that also takes a host_result<float, dyn> returns at once. It delivers its result later, from any
/// thread; no thread waits for it.
template <class T, index_t... D, class F>
tensor<T, D...> host_call(const F& f, const std::source_location& where = std::source_location::current()) {
    return detail::add_host_call<T, D...>(f, where);
}
template <class T, index_t... D, class F, graph_operand A>
tensor<T, D...> host_call(const F& f, const A& a, const std::source_location& where = std::source_location::current()) {
    return detail::add_host_call<T, D...>(f, where, a);
}
template <class T, index_t... D, class F, graph_operand A, graph_operand B>
tensor<T, D...> host_call(const F& f, const A& a, const B& b,
                          const std::source_location& where = std::source_location::current()) {
    return detail::add_host_call<T, D...>(f, where, a, b);
}
template <class T, index_t... D, class F, graph_operand... X>
    requires(sizeof...(X) > 2)
tensor<T, D...> host_call(const F& f, const X&... operands) {
    // A default source location can't follow the pack: the operands give it.
    return detail::add_host_call<T, D...>(f, std::source_location{}, operands...);
}

/// Calls a C++ function f for its side effects: an operation.
template <class F>
operation host_call(const F& f, const std::source_location& where = std::source_location::current()) {
    return detail::add_effect_call(f, where);
}
template <class F, graph_operand A>
operation host_call(const F& f, const A& a, const std::source_location& where = std::source_location::current()) {
    return detail::add_effect_call(f, where, a);
}
template <class F, graph_operand A, graph_operand B>
operation host_call(const F& f, const A& a, const B& b,
                    const std::source_location& where = std::source_location::current()) {
    return detail::add_effect_call(f, where, a, b);
}
template <class F, graph_operand... X>
    requires(sizeof...(X) > 2)
operation host_call(const F& f, const X&... operands) {
    return detail::add_effect_call(f, std::source_location{}, operands...);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <atomic>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE std::shared_ptr<const host_function>
numbered(std::function<void(std::span<const any_array>, any_array*, async_context*)> f) {
    static std::atomic<std::uint64_t> last{0};
    return detail::make_shared<const host_function>(host_function{std::move(f), ++last});
}

RILL_INLINE any_array checked_result(any_array value, const tensor_type& wanted) {
    if (value.dtype() != wanted.type || !rules::compatible(value.shape(), wanted.shape))
        throw invalid_argument("the function gave " + to_string(value.type()) + " instead of " + to_string(wanted));
    return value;
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> host_call_op::outputs(std::span<const tensor_type>) const {
    if (type == dtype::invalid) return {};
    return {{type, shape}};
}

RILL_INLINE kernel host_call_op::bound(const kernel_request& r) const {
    if (!function)
        throw unimplemented(
            "the function it calls belongs to the program that made the graph: functions are not saved");
    return kernel([f = function,
                   types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
        const detail::executor::blocked_thread here; // the function may block
        std::vector<any_array> in;
        for (std::size_t i = 0; i < types.size(); ++i) {
            const any_array borrowed = a.array(types[i], static_cast<int>(i));
            in.push_back(a.wait ? detail::owned_copy(borrowed) : borrowed); // an async function may outlive the step
        }
        f->call(in, a.sized, a.wait);
    });
}

}} // namespace rill::RILL_ABI
#endif
