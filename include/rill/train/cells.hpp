// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <rill/ops/array/split.hpp>
#include <rill/ops/array/zeros.hpp>
#include <rill/ops/nn/clip.hpp>
#include <rill/train/layers.hpp>

// Cells of recurrent networks: objects with variables, called with an input [batch, inputs] and a state. They return the output [batch,
// outputs] and the next state. train/recurrent.hpp runs them over sequences. train/cell_wrappers.hpp combines them. Variables have
// TensorFlow's names and layout, so that its checkpoints can be restored.

namespace rill { inline namespace RILL_ABI {

struct cell_options {
    any_initializer kernel_initializer = {}; // none: the scope's, or glorot_uniform
    any_initializer bias_initializer = {};   // none: zeros; ones for the gates of a gru_cell
};

struct lstm_options {
    double forget_bias = 1; // added to the forget gate
    bool peepholes = false; // gates see the cell state, by w_f_diag, w_i_diag and w_o_diag
    double cell_clip = 0;   // bounds the cell state to [-cell_clip, cell_clip]; 0: no bounds
    double projection_clip = 0;
    any_initializer kernel_initializer = {};
    any_initializer bias_initializer = {};
};

/// True if E is an input of a cell: [batch, Inputs].
template <class E, index_t In>
inline constexpr bool is_cell_input = E::rank == 2 && rules::extents_compatible(rules::extent_along(static_dims<E>, 1), In);

namespace detail {

constexpr index_t sum_of_extents(index_t a, index_t b) { return a == dyn || b == dyn ? dyn : a + b; }
constexpr index_t times_extent(index_t count, index_t n) { return n == dyn ? dyn : count * n; }

/// Returns zeros [batch, units]. The batch is a number, a std::integral_constant, or a tensor of rank 0.
template <class T, index_t Units, class B>
auto zero_rows(index_t units, const B& batch, const std::source_location& where) {
    if constexpr (!extent_argument<B>)
        return tensor<T, B::value, Units>(unchecked, zeros<T>(dims{B::value, units}, where));
    else if constexpr (Units == dyn)
        return zeros<T, dyn, dyn>(batch, units, where);
    else
        return zeros<T, dyn, Units>(batch, where);
}

/// Base of the cells: the forms of zero_state.
template <class Cell> class cell_states {
public:
    /// Returns zeros for a batch whose size is known at compile time: zero_state<32>().
    template <index_t Batch>
    auto zero_state(const std::source_location& where = std::source_location::current()) const {
        static_assert(Batch >= 0, "zero_state: the size of the batch is negative");
        return self().zeros_of(std::integral_constant<index_t, Batch>{}, where);
    }
    /// Returns zeros for a batch size that is a number or a tensor of rank 0, such as shape(x)(0): zero_state(batch).
    template <class B>
        requires(host_integer<B> || typed_operand<B>)
    auto zero_state(const B& batch, const std::source_location& where = std::source_location::current()) const {
        return self().zeros_of(batch, where);
    }

private:
    const Cell& self() const { return static_cast<const Cell&>(*this); }
};

/// Returns the input of a cell as a typed tensor.
template <class T, index_t In, graph_operand X> auto cell_input(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(is_cell_input<extents_of<X>, In>, "cell: the input must be [batch, inputs]");
        static_assert(std::is_same_v<value_type_of<X>, T>, "cell: the element types of input and cell differ");
        return sealed(x);
    } else {
        return tensor<T, dyn, In>(x, where);
    }
}

/// Returns a variable of a cell from the open variable_scope, by get_variable.
template <class T, index_t... D>
variable<T, D...> cell_variable(const char* name, const dims& shape, const any_initializer& first, double otherwise,
                                const std::source_location& where) {
    const any_initializer chosen = first ? first : any_initializer(otherwise);
    return get_variable<T, D...>(name, shape, layer_initializer{chosen}, {}, where);
}
/// Returns the kernel of a cell. Without an initializer it gets the scope's.
template <class T, index_t... D>
variable<T, D...> cell_kernel(const char* name, const dims& shape, const any_initializer& first,
                              const std::source_location& where) {
    return get_variable<T, D...>(name, shape, layer_initializer{first}, {}, where);
}

/// Calls f in a variable_scope.
template <class F> auto in_variable_scope(const char* name, const F& f) {
    const variable_scope scope(name);
    return f();
}

/// Clips x to [-most, most]; returns x itself if most is 0.
template <class X> auto clipped(const X& x, double most) {
    using T = value_type_of<X>;
    const auto all = sealed(x);
    return most > 0 ? sealed(clip(all, static_cast<T>(-most), static_cast<T>(most))) : all;
}

} // namespace detail

/// A basic recurrent cell: rnn_cell<64, 128> cell("rnn"). h' = tanh([x, h] kernel + bias), which is also the output. The state is h [batch,
/// units]. rnn_cell<dyn, dyn>("rnn", inputs, units) has sizes that are known only at run time. Variables: kernel [inputs + units, units],
/// bias [units].
template <index_t In, index_t Units, class T = float, class A = std::remove_const_t<decltype(activation::tanh)>>
class rnn_cell : public detail::cell_states<rnn_cell<In, Units, T, A>> {
public:
    using value_type = T;
    using options_type = cell_options;
    static constexpr index_t inputs = In, outputs = Units;

    explicit rnn_cell(const std::string& name, const cell_options& o = {},
                      const std::source_location& where = std::source_location::current())
        requires(In != dyn && Units != dyn)
        : rnn_cell(variable_scope(name), In, Units, o, where) {}
    rnn_cell(const std::string& name, index_t in, index_t units, const cell_options& o = {},
             const std::source_location& where = std::source_location::current())
        : rnn_cell(variable_scope(name), in, units, o, where) {}

    index_t input_size() const { return kernel.static_shape()[0] - output_size(); }
    index_t output_size() const { return bias.static_shape()[0]; }

    /// Returns the output and the next state.
    template <graph_operand X, typed_operand S>
    auto operator()(const X& x, const S& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<T, In>(x, where);
        const tensor next = A()(matmul(concat<1>(in, state, where), kernel, where) + bias);
        return std::pair(next, next);
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class S> static auto with_hidden(const F& f, const S& state) { return f(state); }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return detail::zero_rows<T, Units>(output_size(), batch, where);
    }

    variable<T, detail::sum_of_extents(In, Units), Units> kernel;
    variable<T, Units> bias;

private:
    rnn_cell(const variable_scope&, index_t in, index_t units, const cell_options& o, const std::source_location& where)
        : kernel(detail::cell_kernel<T, detail::sum_of_extents(In, Units), Units>("kernel", {in + units, units},
                                                                                  o.kernel_initializer, where)),
          bias(detail::cell_variable<T, Units>("bias", {units}, o.bias_initializer, 0, where)) {}
};

/// A long short-term memory cell: lstm_cell<64, 128> cell("lstm"). The state is std::tuple(c, h) of [batch, units] each. The gates i, j, f,
/// o are the parts of [x, h] kernel + bias:
///     c' = c sigmoid(f + forget_bias) + sigmoid(i) tanh(j),   h' = tanh(c') sigmoid(o), which is also the output.
/// With a Projection P > 0, h' is multiplied by projection_kernel and is [batch, P]. lstm_cell<dyn, dyn>("lstm", inputs, units) has sizes
/// that are known only at run time. Variables: kernel [inputs + units or P, 4 units], bias [4 units], projection/kernel [units, P]; with
/// peepholes w_f_diag, w_i_diag and w_o_diag [units].
template <index_t In, index_t Units, class T = float, index_t Projection = 0>
class lstm_cell : public detail::cell_states<lstm_cell<In, Units, T, Projection>> {
    static constexpr bool projects = Projection > 0;
    static constexpr index_t hidden = projects ? Projection : Units, rows = detail::sum_of_extents(In, hidden),
                             gates = detail::times_extent(4, Units);

public:
    using value_type = T;
    using options_type = lstm_options;
    static constexpr index_t inputs = In, outputs = hidden;

    explicit lstm_cell(const std::string& name, const lstm_options& o = {},
                       const std::source_location& where = std::source_location::current())
        requires(In != dyn && Units != dyn)
        : lstm_cell(variable_scope(name), In, Units, o, where) {}
    lstm_cell(const std::string& name, index_t in, index_t units, const lstm_options& o = {},
              const std::source_location& where = std::source_location::current())
        : lstm_cell(variable_scope(name), in, units, o, where) {}

    index_t input_size() const { return kernel.static_shape()[0] - output_size(); }
    index_t output_size() const { return projects ? Projection : units(); }
    index_t units() const { return bias.static_shape()[0] / 4; }

    /// Returns the output and the next state.
    template <graph_operand X, typed_operand C, typed_operand H>
    auto operator()(const X& x, const std::tuple<C, H>& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<T, In>(x, where);
        const auto c = sealed(std::get<0>(state));
        const auto all = split<1, 4>(matmul(concat<1>(in, std::get<1>(state), where), kernel, where) + bias, where);
        const auto j = std::get<1>(all);
        using gate = decltype(sealed(j + c));
        const auto seen = [&](const auto& of, const tensor<T, Units>& w, const auto& cell_state) {
            return gate(detail::unchecked,
                        options_.peepholes ? any_tensor(sealed(of + w * cell_state)) : any_tensor(of));
        };
        const auto i = seen(std::get<0>(all), input_peephole, c);
        const auto f = seen(std::get<2>(all), forget_peephole, c);
        const auto next_c =
            detail::clipped(c * sigmoid(f + options_.forget_bias) + sigmoid(i) * tanh(j), options_.cell_clip);
        const auto o = seen(std::get<3>(all), output_peephole, next_c);
        const tensor next_h = tanh(next_c) * sigmoid(o);
        if constexpr (projects) {
            const auto shown = detail::clipped(matmul(next_h, projection_kernel, where), options_.projection_clip);
            return std::pair(shown, std::tuple(next_c, shown));
        } else {
            return std::pair(next_h, std::tuple(next_c, next_h));
        }
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class C, class H> static auto with_hidden(const F& f, const std::tuple<C, H>& state) {
        return std::tuple(std::get<0>(state), f(std::get<1>(state)));
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return std::tuple(detail::zero_rows<T, Units>(units(), batch, where),
                          detail::zero_rows<T, hidden>(output_size(), batch, where));
    }

    variable<T, rows, gates> kernel;
    variable<T, gates> bias;
    tensor<T, Units> forget_peephole, input_peephole, output_peephole; // null without peepholes
    tensor<T, Units, hidden> projection_kernel;                        // null without a projection

private:
    lstm_cell(const variable_scope&, index_t in, index_t units, const lstm_options& o,
              const std::source_location& where)
        : kernel(detail::cell_kernel<T, rows, gates>("kernel", {in + (projects ? Projection : units), 4 * units},
                                                     o.kernel_initializer, where)),
          bias(detail::cell_variable<T, gates>("bias", {4 * units}, o.bias_initializer, 0, where)), options_(o) {
        if (o.peepholes) {
            const auto diagonal = [&](const char* name) {
                return detail::cell_kernel<T, Units>(name, {units}, o.kernel_initializer, where);
            };
            forget_peephole = diagonal("w_f_diag");
            input_peephole = diagonal("w_i_diag");
            output_peephole = diagonal("w_o_diag");
        }
        if constexpr (projects) {
            projection_kernel = detail::in_variable_scope("projection", [&] {
                return detail::cell_kernel<T, Units, hidden>("kernel", {units, Projection}, o.kernel_initializer,
                                                             where);
            });
        }
    }

    lstm_options options_;
};

/// A gated recurrent unit: gru_cell<64, 128> cell("gru"). The gates are r, u = sigmoid([x, h] gates/kernel + gates/bias),
///     h' = u h + (1 - u) tanh([x, r h] candidate/kernel + candidate/bias), which is also the output. The state is h [batch, units].
/// gru_cell<dyn, dyn>("gru", inputs, units) has sizes that are known only at run time.
template <index_t In, index_t Units, class T = float>
class gru_cell : public detail::cell_states<gru_cell<In, Units, T>> {
    static constexpr index_t rows = detail::sum_of_extents(In, Units), gates = detail::times_extent(2, Units);

public:
    using value_type = T;
    using options_type = cell_options;
    static constexpr index_t inputs = In, outputs = Units;

    explicit gru_cell(const std::string& name, const cell_options& o = {},
                      const std::source_location& where = std::source_location::current())
        requires(In != dyn && Units != dyn)
        : gru_cell(variable_scope(name), In, Units, o, where) {}
    gru_cell(const std::string& name, index_t in, index_t units, const cell_options& o = {},
             const std::source_location& where = std::source_location::current())
        : gru_cell(variable_scope(name), in, units, o, where) {}

    index_t input_size() const { return gates_kernel.static_shape()[0] - output_size(); }
    index_t output_size() const { return candidate_bias.static_shape()[0]; }

    /// Returns the output and the next state.
    template <graph_operand X, typed_operand S>
    auto operator()(const X& x, const S& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<T, In>(x, where);
        const auto h = sealed(state);
        const auto [r, u] =
            split<1, 2>(sigmoid(matmul(concat<1>(in, h, where), gates_kernel, where) + gates_bias), where);
        const auto shown = concat<1>(in, sealed(r * h), where);
        const tensor candidate = tanh(matmul(shown, candidate_kernel, where) + candidate_bias);
        const tensor next = u * h + (1 - u) * candidate;
        return std::pair(next, next);
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class S> static auto with_hidden(const F& f, const S& state) { return f(state); }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return detail::zero_rows<T, Units>(output_size(), batch, where);
    }

    variable<T, rows, gates> gates_kernel;
    variable<T, gates> gates_bias;
    variable<T, rows, Units> candidate_kernel;
    variable<T, Units> candidate_bias;

private:
    gru_cell(const variable_scope&, index_t in, index_t units, const cell_options& o, const std::source_location& where)
        : gates_kernel(detail::in_variable_scope("gates",
                                                 [&] {
                                                     return detail::cell_kernel<T, rows, gates>(
                                                         "kernel", {in + units, 2 * units}, o.kernel_initializer,
                                                         where);
                                                 })),
          gates_bias(detail::in_variable_scope(
              "gates",
              [&] { return detail::cell_variable<T, gates>("bias", {2 * units}, o.bias_initializer, 1, where); })),
          candidate_kernel(detail::in_variable_scope("candidate",
                                                     [&] {
                                                         return detail::cell_kernel<T, rows, Units>(
                                                             "kernel", {in + units, units}, o.kernel_initializer,
                                                             where);
                                                     })),
          candidate_bias(detail::in_variable_scope("candidate", [&] {
              return detail::cell_variable<T, Units>("bias", {units}, o.bias_initializer, 0, where);
          })) {}
};

}} // namespace rill::RILL_ABI
