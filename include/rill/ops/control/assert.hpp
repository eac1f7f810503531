// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/ops/array/ensure_shape.hpp>
#include <rill/ops/control/print.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/less_equal.hpp>

namespace rill { inline namespace RILL_ABI {

// Assertions that a run checks. Each is an operation, for control_dependencies or as a target. If the condition is false, the run throws
// invalid_argument with the message and the given values. assert_rank, assert_shape and assert_type throw when the graph is built, as far
// as types permit. The other assertions call a function of this program. A saved graph contains their node, which runs only in the process
// that built it.

/// Asserts that all elements of a bool tensor are true: assert_true(condition, {x}).
template <graph_operand C>
operation assert_true(const C& condition, const std::vector<any_tensor>& shown = {}, const std::string& message = {},
                      const std::source_location& where = std::source_location::current()) {
    std::vector<any_tensor> all{any_tensor(detail::seal(condition))};
    all.insert(all.end(), shown.begin(), shown.end());
    if (all[0].dtype() != dtype::boolean)
        throw invalid_argument("assert_true: the condition is " + std::string(to_string(all[0].dtype())) +
                               ", not bool" + detail::at_place(where));
    return detail::add_shown<>(
        all,
        [message](std::span<const any_array> in) {
            for (const bool holds : in[0].elements<bool>())
                if (!holds)
                    throw invalid_argument(detail::shown_text(
                        message.empty() ? "the assertion does not hold:" : message + ":", in.subspan(1)));
        },
        where);
}

namespace detail {

/// Returns the operands that are tensors. Numbers are not shown.
template <class A, class B> std::vector<any_tensor> operands_shown(const A& a, const B& b) {
    std::vector<any_tensor> all;
    if constexpr (graph_operand<A>) all.emplace_back(seal(a));
    if constexpr (graph_operand<B>) all.emplace_back(seal(b));
    return all;
}

} // namespace detail

template <class A, class B>
    requires(graph_operand<A> || graph_operand<B>)
operation assert_equal(const A& a, const B& b, const std::string& message = "the elements are not equal",
                       const std::source_location& where = std::source_location::current()) {
    return assert_true(equal(a, b), detail::operands_shown(a, b), message, where);
}
template <class A, class B>
    requires(graph_operand<A> || graph_operand<B>)
operation assert_less(const A& a, const B& b, const std::string& message = "not every element is less",
                      const std::source_location& where = std::source_location::current()) {
    return assert_true(a < b, detail::operands_shown(a, b), message, where);
}
template <class A, class B>
    requires(graph_operand<A> || graph_operand<B>)
operation assert_less_equal(const A& a, const B& b, const std::string& message = "not every element is less or equal",
                            const std::source_location& where = std::source_location::current()) {
    return assert_true(a <= b, detail::operands_shown(a, b), message, where);
}
template <class A, class B>
    requires(graph_operand<A> || graph_operand<B>)
operation assert_greater(const A& a, const B& b, const std::string& message = "not every element is greater",
                         const std::source_location& where = std::source_location::current()) {
    return assert_true(a > b, detail::operands_shown(a, b), message, where);
}
template <class A, class B>
    requires(graph_operand<A> || graph_operand<B>)
operation assert_greater_equal(const A& a, const B& b,
                               const std::string& message = "not every element is greater or equal",
                               const std::source_location& where = std::source_location::current()) {
    return assert_true(a >= b, detail::operands_shown(a, b), message, where);
}
/// Asserts that all elements are above 0.
template <typed_operand X>
operation assert_positive(const X& x, const std::string& message = "not every element is positive",
                          const std::source_location& where = std::source_location::current()) {
    return assert_true(x > value_type_of<X>(0), {any_tensor(detail::seal(x))}, message, where);
}
/// Asserts that no element is below 0.
template <typed_operand X>
operation assert_non_negative(const X& x, const std::string& message = "an element is negative",
                              const std::source_location& where = std::source_location::current()) {
    return assert_true(x >= value_type_of<X>(0), {any_tensor(detail::seal(x))}, message, where);
}

/// Asserts that x has the given extents: assert_shape(x, {2, dyn}).
template <graph_operand X>
operation assert_shape(const X& x, const dims& shape,
                       const std::source_location& where = std::source_location::current()) {
    return operation(ensure_shape(x, shape, where).node());
}
/// Asserts that x has the given rank: assert_rank(x, 2).
template <graph_operand X>
operation assert_rank(const X& x, int rank, const std::source_location& where = std::source_location::current()) {
    if (rank < 0 || rank > max_rank)
        throw invalid_argument("assert_rank: the rank is " + std::to_string(rank) + detail::at_place(where));
    dims shape;
    for (int i = 0; i < rank; ++i) shape.push(dyn);
    return assert_shape(x, shape, where);
}
/// Asserts that x has the given dtype: assert_type(x, dtype::float32).
template <graph_operand X>
operation assert_type(const X& x, dtype type, const std::source_location& where = std::source_location::current()) {
    const any_tensor edge{detail::seal(x)};
    if (edge.dtype() != type)
        throw invalid_argument("assert_type: '" + edge.name() + "' is " + std::string(to_string(edge.dtype())) +
                               ", not " + std::string(to_string(type)) + detail::at_place(where));
    return operation(edge.node());
}

}} // namespace rill::RILL_ABI
