// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include <rill/expr/apply.hpp>

// Ops that are nodes of their own: the compilation of their kernels into a program, and the functions that add their nodes.

namespace rill { inline namespace RILL_ABI {

/// An entry in an op's `brings` list: the loops of a reduction.
template <combine How> struct combining {
    static constexpr combine how = How;
};
template <class Op> inline constexpr bool is_combining = false;
template <combine How> inline constexpr bool is_combining<combining<How>> = true;

namespace detail { inline namespace RILL_ISA {

/// Returns true if device D has a kernel of an op for elements of T. An op may constrain `bind` to some devices, and a device may lack
/// kernels for some types or ops; such nodes run on the CPU.
template <class D, class Op, class T> constexpr bool has_device_kernel() {
    if constexpr (std::is_same_v<D, cpu>)
        return true;
    else if constexpr (!requires(const Op& op, kernel_request& r) { op.template bind<D, T>(r); })
        return false;
    else if constexpr (requires { D::template has_kernel<Op, T>; })
        return D::template has_kernel<Op, T>;
    else
        return true;
}

/// Registers the kernel of an op for elements of T, if device D has one.
template <class D, class Op, class T> void register_kernel_on() {
    if constexpr (has_device_kernel<D, Op, T>())
        register_factory(D::type, Op::name, dtype_of<T>, RILL_ISA_LEVEL, [](const void* op, kernel_request& r) {
            kernel made = static_cast<const Op*>(op)->template bind<D, T>(r);
            // a device with several instances selects the one that r.space belongs to, for the time of each call
            if constexpr (requires { D::on_instance(std::move(made), r); }) made = D::on_instance(std::move(made), r);
            return made;
        });
}

template <class Op, class T> bool register_kernel() {
    register_op(op_entry_of<Op>());
    devices::each([]<class D>(std::type_identity<D>) { register_kernel_on<D, Op, T>(); });
    return true;
}

template <class Op, class T> struct kernel_registrar {
    static bool ensure() {
        static const bool done = register_kernel<Op, T>();
        return done;
    }
};

/// True once an op's `brings` list was visited: two ops may bring each other. Their kernels also register at program start.
template <class Op, class T> inline std::atomic<bool> brought{false};

}} // namespace detail::RILL_ISA

namespace detail {

template <class Op>
concept node_op_struct =
    requires(const Op& o, std::span<const tensor_type> in) { o.outputs(in); } ||
    requires(const Op& o, const known_inputs& in) { o.outputs(in); } ||
    requires(const Op& o, const dims& s) { o.shape(s); } || requires(const Op& o, const dims& s) { o.shape(s, s); };

/// Returns the number of operands of an elementwise op.
template <class Op, class T> constexpr int operands_of() {
    using V = lane<T>;
    using C = compute_type<T>;
    if constexpr (requires { typename Op::template operands<T>; })
        return static_cast<int>(std::tuple_size_v<typename Op::template operands<T>>);
    else if constexpr (requires(const V& v) { Op::value(v); } || requires(const C& v) { Op::scalar(v); })
        return 1;
    else if constexpr (requires(const V& v) { Op::value(v, v); } || requires(const C& v) { Op::scalar(v, v); })
        return 2;
    else
        return 3;
}

} // namespace detail

inline namespace RILL_ISA {

/// Compiles the kernel of an op for one element type into this program, for every device of this file. An op's `bind<D, T>` uses the
/// primitives of a device D.
template <class Op, class T> void compile_kernel() { detail::run_at_start<&detail::kernel_registrar<Op, T>::ensure>(); }

template <class Op, class T> void require_kernel();

} // namespace RILL_ISA

namespace detail {

template <class Op, class T> void require_elementwise() {
    constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(operands_of<Op, T>())>{};
    require_uniform<Op, T>(all);
}

/// Compiles one entry of a `brings` list for elements of type T.
template <class Op, class T> void require_brought() {
    if constexpr (is_combining<Op>) {
        require_combiner<Op::how, T>();
    } else if constexpr (op_takes<Op, void>) {
        require_kernel<Op, void>();
    } else if constexpr (op_takes<Op, T>) {
        if constexpr (node_op_struct<Op>)
            require_kernel<Op, T>();
        else
            require_elementwise<Op, T>();
    }
}

template <class Op, class T> void bring_along() {
    if (brought<Op, T>.exchange(true)) return;
    if constexpr (is_differentiable(dtype_of<T>) || std::is_void_v<T>)
        brought_by<Op>::type::each([]<class Other>(std::type_identity<Other>) { require_brought<Other, T>(); });
}

} // namespace detail

inline namespace RILL_ISA {

/// Compiles the kernel of an op, and those that its gradients of any order need, into the program. Programs that link rill::kernels take
/// them from there.
template <class Op, class T> void require_kernel() {
    if constexpr (RILL_COMPILED && detail::is_compiled<Op, T>) {
        detail::kernels::bring_kernel<Op, T>();
    } else {
        compile_kernel<Op, T>();
        detail::bring_along<Op, T>();
    }
}

} // namespace RILL_ISA

namespace detail {

/// Compiles kernels for an operand's element type, or for the usual numeric types if it is unknown. rill::kernels has more of them.
template <class Op, class X> void require_kernel_for() {
    require_fused(); // gradients are built from fused ops
    const auto one = []<class T>(std::type_identity<T>) {
        if constexpr (op_takes<Op, T>) require_kernel<Op, T>();
    };
    if constexpr (op_takes<Op, void>)
        require_kernel<Op, void>();
    else if constexpr (typed_operand<X>)
        one(std::type_identity<value_type_of<X>>{});
    else if constexpr (element<X>)
        one(std::type_identity<X>{});
    else if constexpr (RILL_COMPILED && is_in_library<Op>)
        Op::compiled_types::each(one);
    else
        types::numbers::each(one);
}

/// Adds a node for an op over operands of any kind. They are sealed in the graph of the first operand that has one. `taken` is a bit set
/// of the dtypes that the first operand may have; 0: any.
template <class... X>
endpoint add_op_node(op_ptr op, std::uint32_t taken, const std::source_location& where, const X&... operands) {
    if ((is_null(operands) || ...)) refuse_null(op->label(), where);
    const graph_state* home = nullptr;
    ((home = home ? home : home_of(operands)), ...);
    const graph g = graph_or_current(home);
    const std::array<endpoint, sizeof...(X)> inputs{seal(operands, g)...};
    return add_over(g, std::move(op), taken, inputs, where);
}

/// Returns the edges of the tensors in a list. Throws invalid_argument if the list is empty.
template <tensor_list L> endpoint_list sealed_list(const char* op, const L& all, const std::source_location& where) {
    if (all.size() == 0) throw invalid_argument(std::string(op) + ": no tensors were given" + at_place(where));
    const graph_state* home = nullptr;
    for (const auto& x : all) {
        if (is_null(x)) refuse_null(op, where);
        home = home ? home : home_of(x);
    }
    const graph g = graph_or_current(home);
    endpoint_list edges;
    for (const auto& x : all) edges.push_back(seal(x, g));
    return edges;
}

/// Returns the type of an operand as far as it is known when the graph is built.
template <class X> tensor_type operand_type(const X& x) {
    if constexpr (typed_operand<X>)
        return static_type<X>;
    else
        return type_of(checked(x.end()));
}

/// Returns the rank of an operand, or -1 if it is unknown.
template <class X> int rank_of(const X& x) { return operand_type(x).shape.rank; }

/// Throws invalid_argument if the rank of a tensor is known and differs from `rank`.
template <class X> void require_rank(const char* op, const X& x, int rank, const std::source_location& where) {
    if (is_null(x)) refuse_null(op, where);
    if (const int has = rank_of(x); has >= 0 && has != rank)
        throw invalid_argument(std::string(op) + ": a tensor of rank " + std::to_string(rank) +
                               " is expected, not of rank " + std::to_string(has) + at_place(where));
}

/// Returns the dtypes that the op takes, as bits, or 0 if static types have checked the first operand.
template <class Op, class X> constexpr std::uint32_t taken_untyped() {
    if constexpr (typed_operand<X> || element<X>)
        return 0;
    else
        return dtypes_of<Op>();
}

/// The shape that a rule gives for static extents. After a failed check it is merely well-formed.
template <class Rule, class... E> struct ruled_shape {
    static constexpr dims told = Rule()(static_dims<E>...).shape;
    static constexpr bool typed = told.known_rank() || !Rule()(static_dims<E>...).ok();
    static constexpr dims value = told.known_rank() ? told : dims{};
};

/// Shape rules of results that have the shape of the first operand, or its rank.
inline constexpr auto shape_of_first = [](const dims& x, const auto&...) { return shape_result{x}; };
inline constexpr auto rank_of_first = [](const dims& x, const auto&...) { return rules::change_rank(x, 0); };

template <class... X> struct first_operand {
    using type = any_tensor; // there are no operands
};
template <class X, class... More> struct first_operand<X, More...> {
    using type = X;
};

/// Returns the handle to a result with elements of type Out (void: those of the first operand). It is typed if all operands are typed and
/// the rule knows the rank.
template <class Out, class... X, class Rule> auto typed_result(Rule, const any_tensor& made) {
    if constexpr ((typed_operand<X> && ...)) {
        using T = typename std::conditional_t<std::is_void_v<Out>, operand_value<typename first_operand<X...>::type>,
                                              std::type_identity<Out>>::type;
        using ruled = ruled_shape<Rule, extents_of<X>...>;
        if constexpr (ruled::typed)
            return tensor_of<T, extents_of_rule<ruled>>(unchecked, made);
        else
            return made;
    } else {
        return made;
    }
}

} // namespace detail

/// Adds a node for an op over operands of any kind, and compiles its kernels. The result is a tensor of unknown type.
template <class Op, graph_operand... X>
any_tensor apply_node(const Op& op, const std::source_location& where, const X&... operands) {
    using first = typename detail::first_operand<X...>::type;
    detail::require_kernel_for<Op, first>();
    return detail::add_op_node(make_op(op), detail::taken_untyped<Op, first>(), where, operands...);
}

/// Adds a node whose static type follows from a shape rule: a captureless function from the operands' extents (dims) to a shape_result.
/// The result is typed if all operands are typed and the rule knows its rank. `Out` is its element type, and `Kernel` selects the kernel.
/// Void means the first operand's element type.
template <class Out = void, class Kernel = void, class Op, class Rule, graph_operand... X>
    requires(!std::is_same_v<Rule, std::source_location>)
auto apply_node(const Op& op, Rule rule, const std::source_location& where, const X&... operands) {
    using first = typename detail::first_operand<X...>::type;
    detail::require_kernel_for<Op, std::conditional_t<std::is_void_v<Kernel>, first, Kernel>>();
    constexpr auto taken = std::is_void_v<Kernel> ? detail::taken_untyped<Op, first>() : 0;
    const endpoint made = detail::add_op_node(make_op(op), taken, where, operands...);
    return detail::typed_result<Out, X...>(rule, any_tensor(made));
}

}} // namespace rill::RILL_ABI
