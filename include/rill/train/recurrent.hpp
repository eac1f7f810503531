// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/ops/array/reverse_sequence.hpp>
#include <rill/ops/control/scan.hpp>
#include <rill/train/cell_wrappers.hpp>

// Runs of cells over sequences: unrolled (static_rnn), by a scan (dynamic_rnn), in both directions (bidirectional_rnn).

namespace rill { inline namespace RILL_ABI {

/// The lengths [batch] of sequences: a tensor of int or std::int64_t, or host numbers. Without lengths all steps count.
class sequence_lengths {
public:
    sequence_lengths() = default;
    template <ids_argument L>
        requires(!host_integer<L>)
    sequence_lengths(const L& lengths, const std::source_location& where = std::source_location::current()) // NOLINT
        : of_(in_int64(detail::ids_operand(lengths, where), where)) {}
    template <host_integer I>
    sequence_lengths(std::initializer_list<I> lengths, // NOLINT
                     const std::source_location& where = std::source_location::current())
        : sequence_lengths(std::vector<I>(lengths), where) {}

    explicit operator bool() const { return bool(of_); }
    /// Returns the lengths as std::int64_t.
    const tensor<std::int64_t, dyn>& value() const { return of_; }

private:
    template <class L> static tensor<std::int64_t, dyn> in_int64(const L& lengths, const std::source_location& where) {
        if constexpr (typed_operand<L>) {
            static_assert(are_lengths<L>, "sequence lengths: a tensor [batch] of int or std::int64_t is expected");
            return tensor<std::int64_t, dyn>(any_tensor(sealed(cast<std::int64_t>(lengths))), where);
        } else {
            if (lengths.dtype() == dtype::int64) return tensor<std::int64_t, dyn>(lengths, where);
            return in_int64(tensor<std::int32_t, dyn>(lengths, where), where);
        }
    }

    tensor<std::int64_t, dyn> of_;
};

struct rnn_options {
    sequence_lengths lengths = {};
    bool time_major = false;  // sequences and outputs are [time, batch, ..] instead of [batch, time, ..]
    bool swap_memory = false; // keeps what the gradient needs in host memory, as while_options::swap_memory does
};

/// True if X holds sequences for a cell: [batch, time, inputs], or time before batch.
template <class E, index_t In>
inline constexpr bool are_cell_sequences =
    E::rank == 3 && rules::extents_compatible(rules::extent_along(static_dims<E>, 2), In);

namespace detail {

/// Returns the next state for a sequence that continues, [batch, 1], and the old state after its end.
template <class M, class N, class S> auto held_state(const M& present, const N& next, const S& before) {
    if constexpr (is_tuple<S>) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::make_tuple(held_state(present, std::get<I>(next), std::get<I>(before))...);
        }(std::make_index_sequence<std::tuple_size_v<S>>{});
    } else {
        static_assert(extents_of<S>::rank == 2,
                      "recurrent networks with lengths: each part of a state must be [batch, n]");
        return sealed(select(present, next, before));
    }
}

/// Runs one step of sequences that may have ended: the outputs after the end are 0.
template <class C, class X, class M, class S>
auto masked_step(const C& cell, const X& x, const M& present, const S& state, const std::source_location& where) {
    const auto [output, next] = cell(x, state, where);
    return std::tuple(held_state(present, next, state), sealed(select(present, output, 0)));
}

/// Runs a cell over sequences [time, batch, inputs], in either direction. Returns the stacked outputs and the last state.
template <class C, class X, class S>
auto scan_cell(const C& cell, const X& x, const S& initial, const rnn_options& options, bool reverse,
               const std::source_location& where) {
    const auto& lengths = options.lengths;
    const scan_options along{reverse, options.swap_memory};
    const auto result = [](const auto& scanned) { return std::tuple(std::get<1>(scanned), std::get<0>(scanned)); };
    const auto plain = [&] {
        return result(scan(
            [&](const auto& state, const auto& step) {
                const auto [output, next] = cell(step, state, where);
                return std::tuple(next, output);
            },
            initial, x, along, where));
    };
    using outputs = decltype(plain());
    if (!lengths) return plain();
    const auto ends = expand_dims<0>(checked_lengths<0, 1>(lengths.value(), x, where), where);
    const tensor present = expand_dims<1>(steps_along<0>(x, where), where) < ends; // [time, batch]
    return outputs(result(scan(
        [&](const auto& state, const auto& step) {
            const auto& [input, is_active] = step;
            return masked_step(cell, input, is_active, state, where);
        },
        initial, std::tuple(x, expand_dims<2>(present, where)), along, where)));
}

/// Returns sequences in either layout as [time, batch, inputs].
template <class C, graph_operand X> auto time_first(const X& x, bool time_major, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(are_cell_sequences<extents_of<X>, C::inputs>,
                      "recurrent networks: sequences must be [batch, time, inputs of the cell]");
        static_assert(std::is_same_v<value_type_of<X>, typename C::value_type>,
                      "recurrent networks: the element types of sequences and cell differ");
    }
    const tensor<typename C::value_type, dyn, dyn, C::inputs> all(any_tensor(sealed(x)), where);
    return time_major ? all : tensor(transpose<1, 0, 2>(all, where));
}

/// Returns outputs [time, batch, outputs] in the layout of the sequences x.
template <class C, graph_operand X, class Y>
auto ordered_as(const Y& y, bool time_major, const std::source_location& where) {
    using E = std::conditional_t<typed_operand<X>, extents_of<X>, extents<dyn, dyn, dyn>>;
    const any_tensor all = time_major ? any_tensor(y) : any_tensor(transpose<1, 0, 2>(y, where));
    return tensor<typename C::value_type, E::value[0], E::value[1], C::outputs>(unchecked, all);
}

/// Returns zeros for the batch of sequences [time, batch, inputs].
template <class C, class X> auto zeros_beside(const C& cell, const X& x, const std::source_location& where) {
    return cell.zero_state(extent_of<1>(x, where), where);
}

} // namespace detail

/// Runs a cell over sequences x [batch, time, inputs], step by step: dynamic_rnn(cell, x, initial, {.lengths = n}). Returns
/// std::tuple(outputs [batch, time, outputs], last state). After the end of a sequence its outputs are 0 and its state stays. So the last
/// state is the state at the end. The lengths are optional. The initial state is optional: zeros. Differentiable. Errors: a length below 0
/// or beyond the sequences.
template <class C, graph_operand X, class S>
    requires(!std::is_same_v<S, rnn_options>)
auto dynamic_rnn(const C& cell, const X& x, const S& initial, const rnn_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    const auto [outputs, state] =
        detail::scan_cell(cell, detail::time_first<C>(x, options.time_major, where), initial, options, false, where);
    return std::tuple(detail::ordered_as<C, X>(outputs, options.time_major, where), state);
}
template <class C, graph_operand X>
auto dynamic_rnn(const C& cell, const X& x, const rnn_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    const auto steps = detail::time_first<C>(x, options.time_major, where);
    const auto [outputs, state] =
        detail::scan_cell(cell, steps, detail::zeros_beside(cell, steps, where), options, false, where);
    return std::tuple(detail::ordered_as<C, X>(outputs, options.time_major, where), state);
}

/// Runs one cell forward from the first step, and another one backward from the end of each sequence: bidirectional_rnn(f, b, x, {.lengths
/// = n}). Returns std::tuple(std::tuple(outputs of f, outputs of b), std::tuple(last state of f, last state of b)). Both outputs of a step
/// are at the index of that step. `concat<2>` joins them.
template <class F, class B, graph_operand X>
auto bidirectional_rnn(const F& forward, const B& backward, const X& x, const rnn_options& options = {},
                       const std::source_location& where = std::source_location::current()) {
    const auto steps = detail::time_first<F>(x, options.time_major, where);
    const auto run = [&](const auto& cell, bool reverse) {
        return detail::scan_cell(cell, steps, detail::zeros_beside(cell, steps, where), options, reverse, where);
    };
    const auto [f, f_state] = run(forward, false);
    const auto [b, b_state] = run(backward, true);
    return std::tuple(std::tuple(detail::ordered_as<F, X>(f, options.time_major, where),
                                 detail::ordered_as<B, X>(b, options.time_major, where)),
                      std::tuple(f_state, b_state));
}

namespace detail {

/// Returns the steps of a list, an array or a tuple, as typed tensors in a vector.
template <class C, class Steps> auto listed_steps(const Steps& steps, const std::source_location& where) {
    std::vector<tensor<typename C::value_type, dyn, C::inputs>> all;
    const auto add = [&](const auto& x) {
        all.push_back(tensor<typename C::value_type, dyn, C::inputs>(any_tensor(sealed(x)), where));
    };
    if constexpr (is_tuple<Steps>)
        std::apply([&](const auto&... each) { (add(each), ...); }, steps);
    else
        for (const auto& each : steps) add(each);
    if (all.empty()) throw invalid_argument("static_rnn: there are no steps" + at_place(where));
    return all;
}

} // namespace detail

namespace detail {

/// Calls a cell for each of the listed steps, in either direction. Returns the outputs in the order of the steps, and the last state.
template <class C, class X, class S>
auto unrolled_cell(const C& cell, const std::vector<X>& all, const S& initial, const sequence_lengths& given,
                   bool reverse, const std::source_location& where) {
    const auto count = static_cast<index_t>(all.size());
    const auto checked = [&](const auto& of) {
        return tensor<std::int64_t, dyn>(apply_node(sequence_lengths_op{.steps = count}, where, any_tensor(of)));
    };
    tensor<std::int64_t, dyn> lengths;
    if (given) lengths = checked(given.value());
    const auto step = [&](std::size_t t, const auto& state) {
        const auto masked = [&](const auto& ends) {
            const tensor<bool, dyn, 1> present = expand_dims<1>(ends, where) > static_cast<std::int64_t>(t);
            return masked_step(cell, all[t], present, state, where);
        };
        if (given) return masked(lengths);
        using result = decltype(masked(lengths));
        const auto [output, next] = cell(all[t], state, where);
        return result(next, output);
    };
    const auto place = [&](std::size_t k) { return reverse ? all.size() - 1 - k : k; };
    auto [state, output] = step(place(0), initial);
    std::vector outputs(all.size(), output);
    for (std::size_t k = 1; k < all.size(); ++k) {
        const auto [next, y] = step(place(k), state);
        state = next;
        outputs[place(k)] = y;
    }
    return std::tuple(outputs, state);
}

/// Returns zeros for the batch of listed steps.
template <class C, class X>
auto zeros_beside_steps(const C& cell, const std::vector<X>& all, const std::source_location& where) {
    return cell.zero_state(extent_of<0>(all[0], where), where);
}

} // namespace detail

/// Adds a cell's nodes once for each step, over a tuple or a range of steps [batch, inputs]: static_rnn(cell, unstack<1>(x), initial,
/// {.lengths = n}). Returns std::tuple(std::vector of outputs [batch, outputs], last state). Lengths and initial state are those of
/// dynamic_rnn. dynamic_rnn has the same results and a smaller graph.
template <class C, class Steps, class S>
    requires(!std::is_same_v<S, rnn_options>)
auto static_rnn(const C& cell, const Steps& steps, const S& initial, const rnn_options& options = {},
                const std::source_location& where = std::source_location::current()) {
    return detail::unrolled_cell(cell, detail::listed_steps<C>(steps, where), initial, options.lengths, false, where);
}
template <class C, class Steps>
auto static_rnn(const C& cell, const Steps& steps, const rnn_options& options = {},
                const std::source_location& where = std::source_location::current()) {
    const auto all = detail::listed_steps<C>(steps, where);
    return detail::unrolled_cell(cell, all, detail::zeros_beside_steps(cell, all, where), options.lengths, false,
                                 where);
}

/// Runs two cells over listed steps: static_bidirectional_rnn(f, b, unstack<1>(x), {.lengths = n}). One runs forward from the first step.
/// The other runs backward from the end of each sequence. Each step has nodes of its own. Returns std::tuple(std::vector of the
/// concatenated outputs of both [batch, outputs of f + outputs of b], last state of f, last state of b).
template <class F, class B, class Steps>
auto static_bidirectional_rnn(const F& forward, const B& backward, const Steps& steps, const rnn_options& options = {},
                              const std::source_location& where = std::source_location::current()) {
    const auto all = detail::listed_steps<F>(steps, where);
    const auto run = [&](const auto& cell, bool reverse) {
        return detail::unrolled_cell(cell, all, detail::zeros_beside_steps(cell, all, where), options.lengths, reverse,
                                     where);
    };
    const auto [f, f_state] = run(forward, false);
    const auto [b, b_state] = run(backward, true);
    std::vector both{concat<1>(f[0], b[0], where)};
    for (std::size_t t = 1; t < all.size(); ++t) both.push_back(concat<1>(f[t], b[t], where));
    return std::tuple(both, f_state, b_state);
}

}} // namespace rill::RILL_ABI
