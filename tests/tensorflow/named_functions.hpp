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
