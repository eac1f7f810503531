// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/batch_normalization.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/train/cells.hpp>

namespace rill { inline namespace RILL_ABI {

struct layer_norm_lstm_options {
    double forget_bias = 1;     // added to the forget gate
    double gain = 1, shift = 0; // first values of gamma and beta
    double dropout_rate = 0;    // the share of candidates j that is dropped, in [0, 1)
    any_tensor training = {};   // a bool of rank 0; false: no dropout
    std::uint64_t seed = 0;     // 0: derived from the graph's seed and the nodes' names
    any_initializer kernel_initializer = {};
};

namespace detail {

/// Layer normalisation: each row is normalised to mean 0 and variance 1, multiplied by gamma and added to beta.
template <class T, index_t Units> class row_normalization {
public:
    row_normalization(const char* name, index_t units, const layer_norm_lstm_options& o,
                      const std::source_location& where)
        : gamma_(in_variable_scope(
              name, [&] { return cell_variable<T, Units>("gamma", {units}, any_initializer(o.gain), 1, where); })),
          beta_(in_variable_scope(
              name, [&] { return cell_variable<T, Units>("beta", {units}, any_initializer(o.shift), 0, where); })) {}

    template <class X> auto operator()(const X& x, const std::source_location& where) const {
        const auto all = sealed(x); // read twice
        const auto [mean, variance] = moments<1>(all, keep_dims, where);
        return batch_normalization(all, mean, variance, beta_, gamma_, 1e-12); // TensorFlow's epsilon
    }

private:
    variable<T, Units> gamma_, beta_;
};

} // namespace detail

/// An LSTM without a bias whose gates and cell state are normalised (Ba et al. 2016): layer_norm_lstm_cell<64, 128> cell("lstm"). This is
/// TensorFlow's LayerNormBasicLSTMCell. The gates i, j, f, o are [x, h] kernel. Each is normalised to a mean beta and a deviation gamma of
/// its own.
///     c' = norm(c sigmoid(f + forget_bias) + sigmoid(i) tanh(j)),   h' = tanh(c') sigmoid(o), which is also the output.
/// The state is std::tuple(c, h) of [batch, units] each. layer_norm_lstm_cell<dyn, dyn>("lstm", inputs, units) has sizes that are known
/// only at run time. Variables: kernel [inputs + units, 4 units]; gamma and beta [units] below input, transform, forget, output and state.
template <index_t In, index_t Units, class T = float>
class layer_norm_lstm_cell : public detail::cell_states<layer_norm_lstm_cell<In, Units, T>> {
    static constexpr index_t rows = detail::sum_of_extents(In, Units), gates = detail::times_extent(4, Units);
    using normalization = detail::row_normalization<T, Units>;

public:
    using value_type = T;
    using options_type = layer_norm_lstm_options;
    static constexpr index_t inputs = In, outputs = Units;

    explicit layer_norm_lstm_cell(const std::string& name, const layer_norm_lstm_options& o = {},
                                  const std::source_location& where = std::source_location::current())
        requires(In != dyn && Units != dyn)
        : layer_norm_lstm_cell(variable_scope(name), In, Units, o, where) {}
    layer_norm_lstm_cell(const std::string& name, index_t in, index_t units, const layer_norm_lstm_options& o = {},
                         const std::source_location& where = std::source_location::current())
        : layer_norm_lstm_cell(variable_scope(name), in, units, o, where) {}

    index_t input_size() const { return kernel.static_shape()[0] - output_size(); }
    index_t output_size() const { return kernel.static_shape()[1] / 4; }

    /// Returns the output and the next state.
    template <graph_operand X, typed_operand C, typed_operand H>
    auto operator()(const X& x, const std::tuple<C, H>& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<T, In>(x, where);
        const auto c = sealed(std::get<0>(state));
        const auto [i, j, f, o] = split<1, 4>(matmul(concat<1>(in, std::get<1>(state), where), kernel, where), where);
        const auto candidate = kept(tanh(transform_(j, where)), where);
        const tensor next_c = state_(
            c * sigmoid(forget_(f, where) + options_.forget_bias) + sigmoid(input_(i, where)) * candidate, where);
        const tensor next_h = tanh(next_c) * sigmoid(output_(o, where));
        return std::pair(next_h, std::tuple(next_c, next_h));
    }
    /// Returns the state with f(h) in place of h.
    template <class F, class C, class H> static auto with_hidden(const F& f, const std::tuple<C, H>& state) {
        return std::tuple(std::get<0>(state), f(std::get<1>(state)));
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return std::tuple(detail::zero_rows<T, Units>(output_size(), batch, where),
                          detail::zero_rows<T, Units>(output_size(), batch, where));
    }

    variable<T, rows, gates> kernel;

private:
    layer_norm_lstm_cell(const variable_scope&, index_t in, index_t units, const layer_norm_lstm_options& o,
                         const std::source_location& where)
        : kernel(detail::cell_kernel<T, rows, gates>("kernel", {in + units, 4 * units}, o.kernel_initializer, where)),
          input_("input", units, o, where), transform_("transform", units, o, where),
          forget_("forget", units, o, where), output_("output", units, o, where), state_("state", units, o, where),
          options_(o) {
        detail::check_rate(o.dropout_rate, where);
        if (options_.training) options_.training = tensor<bool>(options_.training, where);
    }

    /// Returns the candidates of a step, with dropout.
    template <class J> auto kept(const J& candidate, const std::source_location& where) const {
        const auto all = sealed(candidate);
        const auto with = [](const auto& y) {
            return tensor_of<T, extents_of<decltype(all)>>(detail::unchecked, any_tensor(sealed(y)));
        };
        if (options_.dropout_rate == 0) return with(all);
        if (!options_.training) return with(dropout(all, options_.dropout_rate, {.seed = options_.seed}, where));
        return with(dropout(all, options_.dropout_rate, tensor<bool>(detail::unchecked, options_.training),
                            {.seed = options_.seed}, where));
    }

    normalization input_, transform_, forget_, output_, state_;
    layer_norm_lstm_options options_;
};

}} // namespace rill::RILL_ABI
