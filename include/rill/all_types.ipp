// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include <rill/all_kernels.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

using rare_types = type_set<half, bfloat16, std::int8_t, std::int16_t, std::uint8_t, std::uint16_t, std::uint32_t,
                            std::uint64_t, std::complex<float>, std::complex<double>>;

/// One loop an op: expressions of such types run by the interpreter.
template <class Op, class T> void compile_rare_op() {
    if constexpr (op_takes<Op, T>) {
        if constexpr (node_op_struct<Op>) {
            if constexpr (has_kernel<Op>()) compile_kernel<Op, T>();
        } else if constexpr (requires { typename Op::template operands<T>; }) {
            []<class... A>(std::tuple<A...>*) {
                compile_primitive<Op, A...>();
            }(static_cast<typename Op::template operands<T>*>(nullptr));
        } else {
            constexpr int operands = detail::operands_of<Op, T>();
            if constexpr (operands == 1)
                compile_primitive<Op, T>();
            else if constexpr (operands == 2)
                compile_primitive<Op, T, T>();
            else
                compile_primitive<Op, T, T, T>();
        }
    }
}

template <class T> void compile_rare_combiners() {
    devices::each([]<class D>(std::type_identity<D>) {
        D::template compile_combiner<combine::sum, T>();
        D::template compile_combiner<combine::mean, T>();
        D::template compile_combiner<combine::prod, T>();
        if constexpr (!is_complex<T>) {
            D::template compile_combiner<combine::max, T>();
            D::template compile_combiner<combine::min, T>();
        }
    });
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail {

#if RILL_COMPILED
void compile_rare_types();
#endif
RILL_INLINE void compile_rare_types() {
    rare_types::each([]<class T>(std::type_identity<T>) {
        compile_for_devices<leaf<T>>();
        compile_rare_combiners<T>();
        catalogue::each([]<class Op>(std::type_identity<Op>) { compile_rare_op<Op, T>(); });
        optimizer_rules::each([]<class Rule>(std::type_identity<Rule>) {
            compile_rare_op<update_op<Rule>, T>();
            if constexpr (requires { Rule::by_rows; }) compile_rare_op<update_rows_op<Rule>, T>();
        });
    });
}

}}} // namespace rill::RILL_ABI::detail
