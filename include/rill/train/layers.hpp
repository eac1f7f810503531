// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/nn/batch_normalization.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/nn/embedding_lookup.hpp>
#include <rill/ops/nn/l2_loss.hpp>
#include <rill/ops/nn/window/avg_pool.hpp>
#include <rill/ops/nn/window/conv2d_transpose.hpp>
#include <rill/ops/nn/window/depthwise_conv2d.hpp>
#include <rill/ops/nn/window/max_pool.hpp>
#include <rill/train/activation.hpp>
#include <rill/train/dense.hpp>
#include <rill/train/unnamed_layer.hpp>

// Layers: objects that are called with a name and a typed tensor. get_variable makes their variables below that name, so that a
// variable_scope says whether a second call shares them. Default names are "dense", "dense_1" and so on, counted anew in each
// variable_scope that is opened. Results are sealed tensors; plans fuse activations with their operands.

namespace rill { inline namespace RILL_ABI {

/// A cost of a variable's size that is added to collections::regularization_losses: l1 * sum |w| + l2 * sum w^2 / 2.
struct regularizer {
    double l1 = 0, l2 = 0;
};
inline regularizer l1_regularizer(double scale) { return {scale, 0}; }
inline regularizer l2_regularizer(double scale) { return {0, scale}; }
inline regularizer l1_l2_regularizer(double l1, double l2) { return {l1, l2}; }

struct layer_options {
    bool use_bias = true;
    any_initializer kernel_initializer = {}; // none: the scope's, or glorot_uniform
    any_initializer bias_initializer = zeros();
    regularizer kernel_regularizer = {};
};

namespace detail {

/// An any_initializer in the form that variables take; without one, the default.
struct layer_initializer {
    const any_initializer& of;
    template <class T> endpoint initial_value(const dims& shape) const {
        return of ? of(dtype_of<T>, shape) : default_initializer().initial_value<T>(shape);
    }
};

/// Returns the number of channels, the last extent; throws invalid_argument if it is unknown at graph construction.
index_t known_channels(const char* layer, const tensor_type& x, const std::source_location& where);

/// Adds a variable's cost to the regularization losses.
template <class W> void add_regularization(const W& w, const regularizer& by) {
    const auto add = [&](const auto& loss) {
        current_graph().add_to_collection(collections::regularization_losses, seal(loss));
    };
    if (by.l1 != 0 && by.l2 != 0)
        add(by.l1 * reduce_sum(abs(w)) + by.l2 * l2_loss(w));
    else if (by.l1 != 0)
        add(by.l1 * reduce_sum(abs(w)));
    else if (by.l2 != 0)
        add(by.l2 * l2_loss(w));
}

/// Makes or finds the kernel of a layer. Only a new kernel is regularized.
template <class T, index_t... D>
variable<T, D...> layer_kernel(const std::string& name, const dims& shape, const layer_options& o,
                               const std::source_location& where) {
    const auto count = [] { return current_graph().collection(collections::variables).size(); };
    const auto before = count();
    const auto w = get_variable<T, D...>(name, shape, layer_initializer{o.kernel_initializer}, {}, where);
    if (count() != before) add_regularization(w, o.kernel_regularizer);
    return w;
}

/// Makes or finds the filter of a convolution with the window W: [size.., In, Out].
template <class T, rill::window W, int Axes, index_t In, index_t Out>
auto filter_of_layer(const std::string& name, index_t in, index_t out, const layer_options& o,
                     const std::source_location& where) {
    static_assert(W.size.count == 1 || W.size.count == Axes, "conv: the window needs a size: window{.size = {3, 3}}");
    dims shape;
    for (int i = 0; i < Axes; ++i) shape.push(W.size.along(i, 1));
    shape.push(in);
    shape.push(out);
    constexpr index_t a = W.size.along(0, 1), b = W.size.along(Axes > 1 ? 1 : 0, 1),
                      c = W.size.along(Axes > 2 ? 2 : 0, 1);
    if constexpr (Axes == 1)
        return layer_kernel<T, a, In, Out>(name, shape, o, where);
    else if constexpr (Axes == 2)
        return layer_kernel<T, a, b, In, Out>(name, shape, o, where);
    else
        return layer_kernel<T, a, b, c, In, Out>(name, shape, o, where);
}

constexpr rill::window without_size(rill::window w) {
    w.size = {};
    return w;
}

/// Adds the bias [N], unless the options leave it out, and the activation.
template <index_t N, class Y, class A>
auto finished_layer(const Y& y, const A& activation, const layer_options& o, const std::source_location& where) {
    using T = value_type_of<Y>;
    if (!o.use_bias) return sealed(activation(y));
    const index_t units = N == dyn ? rules::extent_along(operand_type(y).shape, -1) : N;
    const auto b = get_variable<T, N>("bias", dims{units}, layer_initializer{o.bias_initializer}, {}, where);
    return sealed(activation(y + b));
}

} // namespace detail

/// A fully connected layer: dense<128>(activation::relu). x w + b over the last axis of a tensor with two dimensions or more.
template <index_t Units, class A> struct dense_layer : detail::unnamed_layer<dense_layer<Units, A>> {
    using detail::unnamed_layer<dense_layer>::operator();
    static constexpr auto label = "dense";
    A activation;
    layer_options options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        static_assert(detail::is_dense_input<extents_of<X>::rank>,
                      "dense: the input must have two dimensions or more, [.., in]");
        const index_t in = detail::dense_inputs_of(x, where);
        const graph_scope here(detail::graph_of_operand(x));
        const variable_scope scope(name);
        const auto w = detail::layer_kernel<value_type_of<X>, detail::last_extent<X>, Units>("kernel", dims{in, Units},
                                                                                             options, where);
        return detail::finished_layer<Units>(matmul(x, w, where), activation, options, where);
    }
};
template <index_t Units, class A = std::remove_const_t<decltype(activation::linear)>>
    requires(!graph_operand<A> && !std::is_convertible_v<A, std::string>)
dense_layer<Units, A> dense(const A& activation = {}, const layer_options& options = {}) {
    return {{}, activation, options};
}

/// A convolution layer: conv<32, window{.size = {5, 5}}>(activation::relu). It takes images with 1 to 3 axes; the filter has the window's
/// size.
template <index_t Filters, window W, class A> struct conv_layer : detail::unnamed_layer<conv_layer<Filters, W, A>> {
    using detail::unnamed_layer<conv_layer>::operator();
    static constexpr auto label = "conv";
    A activation;
    layer_options options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        constexpr int axes = extents_of<X>::rank - 2;
        static_assert(detail::is_pooled<extents_of<X>::rank>,
                      "conv: the image must have the dimensions [batch, .., channels], with 1 to 3 axes between");
        const graph_scope here(detail::graph_of_operand(x));
        const variable_scope scope(name);
        const auto image = sealed(x);
        const index_t channels = detail::known_channels(label, detail::operand_type(image), where);
        const auto f = detail::filter_of_layer<value_type_of<X>, W, axes, detail::last_extent<X>, Filters>(
            "kernel", channels, Filters, options, where);
        const auto y = detail::add_convolution<conv2d_op, false, axes, detail::without_size(W)>(label, image, f, where);
        return detail::finished_layer<Filters>(y, activation, options, where);
    }
};
template <index_t Filters, window W, class A = std::remove_const_t<decltype(activation::linear)>>
conv_layer<Filters, W, A> conv(const A& activation = {}, const layer_options& options = {}) {
    return {{}, activation, options};
}

/// A transposed convolution layer, of images [batch, height, width, channels]: conv_transpose<16, window{.size = {5, 5}, .strides = {2, 2},
/// .padding = padding::same}>().
template <index_t Filters, window W, class A>
struct conv_transpose_layer : detail::unnamed_layer<conv_transpose_layer<Filters, W, A>> {
    using detail::unnamed_layer<conv_transpose_layer>::operator();
    static constexpr auto label = "conv_transpose";
    A activation;
    layer_options options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        const graph_scope here(detail::graph_of_operand(x));
        const variable_scope scope(name);
        const auto image = sealed(x);
        const index_t channels = detail::known_channels(label, detail::operand_type(image), where);
        const auto f = detail::filter_of_layer<value_type_of<X>, W, 2, Filters, detail::last_extent<X>>(
            "kernel", Filters, channels, options, where);
        return detail::finished_layer<Filters>(conv2d_transpose<detail::without_size(W)>(image, f, where), activation,
                                               options, where);
    }
};
template <index_t Filters, window W, class A = std::remove_const_t<decltype(activation::linear)>>
conv_transpose_layer<Filters, W, A> conv_transpose(const A& activation = {}, const layer_options& options = {}) {
    return {{}, activation, options};
}

/// A separable convolution layer: separable_conv<64, window{.size = {3, 3}}>(). A depthwise convolution with Multiples filters for each
/// channel comes first, then a pointwise one.
template <index_t Filters, window W, index_t Multiples, class A>
struct separable_conv_layer : detail::unnamed_layer<separable_conv_layer<Filters, W, Multiples, A>> {
    using detail::unnamed_layer<separable_conv_layer>::operator();
    static constexpr auto label = "separable_conv";
    A activation;
    layer_options options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        constexpr index_t in = detail::last_extent<X>, between = in == dyn ? dyn : in * Multiples;
        const graph_scope here(detail::graph_of_operand(x));
        const variable_scope scope(name);
        const auto image = sealed(x);
        const index_t channels = detail::known_channels(label, detail::operand_type(image), where);
        const auto depthwise = detail::filter_of_layer<value_type_of<X>, W, 2, in, Multiples>(
            "depthwise_kernel", channels, Multiples, options, where);
        const auto pointwise = detail::filter_of_layer<value_type_of<X>, window{.size = {1, 1}}, 2, between, Filters>(
            "pointwise_kernel", channels * Multiples, Filters, options, where);
        const auto y = separable_conv2d<detail::without_size(W)>(image, depthwise, pointwise, where);
        return detail::finished_layer<Filters>(y, activation, options, where);
    }
};
template <index_t Filters, window W, index_t Multiples = 1, class A = std::remove_const_t<decltype(activation::linear)>>
separable_conv_layer<Filters, W, Multiples, A> separable_conv(const A& activation = {},
                                                              const layer_options& options = {}) {
    return {{}, activation, options};
}

/// The layer of max_pool: max_pooling<window{.size = {2, 2}}>().
template <window W> struct max_pooling_layer : detail::unnamed_layer<max_pooling_layer<W>> {
    using detail::unnamed_layer<max_pooling_layer>::operator();
    static constexpr auto label = "max_pooling";
    template <typed_operand X>
    auto operator()(const std::string&, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        return max_pool<W>(x, where);
    }
};
template <window W> max_pooling_layer<W> max_pooling() { return {}; }

/// The layer of avg_pool: average_pooling<window{.size = {2, 2}}>().
template <window W> struct average_pooling_layer : detail::unnamed_layer<average_pooling_layer<W>> {
    using detail::unnamed_layer<average_pooling_layer>::operator();
    static constexpr auto label = "average_pooling";
    template <typed_operand X>
    auto operator()(const std::string&, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        return avg_pool<W>(x, where);
    }
};
template <window W> average_pooling_layer<W> average_pooling() { return {}; }

namespace rules {

/// Returns the shape [batch, product of the other extents] for [batch, ..].
constexpr shape_result flatten(const dims& x) {
    if (!x.known_rank()) return {of_rank(2)};
    if (x.rank < 1) return {of_rank(2), "the tensor has no batch axis"};
    index_t all = 1;
    for (int i = 1; i < x.rank; ++i) all = all == dyn || x[i] == dyn ? dyn : all * x[i];
    return {dims{x[0], all}};
}

} // namespace rules

/// Reshapes [batch, ..] to [batch, product of the other extents]. At most one of the two extents may be unknown at graph construction.
template <typed_operand X>
auto flatten(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(extents_of<X>::rank >= 1, "flatten: the tensor has no batch axis");
    constexpr auto rule = [](const dims& shape) { return rules::flatten(shape); };
    return apply_node(reshape_op{rule(detail::operand_type(x).shape).shape}, rule, where, x);
}

/// The layer of flatten: flatten().
struct flatten_layer : detail::unnamed_layer<flatten_layer> {
    using detail::unnamed_layer<flatten_layer>::operator();
    static constexpr auto label = "flatten";
    template <typed_operand X>
    auto operator()(const std::string&, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        return flatten(x, where);
    }
};
inline flatten_layer flatten() { return {}; }

/// The layer of dropout: dropout(0.5f, training). `training` is a bool or a bool tensor of rank 0.
template <class R, class Training> struct dropout_layer : detail::unnamed_layer<dropout_layer<R, Training>> {
    using detail::unnamed_layer<dropout_layer>::operator();
    static constexpr auto label = "dropout";
    R rate;
    Training training;
    dropout_options options;

    template <typed_operand X>
    auto operator()(const std::string&, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        return dropout(x, rate, training, options, where);
    }
};
template <class R, class Training>
    requires(std::is_arithmetic_v<R> && is_training_flag<Training>)
dropout_layer<R, Training> dropout(const R& rate, const Training& training, const dropout_options& options = {}) {
    return {{}, rate, training, options};
}

struct batch_normalization_options {
    double momentum = 0.99, epsilon = 1e-3;
    bool center = true, scale = true; // if there are the variables beta and gamma
};

/// A layer that normalises each channel, the last axis: batch_normalization(training). While training it uses the mean and variance of the
/// batch, and its update ops add them to moving averages. Otherwise it uses these averages. The update ops are in collections::update_ops.
/// A step runs them on request: control_dependencies after(g.collection("update_ops")). The moving variance of images (rank 4) is the
/// unbiased one, as in TensorFlow. An empty batch leaves the averages as they are. Variables: gamma, beta, moving_mean, moving_variance.
template <class Training>
struct batch_normalization_layer : detail::unnamed_layer<batch_normalization_layer<Training>> {
    using detail::unnamed_layer<batch_normalization_layer>::operator();
    static constexpr auto label = "batch_normalization";
    Training training;
    batch_normalization_options options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        using T = value_type_of<X>;
        constexpr index_t width = detail::last_extent<X>;
        static_assert(extents_of<X>::rank >= 2,
                      "batch_normalization: the tensor must have the dimensions [.., channels]");
        const graph_scope here(detail::graph_of_operand(x));
        const variable_scope scope(name);
        const auto all = sealed(x);
        const dims n{detail::known_channels(label, detail::operand_type(all), where)};
        const auto made = [&](const char* of, double first, bool trainable) {
            return get_variable<T, width>(of, n, constant_initializer(first), {.trainable = trainable}, where);
        };
        const auto gamma = made("gamma", 1, options.scale), beta = made("beta", 0, options.center);
        const auto moving_mean = made("moving_mean", 0, false), moving_variance = made("moving_variance", 1, false);
        const auto axes = std::make_integer_sequence<int, extents_of<X>::rank - 1>{};
        const auto normalised = [&](const auto& mean, const auto& variance) {
            return sealed(batch_normalization(all, mean, variance, beta, gamma, options.epsilon));
        };
        const double share = 1 - options.momentum;
        const auto update = [&](const auto& moving, const auto& of_batch, const auto& by) {
            const auto written =
                moving.assign_sub((moving - detail::unless_empty(all, of_batch, moving, where)) * by, where);
            current_graph().add_to_collection(collections::update_ops, written.end());
        };
        const auto update_both = [&](const auto& mean, const auto& variance, const auto& by) {
            update(moving_mean, mean, by);
            update(moving_variance, detail::moving_variance_of(all, variance, where), by);
        };
        if constexpr (std::is_same_v<Training, bool>) {
            if (!training) return normalised(moving_mean, moving_variance);
            const auto [mean, variance] = detail::moments_over(all, axes, where);
            update_both(mean, variance, share);
            return normalised(mean, variance);
        } else {
            const auto [mean, variance] = detail::moments_over(all, axes, where);
            const auto by = sealed(cast<T>(training) * share);
            update_both(mean, variance, by);
            return normalised(sealed(select(training, mean, moving_mean)),
                              sealed(select(training, variance, moving_variance)));
        }
    }
};
template <class Training>
    requires is_training_flag<Training>
batch_normalization_layer<Training> batch_normalization(const Training& training,
                                                        const batch_normalization_options& options = {}) {
    return {{}, training, options};
}

/// A table whose rows are looked up by ids: embedding<1000, 64>(). Its variable is "embeddings" [Count, Width].
template <index_t Count, index_t Width, class T>
struct embedding_layer : detail::unnamed_layer<embedding_layer<Count, Width, T>> {
    using detail::unnamed_layer<embedding_layer>::operator();
    static constexpr auto label = "embedding";
    layer_options options;

    template <typed_operand X>
    auto operator()(const std::string& name, const X& ids,
                    const std::source_location& where = std::source_location::current()) const {
        const graph_scope here(detail::graph_of_operand(ids));
        const variable_scope scope(name);
        const auto table = detail::layer_kernel<T, Count, Width>("embeddings", dims{Count, Width}, options, where);
        return embedding_lookup(table, ids, where);
    }
};
template <index_t Count, index_t Width, class T = float>
embedding_layer<Count, Width, T> embedding(const layer_options& options = {}) {
    return {{}, options};
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/layers.ipp>
#endif
