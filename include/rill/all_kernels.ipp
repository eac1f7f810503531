// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/all_kernels.hpp>

#include <rill/expr/adjoint_of.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Visits the kernels of an elementwise op: as one instruction of a program, and as an expression of its own where that is usual.
template <class Visit, class Op, class T> void each_elementwise() {
    constexpr int operands = detail::operands_of<Op, T>();
    if constexpr (requires { typename Op::template operands<T>; }) {
        []<class... A>(std::tuple<A...>*) {
            Visit::template primitive<Op, A...>();
        }(static_cast<typename Op::template operands<T>*>(nullptr));
    } else if constexpr (operands == 1) {
        Visit::template primitive<Op, T>();
        using S = structure<Op, elementwise_result<Op, T>, leaf<T>>;
        if constexpr (is_compiled_expression<S>) Visit::template expression<S>();
    } else if constexpr (operands == 2) {
        Visit::template primitive<Op, T, T>();
        using R = elementwise_result<Op, T, T>;
        if constexpr (is_compiled_expression<structure<Op, R, leaf<T>, leaf<T>>>) {
            Visit::template expression<structure<Op, R, leaf<T>, leaf<T>>>();
            Visit::template expression<structure<Op, R, scalar_leaf<T>, leaf<T>>>();
            Visit::template expression<structure<Op, R, leaf<T>, scalar_leaf<T>>>();
        }
    } else {
        Visit::template primitive<Op, T, T, T>();
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

template <class Visit, class Op, class T> void each_of_op() {
    if constexpr (op_takes<Op, T>) {
        if constexpr (!node_op_struct<Op>)
            each_elementwise<Visit, Op, T>();
        else if constexpr (has_kernel<Op>())
            Visit::template kernel<Op, T>();
    }
}

template <class Visit, class T> void each_combiner() {
    if constexpr (std::is_same_v<T, bool>) {
        Visit::template combiner<combine::all, bool>();
        Visit::template combiner<combine::any, bool>();
    } else {
        Visit::template combiner<combine::sum, T>();
        Visit::template combiner<combine::mean, T>();
        Visit::template combiner<combine::prod, T>();
        if constexpr (!is_complex<T>) {
            Visit::template combiner<combine::max, T>();
            Visit::template combiner<combine::min, T>();
        }
    }
}

/// The I-th of N parts of a list: every N-th element.
template <std::size_t I, std::size_t N> struct catalogue_part {
    static constexpr bool is_first = I == 0;

    template <class F, class... Op> static void each(op_list<Op...>, const F& f) {
        [&]<std::size_t... At>(std::index_sequence<At...>) {
            const auto visit = [&]<std::size_t K, class O>(std::index_sequence<K>, std::type_identity<O> op) {
                if constexpr (K % N == I) f(op);
                return 0;
            };
            (void)std::initializer_list<int>{visit(std::index_sequence<At>(), std::type_identity<Op>())...};
        }(std::index_sequence_for<Op...>());
    }
};
using all_parts = catalogue_part<0, 1>;

/// Visits all kernels for an element type, or those of a part of the ops.
template <class Visit, class T, class Part = all_parts> void each_of_type() {
    if constexpr (Part::is_first) {
        Visit::template expression<leaf<T>>();
        each_combiner<Visit, T>();
    }
    Part::each(catalogue(), []<class Op>(std::type_identity<Op>) { each_of_op<Visit, Op, T>(); });
    Part::each(optimizer_rules(), []<class Rule>(std::type_identity<Rule>) {
        each_of_op<Visit, update_op<Rule>, T>();
        if constexpr (requires { Rule::by_rows; }) each_of_op<Visit, update_rows_op<Rule>, T>();
    });
}

/// Visits all kernels of rill::kernels but those of rare types, or those of a part of the ops.
template <class Visit, class Part = all_parts> void each_of_catalogue() {
    types::common::each([]<class T>(std::type_identity<T>) { each_of_type<Visit, T, Part>(); });
    Part::each(catalogue(), []<class Op>(std::type_identity<Op>) {
        each_of_op<Visit, Op, void>();
        type_set<std::string, std::complex<float>, std::complex<double>, qint8, quint8, qint32>::each(
            []<class T>(std::type_identity<T>) {
                if constexpr (is_compiled<Op, T>) each_of_op<Visit, Op, T>();
            });
    });
}

/// Compiles what it visits into this program.
struct compiler {
    template <class Op, class T> static void kernel() { compile_kernel<Op, T>(); }
    template <class Op, class... T> static void primitive() { compile_primitive<Op, T...>(); }
    template <class S> static void expression() { compile_for_devices<S>(); }
    template <combine How, class T> static void combiner() {
        devices::each([]<class D>(std::type_identity<D>) { D::template compile_reducer<How, T>(); });
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

#if RILL_COMPILED
namespace rill { inline namespace RILL_ABI { namespace detail {

/// Kernels for a level of x86-64, or (0) for the processor that the compiler is told of. Each level is an object of its own in
/// rill::kernels, compiled for that level.
template <int Level> struct kernel_level {
    template <class Op, class T> RILL_NO_INLINE static void kernel();
    template <class Op, class... T> RILL_NO_INLINE static void primitive();
    template <class S> RILL_NO_INLINE static void expression();
    template <combine How, class T> RILL_NO_INLINE static void combiner();
};

#ifdef RILL_KERNELS_LEVEL
using this_level = kernel_level<RILL_KERNELS_LEVEL>;
#else
using this_level = kernel_level<0>;
#endif

#if !RILL_KERNELS_APART // which a file says whose kernels are compiled in other files
template <> template <class Op, class T> void this_level::kernel() {
    kernel_registrar<Op, T>::ensure();
}
template <> template <class Op, class... T> void this_level::primitive() {
    using one_op = structure<Op, elementwise_result<Op, T...>, leaf<T>...>;
    devices::each([]<class D>(std::type_identity<D>) { D::template compile_one_op<one_op>(); });
}
template <> template <class S> void this_level::expression() { compile_for_devices<S>(); }
template <> template <combine How, class T> void this_level::combiner() {
    devices::each([]<class D>(std::type_identity<D>) { D::template compile_reducer<How, T>(); });
}
#endif

}}} // namespace rill::RILL_ABI::detail
#endif

#if !RILL_KERNELS_LEVEL && !RILL_KERNELS_ALONE // which a file of rill::kernels says that holds kernels of a better level and nothing else
#include <rill/device/cpu/jit/jit_program.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

#if RILL_KERNELS_RARE_TYPES
void compile_rare_types();
void name_rare_casts();
#endif

template <class Op> op_ptr make_compiled_op(Op o) { return shared(new op_model<Op>(std::move(o))); }

template <class Op> void hold_op() {
    if constexpr (is_in_library<Op>) [[maybe_unused]]
        op_ptr (*volatile held)(Op) = &make_compiled_op<Op>; // so that it is there for programs to call
}

/// Registers the compiler of machine code.
inline void require_jit() {
    if (emits_programs) register_emitter(&the_emitter);
}

#if RILL_COMPILED
/// Calls f for the base level, and for the best level of this processor that rill::kernels has.
template <class F> void with_levels(const F& f) {
    f(kernel_level<0>{});
    [[maybe_unused]] static const int best = best_level();
#if RILL_KERNELS_V4
    if (best >= 4) return f(kernel_level<4>{});
#endif
#if RILL_KERNELS_V3
    if (best >= 3) return f(kernel_level<3>{});
#endif
#if RILL_KERNELS_V2
    if (best >= 2) return f(kernel_level<2>{});
#endif
}

namespace kernels {

template <class Op, class T> void bring_kernel() {
    static const bool done = (with_levels([]<class Level>(Level) { Level::template kernel<Op, T>(); }), true);
    if (done) bring_along<Op, T>();
}

template <class Op, class... T> void bring_primitive() {
    static const bool done = [] {
        require_jit();
        register_vector_op<Op, T...>();
        with_levels([]<class Level>(Level) { Level::template primitive<Op, T...>(); });
        return primitive_registrar<Op, elementwise_result<Op, T...>, T...>::ensure();
    }();
    (void)done;
}

template <class S> void bring_expression() {
    static const bool done = (with_levels([]<class Level>(Level) { Level::template expression<S>(); }), true);
    (void)done;
}

template <combine How, class T> void bring_combiner() {
    static const bool done = (with_levels([]<class Level>(Level) { Level::template combiner<How, T>(); }), true);
    (void)done;
}

} // namespace kernels

/// Brings what it visits from rill::kernels.
struct bringer {
    template <class Op, class T> static void kernel() { kernels::bring_kernel<Op, T>(); }
    template <class Op, class... T> static void primitive() { kernels::bring_primitive<Op, T...>(); }
    template <class S> static void expression() { kernels::bring_expression<S>(); }
    template <combine How, class T> static void combiner() { kernels::bring_combiner<How, T>(); }
};
using of_catalogue = bringer;
#else
struct of_catalogue : compiler {
    template <class Op, class... T> static void primitive() {
        compiler::primitive<Op, T...>();
        register_vector_op<Op, T...>();
    }
};
#endif

inline void fill_registries() {
    require_fused();
    require_jit();
    enable_dynamic_shapes();
#if RILL_KERNELS_RARE_TYPES
    register_rare_kernels(&compile_rare_types);
    name_rare_casts();
#endif
    set_adjoint_check([](const fused_spec& spec) { return is_adjoint(spec, *the_gradient_ops().add); });
    each_of_catalogue<of_catalogue>();
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
}

RILL_INLINE bool register_catalogue() {
    static const bool done = (fill_registries(), true);
    return done;
}

#if RILL_COMPILED
RILL_COLD void require_catalogue() { register_catalogue(); }
#endif

}}} // namespace rill::RILL_ABI::detail
#endif
