// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/all_kernels.hpp>

#include <rill/expr/adjoint_of.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The kernels of an elementwise op: as one instruction of a program, and as an expression of its own where that is usual.
template <class Op, class T> void compile_elementwise() {
    constexpr int operands = detail::operands_of<Op, T>();
    if constexpr (requires { typename Op::template operands<T>; }) {
        []<class... A>(std::tuple<A...>*) {
            compile_primitive<Op, A...>();
        }(static_cast<typename Op::template operands<T>*>(nullptr));
    } else if constexpr (operands == 1) {
        compile_primitive<Op, T>();
        using S = structure<Op, elementwise_result<Op, T>, leaf<T>>;
        if constexpr (is_compiled_expression<S>) compile_for_devices<S>();
    } else if constexpr (operands == 2) {
        compile_primitive<Op, T, T>();
        using R = elementwise_result<Op, T, T>;
        if constexpr (is_compiled_expression<structure<Op, R, leaf<T>, leaf<T>>>) {
            compile_for_devices<structure<Op, R, leaf<T>, leaf<T>>>();
            compile_for_devices<structure<Op, R, scalar_leaf<T>, leaf<T>>>();
            compile_for_devices<structure<Op, R, leaf<T>, scalar_leaf<T>>>();
        }
    } else {
        compile_primitive<Op, T, T, T>();
    }
}

/// Variables, constants and the like have no kernel, nor has what runs bodies or is a primitive of control flow; what makes a resource has
/// one.
template <class Op> constexpr bool has_kernel() {
    if constexpr (requires { Op::role; })
        return Op::role == op_role::resource;
    else
        return !requires(const Op& o) { o.regions(); } && !requires(const Op& o) { o.flow(); };
}

template <class Op, class T> void compile_op() {
    if constexpr (op_takes<Op, T>) {
        if constexpr (!node_op_struct<Op>)
            compile_elementwise<Op, T>();
        else if constexpr (has_kernel<Op>())
            compile_kernel<Op, T>();
    }
}

template <class T> void compile_combiners() {
    devices::each([]<class D>(std::type_identity<D>) {
        if constexpr (std::is_same_v<T, bool>) {
            D::template compile_reducer<combine::all, bool>();
            D::template compile_reducer<combine::any, bool>();
        } else {
            D::template compile_reducer<combine::sum, T>();
            D::template compile_reducer<combine::mean, T>();
            D::template compile_reducer<combine::prod, T>();
            if constexpr (!is_complex<T>) {
                D::template compile_reducer<combine::max, T>();
                D::template compile_reducer<combine::min, T>();
            }
        }
    });
}

/// All kernels for an element type.
template <class T> void compile_type() {
    compile_for_devices<leaf<T>>();
    compile_combiners<T>();
    catalogue::each([]<class Op>(std::type_identity<Op>) { compile_op<Op, T>(); });
    optimizer_rules::each([]<class Rule>(std::type_identity<Rule>) {
        compile_op<update_op<Rule>, T>();
        if constexpr (requires { Rule::by_rows; }) compile_op<update_rows_op<Rule>, T>();
    });
}

/// All kernels, compiled for the instruction set of this file.
inline void compile_catalogue() {
    types::common::each([]<class T>(std::type_identity<T>) { compile_type<T>(); });
    catalogue::each([]<class Op>(std::type_identity<Op>) {
        compile_op<Op, void>();
        type_set<std::string, std::complex<float>, std::complex<double>, qint8, quint8, qint32>::each(
            []<class T>(std::type_identity<T>) {
                if constexpr (is_compiled<Op, T>) compile_op<Op, T>();
            });
    });
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

#if !RILL_KERNELS_LEVEL // which a file of rill::kernels says that holds kernels of a better level and nothing else
#include <rill/device/cpu/jit/jit_program.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

#if RILL_KERNELS_V2
void compile_catalogue_v2();
#endif
#if RILL_KERNELS_V3
void compile_catalogue_v3();
#endif
#if RILL_KERNELS_V4
void compile_catalogue_v4();
#endif
#if RILL_KERNELS_RARE_TYPES
void compile_rare_types();
void name_rare_casts();
#endif

template <class Op> op_ptr make_compiled_op(Op o) { return shared(new op_model<Op>(std::move(o))); }

template <class Op> void hold_op() {
    if constexpr (is_in_library<Op>) [[maybe_unused]]
        op_ptr (*volatile held)(Op) = &make_compiled_op<Op>; // so that it is there for programs to call
}

/// The ops that programs are made of as machine code.
template <class T> void register_vector_ops() {
    catalogue::each([]<class Op>(std::type_identity<Op>) {
        if constexpr (op_takes<Op, T> && !node_op_struct<Op>) {
            constexpr int operands = detail::operands_of<Op, T>();
            if constexpr (requires { typename Op::template operands<T>; })
                []<class... A>(std::tuple<A...>*) {
                    register_vector_op<Op, A...>();
                }(static_cast<typename Op::template operands<T>*>(nullptr));
            else if constexpr (operands == 1)
                register_vector_op<Op, T>();
            else if constexpr (operands == 2)
                register_vector_op<Op, T, T>();
            else
                register_vector_op<Op, T, T, T>();
        }
    });
}

inline void fill_registries() {
    require_fused();
    enable_dynamic_shapes();
    register_vector_ops<float>();
    register_vector_ops<bool>();
    if (emits_programs) register_emitter(&the_emitter);
#if RILL_KERNELS_RARE_TYPES
    register_rare_kernels(&compile_rare_types);
    name_rare_casts();
#endif
    set_adjoint_check([](const fused_spec& spec) { return is_adjoint(spec, *the_gradient_ops().add); });
    compile_catalogue();
    catalogue::each([]<class Op>(std::type_identity<Op>) {
        if constexpr (node_op_struct<Op>) {
            register_op(op_entry_of<Op>());
            hold_op<Op>();
        }
    });
    optimizer_rules::each([]<class Rule>(std::type_identity<Rule>) {
        register_op(op_entry_of<update_op<Rule>>());
        hold_op<update_op<Rule>>();
        if constexpr (requires { Rule::by_rows; }) {
            register_op(op_entry_of<update_rows_op<Rule>>());
            hold_op<update_rows_op<Rule>>();
        }
    });
    [[maybe_unused]] const int level = best_level();
#if RILL_KERNELS_V4
    if (level >= 4) return compile_catalogue_v4();
#endif
#if RILL_KERNELS_V3
    if (level >= 3) return compile_catalogue_v3();
#endif
#if RILL_KERNELS_V2
    if (level >= 2) return compile_catalogue_v2();
#endif
}

RILL_INLINE bool register_catalogue() {
    static const bool done = (fill_registries(), true);
    return done;
}

}}} // namespace rill::RILL_ABI::detail
#endif
