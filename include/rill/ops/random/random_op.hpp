// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/node_op.hpp>
#include <rill/ops/random/random_counter.hpp>

// What random ops share: a shape, a seed, and a stream that each run in a session takes one step further.

namespace rill { inline namespace RILL_ABI {

/// Every extent of a random tensor is known.
template <index_t... D> inline constexpr bool random_extents_known = extents<D...>::value.complete();

namespace detail {

std::vector<tensor_type> random_outputs(dtype type, const dims& shape);

/// What random_normal and truncated_normal share.
struct normal_numbers {
    static constexpr int inputs = 0;
    dtype type = dtype::float32;
    dims to;
    double mean = 0, stddev = 1;
    std::uint64_t seed = 0;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type);
        visit("shape", op.to);
        visit("mean", op.mean);
        visit("stddev", op.stddev);
        visit("seed", op.seed);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
};

/// A kernel that calls draw(stream, memory): the stream of the next run.
template <class T, class Draw> kernel random_kernel(const kernel_request& request, Draw draw) {
    return kernel([counter = random_counter_of(request), seed = request.seed, draw](const kernel_args& a) {
        draw(counter->next(seed), a.out<T>(0));
    });
}

/// Adds a random op to the current graph.
template <class T, index_t... D, class Op>
tensor<T, D...> random_tensor(const Op& op, const std::source_location& where) {
    require_kernel_for<Op, T>();
    return {unchecked, any_tensor(add_op_node(make_op(op), 0, where))};
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> random_outputs(dtype type, const dims& shape) {
    if (!shape.complete()) throw invalid_argument("the shape " + to_string(shape) + " is not known");
    for (int i = 0; i < shape.rank; ++i)
        if (shape[i] < 0) throw invalid_argument("an extent is negative");
    return {{type, shape}};
}

RILL_INLINE std::vector<tensor_type> normal_numbers::outputs(std::span<const tensor_type>) const {
    if (!is_differentiable(type) || type == dtype::complex64 || type == dtype::complex128)
        throw invalid_argument("normal numbers of type " + std::string(to_string(type)));
    if (!std::isfinite(mean) || !std::isfinite(stddev) || stddev < 0)
        throw invalid_argument("mean and stddev must be finite, and stddev not negative");
    return random_outputs(type, to);
}

}}} // namespace rill::RILL_ABI::detail
#endif
