// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/math/argmax.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/random/random_uniform_like.hpp>

namespace rill { inline namespace RILL_ABI {

struct multinomial_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// A row of logits for each draw: [batch, classes], and there are classes.
template <class E> inline constexpr bool are_rows_of_logits = E::rank == 2 && rules::extent_along(E::value, 1) != 0;

namespace detail {

template <class X> void check_logits(const X& logits, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(are_rows_of_logits<extents_of<X>>, "multinomial: logits of [batch, classes] are expected");
        static_assert(is_real_floating<value_type_of<X>>, "multinomial: the logits must be floating");
    }
    require_rank("multinomial", logits, 2, where);
}

/// The largest once noise is added: [batch, draws, classes], beside which the logits may stretch.
template <class X, class U> auto drawn_classes(const X& logits, const U& uniform, const std::source_location& where) {
    return argmax<2, std::int64_t>(logits - log(-log(uniform)), where);
}

/// Numbers of the logits' type, of a shape that a tensor says.
template <class X, class S>
auto uniform_beside(const X& logits, const S& shape, const multinomial_options& options,
                    const std::source_location& where) {
    if constexpr (typed_operand<X>)
        return random_uniform<value_type_of<X>>(shape, {.seed = options.seed}, where);
    else
        return random_uniform(logits.dtype(), shape, {.seed = options.seed}, where);
}

} // namespace detail

/// multinomial<5>(logits): for each row of [batch, classes] 5 classes in int64, drawn anew in each run, class k with a probability
/// proportional to e^logit[k] (as the largest logit after noise of Gumbel's distribution). Shape: [batch, 5]. No gradient flows.
template <index_t Draws, graph_operand X>
auto multinomial(const X& logits, const multinomial_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    static_assert(Draws >= 0, "multinomial: the number of draws is negative");
    detail::check_logits(logits, where);
    const auto each = broadcast_to<dyn, Draws, dyn>(expand_dims<1>(logits, where), where);
    return detail::drawn_classes(each, random_uniform_like(each, {options.seed}, where), where);
}
/// A number of draws known at run time only.
template <graph_operand X>
any_tensor multinomial(const X& logits, index_t draws, const multinomial_options& options = {},
                       const std::source_location& where = std::source_location::current()) {
    detail::check_logits(logits, where);
    if (draws < 0) throw invalid_argument("multinomial: the number of draws is negative" + detail::at_place(where));
    const auto each = broadcast_to(expand_dims<1>(logits, where), dims{dyn, draws, dyn}, where);
    return detail::drawn_classes(each, random_uniform_like(each, {options.seed}, where), where);
}
/// As many as a tensor of rank 0 says: multinomial(logits, size(x)).
template <graph_operand X, typed_operand N>
auto multinomial(const X& logits, const N& draws, const multinomial_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    static_assert(extents_of<N>::rank == 0 && is_index_type<value_type_of<N>>,
                  "multinomial: the number of draws must be of rank 0, and of int or std::int64_t");
    detail::check_logits(logits, where);
    using I = value_type_of<N>;
    const auto rows = shape<I>(logits, where);
    const auto all = concat<0>(slice<1>(rows, {0}, where), expand_dims<0>(draws, where), slice<1>(rows, {1}, where));
    return detail::drawn_classes(expand_dims<1>(logits, where), detail::uniform_beside(logits, all, options, where),
                                 where);
}

}} // namespace rill::RILL_ABI
