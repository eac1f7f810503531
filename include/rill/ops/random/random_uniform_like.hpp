// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>
#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_uniform_like_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// A number in [0, 1) for each element of x, drawn anew in each run as random_uniform does. The values of x don't matter.
struct random_uniform_like_op {
    static constexpr auto name = "RandomUniformLike";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr auto no_gradient = ""; // the values of x don't matter
    static constexpr bool stateful = true;
    std::uint64_t seed = 0;

    static void fields(auto& op, auto& visit) { visit("seed", op.seed); }
    constexpr shape_result shape(const dims& x) const { return {x}; }
    static input_list shape_only_inputs() { return {0}; }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(request,
                                        [n = request.inputs[0].shape.size()](const execution_context& on, T* values) {
                                            D::random_uniform(on, n, on.random, 0, 1, values);
                                        });
    }
};

/// Returns uniform numbers with the shape that x has in a run: random_uniform_like(x, {.seed = 7}).
template <graph_operand X>
auto random_uniform_like(const X& x, const random_uniform_like_options& options = {},
                         const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<random_uniform_like_op, value_type_of<X>>,
                      "random_uniform_like: the element type must be floating");
    return apply_node(random_uniform_like_op{options.seed}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI
