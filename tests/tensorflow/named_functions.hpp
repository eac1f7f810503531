// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Functions that are made of several ops, by the names that functions.py gives them: "call lrn 0" is a line of a described graph.

#include <rill/rill.hpp>

#include "tensorflow/described_graph.hpp"

namespace described_graph {

/// Calls f with the element type of x, which is float or double.
template <class F> std::vector<any_tensor> in_floats(const any_tensor& x, const F& f) {
    if (x.dtype() == dtype::float64) return f(std::type_identity<double>{});
    return f(std::type_identity<float>{});
}

/// Returns outputs of any types as untyped handles.
template <class... Y> std::vector<any_tensor> outputs(const Y&... y) { return {any_tensor(sealed(y))...}; }

inline double real(const field_reader& fields, std::string_view name) { return number<double>(fields.text(name)); }

/// An element type T as tensors of open shapes.
template <class T> struct of_type {
    using vector = tensor<T, dyn>;
    using matrix = tensor<T, dyn, dyn>;
    using image = tensor<T, dyn, dyn, dyn, dyn>;
};

using operands = std::vector<any_tensor>;

/// Calls a loss of predictions, labels and, if they are given, weights: f<reduction>(labels, predictions, options).
template <class Labels, class F> operands loss_of(const operands& in, const field_reader& fields, const F& f) {
    loss_options o;
    if (in.size() > 2) o.weights = in[2];
    const Labels labels(in[1]);
    const tensor<float, dyn, dyn> predictions(in[0]);
    const auto reduction = fields.text("reduction");
    if (reduction == "none") return outputs(f.template operator()<loss_reduction::none>(labels, predictions, o));
    o.reduction = reduction == "sum"                   ? loss_reduction::sum
                  : reduction == "sum_over_batch_size" ? loss_reduction::sum_over_batch_size
                                                       : loss_reduction::sum_by_nonzero_weights;
    return outputs(f.template operator()<loss_reduction::sum_by_nonzero_weights>(labels, predictions, o));
}

/// Returns the value of a metric after one batch of labels and predictions.
template <class L, class P, class F> operands metric_of(const operands& in, const F& f) {
    return outputs(std::get<1>(f(tensor<L, dyn>(in[0]), tensor<P, dyn>(in[1]))));
}

/// Calls f with the element type of x, and the first operand as a tensor of that type and Rank open extents.
template <int Rank, class F> operands in_rank(const operands& in, const F& f) {
    return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return outputs(f(tensor<T, ((void)I, dyn)...>(in[0])));
        }(std::make_integer_sequence<int, Rank>{});
    });
}

/// An initializer that takes the first value of its variable's shape.
struct first_of_shape {
    operands values;
    template <class T> endpoint initial_value(const dims& shape) const {
        for (const auto& v : values)
            if (v.dtype() == dtype_of<T> && v.static_shape() == shape) return v.end();
        throw std::runtime_error("no operand has the shape " + to_string(shape));
    }
};

/// Returns the outputs of a cell over sequences [batch, time, 4]. The operands after the sequences are the values of its variables.
template <class Cell> operands outputs_of_cell(const operands& in, const typename Cell::options_type& o) {
    const Cell cell("cell", o);
    return outputs(std::get<0>(dynamic_rnn(cell, tensor<typename Cell::value_type, dyn, dyn, 4>(in[0]))));
}

/// Calls a convolution or pool with the padding that the field names, as a compile-time argument.
template <class F> operands padded_as(const field_reader& fields, const F& f) {
    if (fields.text("padding") == "SAME") return f(std::integral_constant<padding::kind, padding::same>{});
    return f(std::integral_constant<padding::kind, padding::valid>{});
}

/// Returns the order of a norm.
inline norm_order order_of(const field_reader& fields) {
    return fields.text("order") == "inf" ? infinite_order : norm_order(real(fields, "order"));
}

/// Returns the real numbers of a result of quantised ops: numbers, and the ends of their range.
template <class Q> operands reals_of(const Q& q, quantize_mode mode = quantize_mode::min_first) {
    return outputs(dequantize(std::get<0>(q), std::get<1>(q), std::get<2>(q), mode));
}

/// Calls f with both operands in eight bits, from -2 to 3 and -3 to 2, and their ranges.
template <class F> auto in_bytes(const operands& in, const F& f) {
    constexpr auto mode = quantize_mode::min_first;
    const auto [a, a_low, a_high] = quantize<quint8>(in[0], -2, 3, mode);
    const auto [b, b_low, b_high] = quantize<quint8>(in[1], -3, 2, mode);
    return f(a, b, a_low, a_high, b_low, b_high);
}

inline const std::map<std::string_view, named_function>& composed_functions() {
    using M = tensor<float, dyn, dyn>;
    using fields_of = const field_reader&;
    static const std::map<std::string_view, named_function> all{
        {"fused_batch_norm",
         [](const operands& in, fields_of f) {
             const auto [y, mean, variance] =
                 fused_batch_norm(of_type<float>::image(in[0]), of_type<float>::vector(in[1]),
                                  of_type<float>::vector(in[2]), real(f, "epsilon"));
             return outputs(y, mean, variance);
         }},
        {"lrn",
         [](const operands& in, fields_of) {
             return outputs(lrn(tensor<float, dyn, dyn, dyn, 7>(in[0]),
                                {.depth_radius = 2, .bias = 2, .alpha = 0.5, .beta = 0.75}));
         }},
        {"crelu", [](const operands& in, fields_of) { return outputs(crelu(in[0])); }},
        {"l2_normalize",
         [](const operands& in, fields_of) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 return outputs(l2_normalize<1>(typename of_type<T>::matrix(in[0])));
             });
         }},
        {"zero_fraction",
         [](const operands& in, fields_of) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 return outputs(zero_fraction(typename of_type<T>::matrix(in[0])));
             });
         }},
        {"log_sigmoid", [](const operands& in, fields_of) { return outputs(log_sigmoid(in[0])); }},
        {"scalar_mul",
         [](const operands& in, fields_of) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 return outputs(scalar_mul(tensor<T>(in[0]), typename of_type<T>::matrix(in[1])));
             });
         }},
        {"polyval", [](const operands& in, fields_of) { return outputs(polyval(in[0], 2, 0, -1, 3)); }},
        {"reduce_std",
         [](const operands& in, fields_of) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 return outputs(reduce_std<1>(typename of_type<T>::matrix(in[0])));
             });
         }},
        {"cross",
         [](const operands& in, fields_of) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 return outputs(cross(tensor<T, dyn, 3>(in[0]), tensor<T, dyn, 3>(in[1])));
             });
         }},
        {"xw_plus_b", [](const operands& in, fields_of) { return outputs(xw_plus_b(in[0], in[1], in[2])); }},
        {"weighted_cross_entropy",
         [](const operands& in, fields_of) { return outputs(weighted_cross_entropy(in[0], in[1], 3.)); }},
        {"log_poisson_loss", [](const operands& in, fields_of) { return outputs(log_poisson_loss(in[0], in[1])); }},
        {"space_to_depth", [](const operands& in, fields_of) { return outputs(space_to_depth<2>(in[0])); }},
        {"depth_to_space", [](const operands& in, fields_of) { return outputs(depth_to_space<2>(in[0])); }},
        {"space_to_batch",
         [](const operands& in, fields_of) { return outputs(space_to_batch<3, 2, padding{1, 1}>(in[0])); }},
        {"batch_to_space",
         [](const operands& in, fields_of) { return outputs(batch_to_space<3, 2, padding{1, 1}>(in[0])); }},
        {"separable_conv2d",
         [](const operands& in, fields_of) {
             return outputs(separable_conv2d<window{.padding = padding::same}>(in[0], in[1], in[2]));
         }},
        {"atrous_conv2d",
         [](const operands& in, fields_of) { return outputs(atrous_conv2d<2, padding::same>(in[0], in[1])); }},
        {"count_nonzero",
         [](const operands& in, fields_of) {
             if (in[0].dtype() == dtype::float32) return outputs(count_nonzero(of_type<float>::matrix(in[0])));
             return outputs(count_nonzero(of_type<int>::matrix(in[0])));
         }},
        {"conv1d",
         [](const operands& in, fields_of) {
             return outputs(conv1d<window{.strides = {2}, .padding = padding::same}>(in[0], in[1]));
         }},
        {"conv3d",
         [](const operands& in, fields_of) {
             return outputs(conv3d<window{.strides = {1, 2, 1}, .padding = padding::same}>(in[0], in[1]));
         }},
        {"max_pool1d",
         [](const operands& in, fields_of f) {
             return padded_as(f, [&](auto by) {
                 return outputs(max_pool<window{.size = {3}, .strides = {2}, .padding = by.value}>(in[0]));
             });
         }},
        {"avg_pool1d",
         [](const operands& in, fields_of f) {
             return padded_as(f, [&](auto by) {
                 return outputs(avg_pool<window{.size = {3}, .strides = {2}, .padding = by.value}>(in[0]));
             });
         }},
        {"max_pool3d",
         [](const operands& in, fields_of f) {
             return padded_as(f, [&](auto by) {
                 return outputs(max_pool<window{.size = {2, 3, 2}, .strides = {2, 1, 2}, .padding = by.value}>(in[0]));
             });
         }},
        {"avg_pool3d",
         [](const operands& in, fields_of f) {
             return padded_as(f, [&](auto by) {
                 return outputs(avg_pool<window{.size = {2, 3, 2}, .strides = {2, 1, 2}, .padding = by.value}>(in[0]));
             });
         }},
        {"batch_normalization",
         [](const operands& in, fields_of f) {
             return outputs(batch_normalization(in[0], in[1], in[2], in[3], in[4], real(f, "epsilon")));
         }},
        {"segment_sum",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) { return segment_sum(x, of_type<int>::vector(in[1])); });
         }},
        {"segment_mean",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) { return segment_mean(x, of_type<int>::vector(in[1])); });
         }},
        {"segment_max",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) { return segment_max(x, of_type<int>::vector(in[1])); });
         }},
        {"segment_min",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) { return segment_min(x, of_type<int>::vector(in[1])); });
         }},
        {"segment_prod",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) { return segment_prod(x, of_type<int>::vector(in[1])); });
         }},
        {"sparse_segment_sum",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) {
                 return sparse_segment_sum(x, of_type<int>::vector(in[1]), of_type<int>::vector(in[2]));
             });
         }},
        {"sparse_segment_mean",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) {
                 return sparse_segment_mean(x, of_type<int>::vector(in[1]), of_type<int>::vector(in[2]));
             });
         }},
        {"sparse_segment_sqrt_n",
         [](const operands& in, fields_of) {
             return in_rank<2>(in, [&](const auto& x) {
                 return sparse_segment_sqrt_n(x, of_type<int>::vector(in[1]), of_type<int>::vector(in[2]));
             });
         }},
        {"unsorted_segment_mean",
         [](const operands& in, fields_of) {
             return in_rank<2>(in,
                               [&](const auto& x) { return unsorted_segment_mean<6>(x, of_type<int>::vector(in[1])); });
         }},
        {"unsorted_segment_sqrt_n",
         [](const operands& in, fields_of) {
             return in_rank<2>(
                 in, [&](const auto& x) { return unsorted_segment_sqrt_n<6>(x, of_type<int>::vector(in[1])); });
         }},
        {"meshgrid",
         [](const operands& in, fields_of f) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 using V = typename of_type<T>::vector;
                 const V x(in[0]), y(in[1]), z(in[2]);
                 const auto [a, b, c] =
                     f.text("indexing") == "xy" ? meshgrid(x, y, z) : meshgrid(matrix_indexing, x, y, z);
                 return outputs(a, b, c);
             });
         }},
        {"bincount_weights",
         [](const operands& in, fields_of) {
             return in_floats(in[1], [&]<class T>(std::type_identity<T>) {
                 return outputs(bincount(of_type<int>::vector(in[0]), typename of_type<T>::vector(in[1])));
             });
         }},
        {"bucketize", [](const operands& in, fields_of) { return outputs(bucketize(in[0], {-1.f, 0.f, 0.f, 1.5f})); }},
        {"histogram_fixed_width",
         [](const operands& in, fields_of) {
             return in_rank<1>(in, [](const auto& x) { return histogram_fixed_width<5>(x, -2, 2); });
         }},
        {"tensordot", [](const operands& in, fields_of) { return outputs(tensordot(in[0], in[1], {1, 2}, {1, 0})); }},
        {"tensordot_last", [](const operands& in, fields_of) { return outputs(tensordot<1>(in[0], in[1])); }},
        {"trace", [](const operands& in, fields_of) { return outputs(trace(in[0])); }},
        {"norm",
         [](const operands& in, fields_of f) {
             return in_rank<2>(in, [&](const auto& x) {
                 return f.text("order") == "euclidean" ? norm<1>(x) : norm<1>(x, order_of(f));
             });
         }},
        {"norm_of_matrices",
         [](const operands& in, fields_of f) {
             return in_rank<3>(in, [&](const auto& x) {
                 return f.text("order") == "fro" ? norm<1, 2>(x) : norm<1, 2>(x, order_of(f));
             });
         }},
        {"pinv", [](const operands& in, fields_of) { return in_rank<3>(in, [](const auto& x) { return pinv(x); }); }},
        {"matrix_rank",
         [](const operands& in, fields_of) { return in_rank<3>(in, [](const auto& x) { return matrix_rank(x); }); }},
        {"matrix_solve_ls", [](const operands& in, fields_of) { return outputs(matrix_solve_ls(in[0], in[1])); }},
        {"matrix_solve_ls_regularized",
         [](const operands& in, fields_of) { return outputs(matrix_solve_ls(in[0], in[1], {.l2_regularizer = 0.5})); }},
        {"cholesky_solve", [](const operands& in, fields_of) { return outputs(cholesky_solve(in[0], in[1])); }},
        {"rnn",
         [](const operands& in, fields_of) {
             const first_of_shape given{{in[1], in[2]}};
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 return outputs_of_cell<rnn_cell<4, 3, T>>(in, {given, given});
             });
         }},
        {"sequence_loss",
         [](const operands& in, fields_of f) {
             return in_floats(in[0], [&]<class T>(std::type_identity<T>) {
                 const tensor<T, dyn, dyn, dyn> logits(in[0]);
                 const of_type<int>::matrix targets(in[1]);
                 const typename of_type<T>::matrix weights(in[2]);
                 if (f.text("by_example") == "1") return outputs(sequence_loss_by_example(logits, targets, weights));
                 return outputs(sequence_loss(logits, targets, weights));
             });
         }},
        {"lstm",
         [](const operands& in, fields_of) {
             const first_of_shape given{{in[1], in[2]}};
             return outputs_of_cell<lstm_cell<4, 3>>(in, {.kernel_initializer = given, .bias_initializer = given});
         }},
        {"gru",
         [](const operands& in, fields_of) {
             const first_of_shape given{{in[1], in[2], in[3], in[4]}};
             return outputs_of_cell<gru_cell<4, 3>>(in, {given, given});
         }},
        {"fake_quant_args",
         [](const operands& in, fields_of f) {
             return outputs(
                 fake_quant_with_min_max_args(in[0], -2, 1.5, {.num_bits = number<int>(f.text("num_bits"))}));
         }},
        {"fake_quant_vars",
         [](const operands& in, fields_of f) {
             return outputs(
                 fake_quant_with_min_max_vars(in[0], in[1], in[2], {.num_bits = number<int>(f.text("num_bits"))}));
         }},
        {"fake_quant_vars_per_channel",
         [](const operands& in, fields_of f) {
             return outputs(fake_quant_with_min_max_vars_per_channel(in[0], in[1], in[2],
                                                                     {.num_bits = number<int>(f.text("num_bits"))}));
         }},
        {"quantize_dequantize",
         [](const operands& in, fields_of f) {
             const auto mode = f.text("mode") == "MIN_FIRST" ? quantize_mode::min_first : quantize_mode::min_combined;
             if (f.text("to") == "qint8") return reals_of(quantize<qint8>(in[0], -2, 3, mode), mode);
             return reals_of(quantize<quint8>(in[0], -2, 3, mode), mode);
         }},
        {"quantized_matmul",
         [](const operands& in, fields_of) {
             return reals_of(in_bytes(in, [](const auto&... xs) { return quantized_matmul(xs...); }));
         }},
        {"requantize",
         [](const operands& in, fields_of) {
             const auto sums = in_bytes(in, [](const auto&... xs) { return quantized_matmul(xs...); });
             return reals_of(requantize<quint8>(std::get<0>(sums), std::get<1>(sums), std::get<2>(sums), -10, 20));
         }},
        {"quantized_conv2d",
         [](const operands& in, fields_of) {
             return reals_of(in_bytes(
                 in, [](const auto&... xs) { return quantized_conv2d<window{.padding = padding::same}>(xs...); }));
         }},
        {"quantized_relu",
         [](const operands& in, fields_of) {
             const auto [q, low, high] = quantize<quint8>(in[0], -2, 3, quantize_mode::min_first);
             return reals_of(quantized_relu(q, low, high));
         }},
        {"reverse_sequence",
         [](const operands& in, fields_of f) {
             const int time = number<int>(f.text("time"));
             const tensor<float, dyn, dyn, dyn> x(in[0]);
             return outputs(reverse_sequence(x, of_type<int>::vector(in[1]), time, 1 - time));
         }},
        {"sequence_mask",
         [](const operands& in, fields_of f) {
             const of_type<int>::vector lengths(in[0]);
             if (f.text("longest").empty()) return outputs(sequence_mask(lengths));
             return outputs(sequence_mask(lengths, number<int>(f.text("longest"))));
         }},
        {"sparse_to_dense",
         [](const operands& in, fields_of) {
             return outputs(
                 sparse_to_dense(of_type<int>::matrix(in[1]), dims{4, 3}, of_type<float>::vector(in[0]), 0.5f));
         }},
        {"dynamic_partition",
         [](const operands& in, fields_of) {
             const auto [a, b, c, d] = dynamic_partition<4>(of_type<float>::matrix(in[0]), of_type<int>::vector(in[1]));
             return outputs(a, b, c, d);
         }},
        {"in_top_k",
         [](const operands& in, fields_of f) {
             return outputs(
                 in_top_k(of_type<float>::matrix(in[0]), of_type<int>::vector(in[1]), number<index_t>(f.text("k"))));
         }},
        {"mean_squared_error",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                 return losses::mean_squared_error<R>(z, x, o);
             });
         }},
        {"absolute_difference",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                 return losses::absolute_difference<R>(z, x, o);
             });
         }},
        {"hinge_loss",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                 return losses::hinge_loss<R>(z, x, o);
             });
         }},
        {"log_loss",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                 return losses::log_loss<R>(z, x, 1e-7, o);
             });
         }},
        {"huber_loss",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                 return losses::huber_loss<R>(z, x, 0.5, o);
             });
         }},
        {"sigmoid_cross_entropy_loss",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, loss_options o) {
                 o.label_smoothing = 0.25;
                 return losses::sigmoid_cross_entropy<R>(z, x, o);
             });
         }},
        {"softmax_cross_entropy_loss",
         [](const operands& in, fields_of f) {
             return loss_of<tensor<float, dyn, 3>>(
                 in, f, []<loss_reduction R>(const auto& z, const auto& x, loss_options o) {
                     o.label_smoothing = 0.25;
                     return losses::softmax_cross_entropy<R>(z, tensor<float, dyn, 3>(any_tensor(x)), o);
                 });
         }},
        {"sparse_softmax_cross_entropy_loss",
         [](const operands& in, fields_of f) {
             return loss_of<tensor<int, dyn>>(
                 in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                     return losses::sparse_softmax_cross_entropy<R>(z, x, o);
                 });
         }},
        {"cosine_distance",
         [](const operands& in, fields_of f) {
             return loss_of<M>(in, f, []<loss_reduction R>(const auto& z, const auto& x, const loss_options& o) {
                 return losses::cosine_distance<1, R>(z, x, o);
             });
         }},
        {"mean_pairwise_squared_error",
         [](const operands& in, fields_of) {
             return outputs(losses::mean_pairwise_squared_error(M(in[1]), M(in[0])));
         }},
        {"metrics_mean",
         [](const operands& in, fields_of) {
             return metric_of<float, float>(in, [](const auto&, const auto& x) { return metrics::mean(x); });
         }},
        {"metrics_accuracy",
         [](const operands& in, fields_of) {
             return metric_of<int, int>(in, [](const auto& z, const auto& x) { return metrics::accuracy(z, x); });
         }},
        {"metrics_mean_squared_error",
         [](const operands& in, fields_of) {
             return metric_of<float, float>(
                 in, [](const auto& z, const auto& x) { return metrics::mean_squared_error(z, x); });
         }},
        {"metrics_root_mean_squared_error",
         [](const operands& in, fields_of) {
             return metric_of<float, float>(
                 in, [](const auto& z, const auto& x) { return metrics::root_mean_squared_error(z, x); });
         }},
        {"metrics_true_positives",
         [](const operands& in, fields_of) {
             return metric_of<bool, bool>(in,
                                          [](const auto& z, const auto& x) { return metrics::true_positives(z, x); });
         }},
        {"metrics_false_positives",
         [](const operands& in, fields_of) {
             return metric_of<bool, bool>(in,
                                          [](const auto& z, const auto& x) { return metrics::false_positives(z, x); });
         }},
        {"metrics_true_negatives",
         [](const operands& in, fields_of) {
             return metric_of<bool, bool>(in,
                                          [](const auto& z, const auto& x) { return metrics::true_negatives(z, x); });
         }},
        {"metrics_false_negatives",
         [](const operands& in, fields_of) {
             return metric_of<bool, bool>(in,
                                          [](const auto& z, const auto& x) { return metrics::false_negatives(z, x); });
         }},
        {"metrics_precision",
         [](const operands& in, fields_of) {
             return metric_of<bool, bool>(in, [](const auto& z, const auto& x) { return metrics::precision(z, x); });
         }},
        {"metrics_recall",
         [](const operands& in, fields_of) {
             return metric_of<bool, bool>(in, [](const auto& z, const auto& x) { return metrics::recall(z, x); });
         }},
        {"metrics_mean_iou",
         [](const operands& in, fields_of) {
             return metric_of<int, int>(in, [](const auto& z, const auto& x) { return metrics::mean_iou<3>(z, x); });
         }},
        {"metrics_mean_per_class_accuracy",
         [](const operands& in, fields_of) {
             return metric_of<int, int>(
                 in, [](const auto& z, const auto& x) { return metrics::mean_per_class_accuracy<3>(z, x); });
         }},
        {"metrics_auc",
         [](const operands& in, fields_of) {
             return metric_of<bool, float>(in, [](const auto& z, const auto& x) { return metrics::auc(z, x); });
         }},
    };
    return all;
}

} // namespace described_graph
