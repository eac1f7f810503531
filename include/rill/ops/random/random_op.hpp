// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/ops/array/shape_input.hpp>
#include <rill/ops/random/random_counter.hpp>

// Shared parts of the random ops: a shape, a seed, and a stream that advances with each run in a session.

namespace rill { inline namespace RILL_ABI {

/// True if every extent of a random tensor is known.
template <index_t... D> inline constexpr bool random_extents_known = static_dims<extents<D...>>.complete();

/// A shape given at run time: dims, or a tensor. (Deduced, so that braces are an op's options.)
template <class S>
concept shape_argument = graph_operand<S> || std::same_as<S, dims>;

namespace detail {

/// Base of the ops that draw numbers. The shape is a field, or the only input.
struct random_numbers {
    static constexpr int least_inputs = 0;
    static constexpr auto no_gradient = ""; // the only input is a shape
    static constexpr bool stateful = true;
    dtype type = dtype::float32;
    dims to;
    std::uint64_t seed = 0;

    static void shape_fields(auto& op, auto& visit) {
        visit("dtype", op.type);
        visit("shape", op.to);
    }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return type; }
    static input_list shape_inputs() { return {0}; }
    /// Returns the type of the numbers, with the shape as far as it is known.
    std::vector<tensor_type> numbers_type(const known_inputs& in) const;
};

/// The common base of random_normal and truncated_normal.
struct normal_numbers : random_numbers {
    double mean = 0, stddev = 1;

    static void fields(auto& op, auto& visit) {
        shape_fields(op, visit);
        visit("mean", op.mean);
        visit("stddev", op.stddev);
        visit("seed", op.seed);
    }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
};

/// Returns a kernel that calls draw(context, memory). The context has the stream of the run.
template <class T, class Draw> kernel random_kernel(kernel_request& request, Draw draw) {
    count_runs(request);
    return kernel([draw](const kernel_args& a) { draw(a.on, a.out<T>(0)); });
}

/// Adds a random op to the current graph.
template <class T, index_t... D, class Op>
tensor<T, D...> random_tensor(const Op& op, const std::source_location& where) {
    require_kernel_for<Op, T>();
    return {unchecked, any_tensor(add_op_node(make_op(op), 0, where))};
}

/// Adds a random op with a shape known at run time, or given by a tensor.
template <class T, class Op, class S> auto random_tensor_of(Op op, const S& shape, const std::source_location& where) {
    if constexpr (std::is_same_v<S, dims>) {
        op.to = shape;
        require_kernel_for<Op, T>();
        return any_tensor(add_op_node(make_op(op), 0, where));
    } else {
        if constexpr (typed_operand<S>)
            static_assert(is_shape_tensor<extents_of<S>, value_type_of<S>>,
                          "random numbers: the shape must be of rank 1, and of int or std::int64_t");
        constexpr auto rule = [](const dims& s) { return shape_result{rank_from(s)}; };
        enable_dynamic_shapes();
        return apply_node<T, T>(op, rule, where, shape);
    }
}
/// Adds a random op with a type known only at run time.
template <class Op, class... S>
any_tensor random_any_tensor(const Op& op, const std::source_location& where, const S&... shape) {
    require_kernel_for<Op, any_tensor>();
    if constexpr (sizeof...(S) > 0) enable_dynamic_shapes();
    return add_op_node(make_op(op), 0, where, shape...);
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> random_numbers::numbers_type(const known_inputs& in) const {
    if (in.types.size() > 1) throw invalid_argument("a shape at most is expected");
    const dims shape = in.types.empty() ? to : shape_from(in, 0);
    if (!in.types.empty() && (!shape.known_rank() || !in.value(0))) return {{type, shape}}; // the shape is known later
    for (int i = 0; i < shape.rank; ++i)
        if (shape[i] < 0 && (shape[i] != dyn || !in.types.empty())) throw invalid_argument("an extent is negative");
    if (!shape.complete()) throw invalid_argument("the shape " + to_string(shape) + " is not known");
    return {{type, shape}};
}

RILL_INLINE std::vector<tensor_type> normal_numbers::outputs(const known_inputs& in) const {
    if (!is_differentiable(type) || type == dtype::complex64 || type == dtype::complex128)
        throw invalid_argument("normal numbers of type " + std::string(to_string(type)));
    if (!std::isfinite(mean) || !std::isfinite(stddev) || stddev < 0)
        throw invalid_argument("mean and stddev must be finite, and stddev not negative");
    return numbers_type(in);
}

}}} // namespace rill::RILL_ABI::detail
#endif
