// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/ops/array/indices.hpp>
#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct random_shuffle_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

namespace detail {

/// A permutation of n places, every one as likely as another; drawn anew from the stream of each run.
vector<index_t> shuffled_places(index_t n, const random_stream& stream);

} // namespace detail

/// The slices along the first axis in another order, drawn anew in each run.
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
        return kernel([=, counter = detail::random_counter_of(request), seed = request.seed,
                       bytes = static_cast<index_t>(size_of(type))](const kernel_args& a) {
            const auto places = detail::shuffled_places(view.extent, counter->next(seed));
            const auto* from = a.in<char>(0);
            auto* to = a.out<char>(0);
            const index_t step = view.inner * bytes;
            for (const index_t place : places) {
                D::copy(type, from + place * step, to, view.inner);
                to += step;
            }
        });
    }
};

template <class E> inline constexpr bool has_an_axis = E::rank >= 1;

/// random_shuffle(x, {.seed = 7}): rows in another order.
template <graph_operand X>
auto random_shuffle(const X& x, const random_shuffle_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(has_an_axis<extents_of<X>>, "random_shuffle: there is no axis to shuffle along");
    return apply_node(random_shuffle_op{options.seed}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE vector<index_t> shuffled_places(index_t n, const random_stream& stream) {
    vector<index_t> places;
    for (index_t i = 0; i < n; ++i) places.push_back(i);
    for (index_t i = n - 1; i > 0; --i) {
        const auto word = stream.block(static_cast<std::uint64_t>(i));
        const auto bits = word[0] | static_cast<std::uint64_t>(word[1]) << 32;
        // of 2^64 values; i is far below that, so what the remainder prefers can't be seen
        std::swap(places[static_cast<std::size_t>(i)],
                  places[static_cast<std::size_t>(bits % static_cast<std::uint64_t>(i + 1))]);
    }
    return places;
}

}}} // namespace rill::RILL_ABI::detail
#endif
