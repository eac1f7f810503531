// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/all_kernels.hpp>

namespace rill::inline RILL_ABI::detail {

template <class T, class... Op> void compile_unary(op_list<Op...>) {
    const auto one = []<class O>(std::type_identity<O>) {
        if constexpr (op_takes<O, T>) compile_primitive<O, T>();
        if constexpr (op_takes<O, T> && listed_expression<structure<O, elementwise_result<O, T>, leaf<T>>>)
            compile_expression<structure<O, elementwise_result<O, T>, leaf<T>>>();
    };
    (one(std::type_identity<Op>{}), ...);
}
template <class T, class... Op> void compile_binary(op_list<Op...>) {
    const auto one = []<class O>(std::type_identity<O>) {
        if constexpr (op_takes<O, T>) {
            using R = elementwise_result<O, T, T>;
            compile_primitive<O, T, T>();
            if constexpr (listed_expression<structure<O, R, leaf<T>, leaf<T>>>) {
                compile_expression<structure<O, R, leaf<T>, leaf<T>>>();
                compile_expression<structure<O, R, scalar_leaf<T>, leaf<T>>>();
                compile_expression<structure<O, R, leaf<T>, scalar_leaf<T>>>();
            }
        }
    };
    (one(std::type_identity<Op>{}), ...);
}
template <class T, class... Op> void compile_nodes(op_list<Op...>) { (compile_kernel<Op, T>(), ...); }

template <class T> void compile_elementwise() {
    compile_expression<leaf<T>>();
    compile_unary<T>(listed_unary{});
    compile_binary<T>(listed_binary{});
    compile_primitive<select_op, bool, T, T>();
}
template <class T> void compile_numeric() {
    compile_elementwise<T>();
    compile_nodes<T>(listed_numeric{});
    compile_combiner<combine::mean, T>(); // and the sum
    compile_combiner<combine::prod, T>();
    compile_combiner<combine::max, T>();
    compile_combiner<combine::min, T>();
}
template <class T> void compile_floating() {
    compile_numeric<T>();
    compile_nodes<T>(listed_floating{});
}

RILL_INLINE bool register_listed_kernels() {
    compile_floating<float>();
    compile_floating<double>();
    compile_numeric<std::int32_t>();
    compile_numeric<std::int64_t>();
    compile_elementwise<bool>();
    compile_combiner<combine::all, bool>();
    compile_combiner<combine::any, bool>();
    compile_nodes<void>(listed_untyped{});
    return true;
}

} // namespace rill::inline RILL_ABI::detail
