// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/all_kernels.hpp>

#include <rill/each_kernel.hpp>
#include <rill/expr/adjoint_of.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

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
template <> template <class Op, class T> void this_level::kernel() { kernel_registrar<Op, T>::ensure(); }
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
