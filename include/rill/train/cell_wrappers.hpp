// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/random/random_uniform_like.hpp>
#include <rill/train/cells.hpp>

namespace rill { inline namespace RILL_ABI {

/// A stack of cells: stacked_cells(lstm_cell<64, 128>("layer0"), lstm_cell<128, 128>("layer1")). The output of each cell is the input of
/// the next. The state is a tuple of the cells' states.
template <class... C> class stacked_cells : public detail::cell_states<stacked_cells<C...>> {
    using first = std::tuple_element_t<0, std::tuple<C...>>;
    using last = std::tuple_element_t<sizeof...(C) - 1, std::tuple<C...>>;

public:
    using value_type = typename first::value_type;
    static constexpr index_t inputs = first::inputs, outputs = last::outputs;

    explicit stacked_cells(C... cells) : cells_(std::move(cells)...) {}

    index_t input_size() const { return std::get<0>(cells_).input_size(); }
    index_t output_size() const { return std::get<sizeof...(C) - 1>(cells_).output_size(); }

    /// Returns the output of the last cell and the next states.
    template <graph_operand X, class... S>
    auto operator()(const X& x, const std::tuple<S...>& states,
                    const std::source_location& where = std::source_location::current()) const {
        static_assert(sizeof...(S) == sizeof...(C),
                      "stacked_cells: the state must be a tuple with a state for each cell");
        return from<0>(x, states, where);
    }
    /// Returns the states with f(h) in place of each h.
    template <class F, class... S> auto with_hidden(const F& f, const std::tuple<S...>& states) const {
        return [&]<std::size_t... I>(std::index_sequence<I...>) { // braces: f is called in order
            return std::tuple<decltype(std::get<I>(cells_).with_hidden(f, std::get<I>(states)))...>{
                std::get<I>(cells_).with_hidden(f, std::get<I>(states))...};
        }(std::make_index_sequence<sizeof...(C)>{});
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return std::apply([&](const auto&... cell) { return std::make_tuple(cell.zeros_of(batch, where)...); }, cells_);
    }

private:
    template <std::size_t I, class X, class States>
    auto from(const X& x, const States& states, const std::source_location& where) const {
        const auto [y, next] = std::get<I>(cells_)(x, std::get<I>(states), where);
        if constexpr (I + 1 == sizeof...(C)) {
            return std::pair(y, std::make_tuple(next));
        } else {
            const auto [output, rest] = from<I + 1>(y, states, where);
            return std::pair(output, std::tuple_cat(std::make_tuple(next), rest));
        }
    }

    std::tuple<C...> cells_;
};

struct dropout_cell_options {
    double input_rate = 0, output_rate = 0, state_rate = 0; // shares that are dropped, in [0, 1)
    bool variational = false; // one draw for all steps and examples of a run, instead of one for each
    any_tensor training = {}; // a bool of rank 0; false: no dropout
    std::uint64_t seed = 0;   // 0: derived from the graph's seed and the nodes' names
};

/// A cell with dropout: dropout_cell(cell, {.output_rate = 0.5}) drops elements of the input, the output and the state of a cell. Of an
/// lstm_cell's state it drops h and keeps c, as TensorFlow does (whose keep_prob is 1 - rate).
template <class C> class dropout_cell : public detail::cell_states<dropout_cell<C>> {
public:
    using value_type = typename C::value_type;
    static constexpr index_t inputs = C::inputs, outputs = C::outputs;

    explicit dropout_cell(C cell, const dropout_cell_options& o = {},
                          const std::source_location& where = std::source_location::current())
        : cell_(std::move(cell)), options_(o) {
        for (const double rate : {o.input_rate, o.output_rate, o.state_rate}) detail::check_rate(rate, where);
        if (options_.training) options_.training = tensor<bool>(options_.training, where);
        if (!o.variational) return;
        const auto draw = [&](index_t n, std::uint64_t part) {
            return any_tensor(random_uniform_like(tensor<value_type, 1, dyn>(zeros<value_type>(dims{1, n}, where)),
                                                  {seed_of(part)}, where));
        };
        if (o.input_rate > 0) input_noise_ = draw(input_size(), 0);
        if (o.output_rate > 0) output_noise_ = draw(output_size(), 1);
        if (o.state_rate > 0)
            cell_.with_hidden(
                [&](const auto& h) {
                    state_noise_.push_back(draw(type_of(h.end()).shape[1], 2 + state_noise_.size()));
                    return h;
                },
                cell_.template zero_state<1>(where));
    }

    index_t input_size() const { return cell_.input_size(); }
    index_t output_size() const { return cell_.output_size(); }

    /// Returns the output and the next state.
    template <graph_operand X, class S>
    auto operator()(const X& x, const S& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<value_type, inputs>(x, where);
        const auto [output, next] = cell_(dropped(in, options_.input_rate, input_noise_, 0, where), state, where);
        std::size_t part = 0;
        const auto kept = cell_.with_hidden(
            [&](const auto& h) {
                const std::size_t at = part++;
                return dropped(h, options_.state_rate, at < state_noise_.size() ? state_noise_[at] : any_tensor(),
                               2 + at, where);
            },
            next);
        return std::pair(dropped(output, options_.output_rate, output_noise_, 1, where), kept);
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class S> auto with_hidden(const F& f, const S& state) const {
        return cell_.with_hidden(f, state);
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return cell_.zeros_of(batch, where);
    }

private:
    std::uint64_t seed_of(std::uint64_t part) const { return options_.seed == 0 ? 0 : options_.seed + part; }

    /// Returns x with dropped elements. The noise [1, n] selects them if there is one, else a draw of this call.
    template <typed_operand X>
    auto dropped(const X& x, double rate, const any_tensor& noise, std::uint64_t part,
                 const std::source_location& where) const {
        using result = tensor_of<value_type, extents_of<X>>;
        const auto all = result(detail::unchecked, any_tensor(sealed(x)));
        if (rate == 0) return all;
        const auto kept_by = [&](const auto& drawn) {
            return result(detail::unchecked, any_tensor(sealed(select(drawn >= rate, all / (1 - rate), 0))));
        };
        const result kept = noise ? kept_by(tensor<value_type, 1, dyn>(detail::unchecked, noise))
                                  : kept_by(random_uniform_like(all, {seed_of(part)}, where));
        if (!options_.training) return kept;
        return result(detail::unchecked,
                      any_tensor(sealed(select(tensor<bool>(detail::unchecked, options_.training), kept, all))));
    }

    C cell_;
    dropout_cell_options options_;
    any_tensor input_noise_, output_noise_;
    std::vector<any_tensor> state_noise_;
};

namespace detail {

/// Throws invalid_argument if the widths of a cell's inputs and outputs differ.
inline void check_residual(index_t inputs, index_t outputs, const std::source_location& where) {
    if (inputs != outputs)
        throw invalid_argument("residual_cell: the cell has " + std::to_string(inputs) + " inputs and " +
                               std::to_string(outputs) + " outputs; they must be as wide" + at_place(where));
}

} // namespace detail

/// A cell with a residual connection: residual_cell(cell) adds its input to the output of a cell. Errors: outputs whose width differs from
/// the inputs'.
template <class C> class residual_cell : public detail::cell_states<residual_cell<C>> {
public:
    using value_type = typename C::value_type;
    static constexpr index_t inputs = C::inputs, outputs = C::outputs;
    static_assert(rules::extents_compatible(inputs, outputs),
                  "residual_cell: the cell's outputs must be as wide as its inputs");

    explicit residual_cell(C cell, const std::source_location& where = std::source_location::current())
        : cell_(std::move(cell)) {
        detail::check_residual(input_size(), output_size(), where);
    }

    index_t input_size() const { return cell_.input_size(); }
    index_t output_size() const { return cell_.output_size(); }

    /// Returns the output and the next state.
    template <graph_operand X, class S>
    auto operator()(const X& x, const S& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<value_type, inputs>(x, where);
        const auto [output, next] = cell_(in, state, where);
        return std::pair(sealed(in + output), next);
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class S> auto with_hidden(const F& f, const S& state) const {
        return cell_.with_hidden(f, state);
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return cell_.zeros_of(batch, where);
    }

private:
    C cell_;
};

/// A cell whose nodes, including those of its zero_state, are on a device: device_cell(cell, "/cpu:1"). Variables stay where they were
/// made.
template <class C> class device_cell : public detail::cell_states<device_cell<C>> {
public:
    using value_type = typename C::value_type;
    static constexpr index_t inputs = C::inputs, outputs = C::outputs;

    explicit device_cell(C cell, std::string device) : cell_(std::move(cell)), device_(std::move(device)) {}

    index_t input_size() const { return cell_.input_size(); }
    index_t output_size() const { return cell_.output_size(); }

    /// Returns the output and the next state.
    template <graph_operand X, class S>
    auto operator()(const X& x, const S& state,
                    const std::source_location& where = std::source_location::current()) const {
        const device_scope on(device_, where);
        return cell_(x, state, where);
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class S> auto with_hidden(const F& f, const S& state) const {
        return cell_.with_hidden(f, state);
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        const device_scope on(device_, where);
        return cell_.zeros_of(batch, where);
    }

private:
    C cell_;
    std::string device_;
};

/// A cell whose output goes through a layer: output kernel + bias, [batch, Out], then the activation. The state is the inner cell's. See
/// projection_cell.
template <index_t Out, class C, class A> class projected_cell : public detail::cell_states<projected_cell<Out, C, A>> {
public:
    using value_type = typename C::value_type;
    static constexpr index_t inputs = C::inputs, outputs = Out;

    explicit projected_cell(const std::string& name, C cell, const A& activation, const cell_options& o = {},
                            const std::source_location& where = std::source_location::current())
        : projected_cell(variable_scope(name), std::move(cell), activation, o, where) {}

    index_t input_size() const { return cell_.input_size(); }
    index_t output_size() const { return Out; }

    /// Returns the output and the next state.
    template <graph_operand X, class S>
    auto operator()(const X& x, const S& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto [output, next] = cell_(x, state, where);
        return std::pair(sealed(activation_(matmul(output, kernel, where) + bias)), next);
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class S> auto with_hidden(const F& f, const S& state) const {
        return cell_.with_hidden(f, state);
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return cell_.zeros_of(batch, where);
    }

private:
    projected_cell(const variable_scope&, C cell, const A& activation, const cell_options& o,
                   const std::source_location& where)
        : cell_(std::move(cell)), activation_(activation),
          kernel(detail::cell_kernel<value_type, C::outputs, Out>("kernel", {cell_.output_size(), Out},
                                                                  o.kernel_initializer, where)),
          bias(detail::cell_variable<value_type, Out>("bias", {Out}, o.bias_initializer, 0, where)) {}

    C cell_;
    A activation_;

public:
    variable<value_type, C::outputs, Out> kernel;
    variable<value_type, Out> bias;
};
/// Returns a cell whose outputs go through a layer of Out units: projection_cell<10>("projection", cell). This is TensorFlow's
/// OutputProjectionWrapper. Variables: kernel [outputs of the cell, Out], bias [Out].
template <index_t Out, class C, class A = std::remove_const_t<decltype(activation::linear)>>
auto projection_cell(const std::string& name, const C& cell, const A& activation = {}, const cell_options& options = {},
                     const std::source_location& where = std::source_location::current()) {
    return projected_cell<Out, C, A>(name, cell, activation, options, where);
}

}} // namespace rill::RILL_ABI
