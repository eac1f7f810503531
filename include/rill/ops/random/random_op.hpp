// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/node_op.hpp>

// What random ops share: a shape, a seed, and a stream that each run in a session takes one step further.

namespace rill::inline RILL_ABI {

/// Every extent of a random tensor is known.
template <index_t... D> inline constexpr bool random_extents_known = extents<D...>::value.complete();

namespace detail {

std::vector<tensor_type> random_outputs(dtype type, const dims& shape);

/// What random_normal and truncated_normal share.
struct normal_numbers {
    dtype type = dtype::float32;
    dims to;
    double mean = 0, stddev = 1;
    std::uint64_t seed = 0;

    template <class V> void attributes(V& v) const {
        v("dtype", type);
        v("shape", to);
        v("mean", mean);
        v("stddev", stddev);
        v("seed", seed);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    friend bool operator==(const normal_numbers&, const normal_numbers&) = default;
};

/// A kernel that calls draw(stream, memory): the stream of the next run.
template <class T, class Draw> kernel random_kernel(const kernel_request& request, Draw draw) {
    auto runs = request.counter ? request.counter() : std::make_shared<std::atomic<std::uint64_t>>(0);
    return kernel([runs = std::move(runs), seed = request.seed, draw](const kernel_args& a) {
        draw(random_stream{seed, runs->fetch_add(1, std::memory_order_relaxed)}, a.out<T>(0));
    });
}

/// Adds a random op to the current graph.
template <class Op> endpoint add_random(Op op, const std::source_location& where) {
    return {add_node(current_graph(), make_op(std::move(op)), {}, {}, false, where), 0};
}

template <class T, index_t... D> tensor<T, D...> random_tensor(const endpoint& e) { return {unchecked, any_tensor(e)}; }

} // namespace detail

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/random/random_op.ipp>
#endif
