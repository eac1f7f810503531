// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_shuffle_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// The slices along the first axis in random order, drawn anew in each run.
struct random_shuffle_op {
    static constexpr auto name = "RandomShuffle";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "the order of a run is not known afterwards; shuffle ids, and gather by them";
    static constexpr bool stateful = true;
    std::uint64_t seed = 0;

    static void fields(auto& op, auto& visit) { visit("seed", op.seed); }
    constexpr shape_result shape(const dims& x) const {
        return {x, x.known_rank() && x.rank == 0 ? "there is no axis to shuffle along" : nullptr};
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dtype type = request.inputs[0].type;
        const detail::axis_view view(request.inputs[0].shape, 0);
        request.scratch_bytes = D::shuffle_scratch(view.extent);
        detail::count_runs(request);
        return kernel([=](const kernel_args& a) {
            D::shuffle(a.on, type, a.in<void>(0), a.out<void>(0), view.extent, view.inner, a.on.random);
        });
    }
};

template <class E> inline constexpr bool has_an_axis = E::rank >= 1;

/// Returns the rows of x in random order: random_shuffle(x, {.seed = 7}).
template <graph_operand X>
auto random_shuffle(const X& x, const random_shuffle_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(has_an_axis<extents_of<X>>, "random_shuffle: there is no axis to shuffle along");
    return apply_node(random_shuffle_op{options.seed}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI
