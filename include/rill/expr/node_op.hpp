// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/cpu.hpp>
#include <rill/expr/apply.hpp>

namespace rill::inline RILL_ABI {

namespace detail::inline RILL_ISA {

template <class Op, class T> bool register_kernel() {
    register_factory(Op::name, dtype_of<T>, RILL_ISA_LEVEL, [](const void* op, kernel_request& r) {
        return static_cast<const Op*>(op)->template bind<cpu, T>(r);
    });
    return true;
}

template <class Op, class T> struct kernel_registrar {
    static bool ensure() {
        static const bool done = register_kernel<Op, T>();
        return done;
    }
    static inline const bool at_start = ensure();
};

} // namespace detail::inline RILL_ISA

inline namespace RILL_ISA {

/// Compiles the kernel of an op for one element type into this program. An op's `bind<D, T>` is written on the
/// primitives of a device D.
template <class Op, class T> void compile_kernel() {
    (void)detail::kernel_registrar<Op, T>::at_start;
    detail::kernel_registrar<Op, T>::ensure();
}

/// The same, unless the program links rill::kernels and finds it there.
template <class Op, class T> void require_kernel() {
    if constexpr (!(RILL_COMPILED && detail::listed_kernel<Op, T>)) compile_kernel<Op, T>();
}

/// For operands of unknown dtype: the kernels that every program has where the op is used on an any_tensor.
template <class Op> void require_kernels_for_untyped() {
    require_kernel<Op, float>();
    require_kernel<Op, double>();
    require_kernel<Op, std::int32_t>();
    require_kernel<Op, std::int64_t>();
}

} // namespace RILL_ISA

namespace detail {

/// Kernels for the operand's element type, or for the usual ones if that is not known.
template <class Op, class X> void require_kernel_for() {
    if constexpr (typed_operand<X>)
        require_kernel<Op, value_type_of<X>>();
    else
        require_kernels_for_untyped<Op>();
}

/// Adds a node for an op over operands of any kind, which are sealed in the graph of the first that has one.
template <class Op, class... X> endpoint make_node(Op op, const std::source_location& where, const X&... operands) {
    const graph_state* home = nullptr;
    ((home = home ? home : home_of(operands)), ...);
    const graph g = graph_or_current(home);
    return {add_node(g, make_op(std::move(op)), {seal(operands, g)...}, {}, false, where), 0};
}

/// The handle of a result: typed where the operands were.
template <bool Typed, class T, class Rule> auto typed_result(const endpoint& e) {
    if constexpr (Typed)
        return tensor_of<T, extents_of_rule<Rule>>(unchecked, any_tensor(e));
    else
        return any_tensor(e);
}

} // namespace detail

} // namespace rill::inline RILL_ABI
