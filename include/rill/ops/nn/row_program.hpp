// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

// What the gradients of softmax and of cross-entropies are made of: elementwise programs over rows, beside numbers that
// belong to a row each, built when the types are known at run time only.

namespace rill::inline RILL_ABI::detail {

/// An operand of a row program: elements of rows [..., n], or one number for each row [...].
struct row_operand {
    endpoint from;
    bool per_row = false;
};
inline row_operand each_row(const endpoint& e) { return {e, true}; }

/// A fused node that runs build(tracer) over its operands (leaves 0, 1, …), and maybe sums each row.
endpoint row_program(const std::vector<row_operand>& operands, bool sum_rows, int (*build)(tracer& t));

/// Shorthands for instructions on leaves of one type.
int row_op(tracer& t, std::string_view op, std::vector<int> args);

/// a * b
endpoint row_product(const row_operand& a, const row_operand& b);
/// The sum of a * b over each row.
endpoint row_dot(const endpoint& a, const endpoint& b);
endpoint row_sum(const endpoint& a);
/// The sum of two gradients, either of which may be missing.
endpoint sum_of(const endpoint& a, const endpoint& b);

/// The kernels that such programs and their derivatives need.
template <class T> void require_row_programs() {
    require_fused();
    require_primitive<mul_op, T, T>();
    require_primitive<add_op, T, T>();
    require_primitive<sub_op, T, T>();
    require_primitive<neg_op, T>();
    require_combiner<combine::sum, T>();
}

/// Calls f with the operand's element type, or with those that stand for unknown ones.
template <class X, class F> void for_floating_types_of(F f) {
    if constexpr (!typed_operand<X>) {
        f(std::type_identity<float>{});
        f(std::type_identity<double>{});
    } else if constexpr (is_real_floating<value_type_of<X>>) {
        f(std::type_identity<value_type_of<X>>{});
    }
}

/// A matrix of rows: all axes but the last one count them.
struct row_view {
    index_t rows = 1, columns = 1;

    explicit row_view(const dims& shape);
};

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/ops/nn/row_program.ipp>
#endif
