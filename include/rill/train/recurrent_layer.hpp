// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include <rill/ops/array/subscript.hpp>
#include <rill/train/recurrent.hpp>

namespace rill { inline namespace RILL_ABI {

/// The outputs that a recurrent layer returns: all steps, or the end of each sequence.
enum class recurrent_output { all, last };

namespace detail {

/// Returns the output at the end of each sequence, from outputs in either layout. It is zeros for a sequence without steps.
template <class C, class Y>
auto outputs_at_ends(const Y& outputs, const rnn_options& o, const std::source_location& where) {
    using T = typename C::value_type;
    const tensor<T, dyn, dyn, C::outputs> given(any_tensor(outputs), where);
    const auto y = o.time_major ? tensor(transpose<1, 0, 2>(given, where)) : given;
    const auto result = [](const auto& of) { return tensor<T, dyn, C::outputs>(unchecked, any_tensor(sealed(of))); };
    const auto at_ends = [&](const auto& lengths) {
        const auto steps = expand_dims<0>(steps_along<1>(y, where), where); // [1, time]
        const tensor is_last = equal(steps + std::int64_t{1}, expand_dims<1>(lengths, where));
        return result(rill::reduce_sum<1>(select(expand_dims<2>(is_last, where), y, 0), where));
    };
    return o.lengths ? at_ends(o.lengths.value()) : result(y(all, -1));
}

} // namespace detail

/// A layer that runs a new cell over sequences [batch, time, inputs], by dynamic_rnn. The cell has the layer's name:
/// recurrent<lstm_cell<28, 128>>({.lengths = n}, {.forget_bias = 0.5}). It returns the outputs [batch, time, outputs].
/// recurrent<lstm_cell<28, 128>, recurrent_output::last>() returns the output at the end of each sequence, [batch, outputs].
template <class Cell, recurrent_output Output>
struct recurrent_layer : detail::unnamed_layer<recurrent_layer<Cell, Output>> {
    using detail::unnamed_layer<recurrent_layer>::operator();
    static constexpr auto label = "recurrent";
    rnn_options sequences;
    typename Cell::options_type options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        const graph_scope here(detail::graph_of_operand(x));
        const Cell cell(name, options, where);
        const auto outputs = std::get<0>(dynamic_rnn(cell, x, sequences, where));
        if constexpr (Output == recurrent_output::all)
            return outputs;
        else
            return detail::outputs_at_ends<Cell>(outputs, sequences, where);
    }
};
template <class Cell, recurrent_output Output = recurrent_output::all>
recurrent_layer<Cell, Output> recurrent(const rnn_options& sequences = {},
                                        const typename Cell::options_type& options = {}) {
    return {{}, sequences, options};
}

}} // namespace rill::RILL_ABI
