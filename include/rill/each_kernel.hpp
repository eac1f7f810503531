// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of the catalogue of ops, which a visitor gets one by one: for a program, for rill::kernels, for a library of one device.

#include <cstddef>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>

#include <rill/expr/node_op.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/train/catalogue.hpp>
#include <rill/train/update_rows_op.hpp>

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

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
