// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong while a graph is built says which function was called, and where.
#include <rill/rill.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_places {

/// The message of what a call throws.
template <class F> std::string message_of(F call) {
    try {
        call();
    } catch (const error& e) {
        return e.what();
    }
    return "nothing was thrown";
}

/// It holds the text, and names this file.
template <class F> void says(const std::string& text, F call) {
    CHECK_THAT(message_of(call), contains(text) && contains("places.cpp:"));
}

} // namespace test_places
using test_places::message_of, test_places::says;

TEST_CASE("places: of operands that don't fit") {
    const graph g;
    const graph_scope here(g);
    const any_tensor two = any_placeholder("two", dtype::float32, {2}),
                     three = any_placeholder("three", dtype::float32, {3}),
                     ids = any_placeholder("ids", dtype::int32, {2}), m = any_placeholder("m", dtype::float32, {2, 3});
    placeholder<float, dyn> x("x");
    says("dot: the sizes differ: float32 [2] and float32 [3]", [&] { return dot(two, three); });
    says("dot: the dtypes differ: float32 [2] and int32 [2]", [&] { return dot(two, ids); });
    says("dot: a tensor of rank 1 is expected, not of rank 2", [&] { return dot(m, three); });
    says("outer: a tensor of rank 1 is expected, not of rank 2", [&] { return outer(m, two); });
    says("matvec: a matrix [m, k] and a vector [k] are expected", [&] { return matvec(m, two); });
    says("huber_loss: the shapes differ: float32 [2] and float32 [3]", [&] { return huber_loss(two, three); });
    says("huber_loss: delta is -1.000000", [&] { return huber_loss(x, x, -1.); });
    says("moments: the elements of 'ids:0' are int32", [&] { return moments(ids, {0}); });
    says("reduce_logsumexp: the elements of 'ids:0' are int32", [&] { return reduce_logsumexp(ids); });
    says("unstack: the extent along axis 0 of [?]", [&] { return unstack(any_tensor(x), 0); });
    says("add_n: the dtypes differ: 'two:0' is float32, 'ids:0' int32",
         [&] { return add_n(std::vector<any_tensor>{two, ids}); });
    says("stack: the shapes differ: float32 [2] and float32 [3]",
         [&] { return stack(std::vector<any_tensor>{two, three}, 0); });
    says("stack: the shapes differ: float32 [2] and float32 [3]", [&] { return stack<0>(two, three); });
    says("concat: the extents beside the axis differ",
         [&] { return concat<1>(m, any_placeholder("wide", dtype::float32, {3, 3})); });
    says("multinomial: a tensor of rank 2 is expected", [&] { return multinomial<2>(two); });
    says("softmax: the elements of 'ids:0' are int32", [&] { return softmax(ids, 0); });
    says("tensor_array: the updates must be of shape []",
         [&] { return tensor_array<float>(4).scatter(constant(1), two); });
    says("tensor_array: places are float32 [2], not int32 or int64",
         [&] { return tensor_array<float>(4).gather(two); });
    says("tensor_array: a null tensor was used", [&] { return tensor_array<float>(4).gather(any_tensor()); });
    says("gradients: grad_y 'ids:0' is int32 [2], 'two:0' is float32 [2]",
         [&] { return gradients({two}, {two}, {.grad_ys = {ids}}); });
    says("switch_case: 'two:0' is float32 [2], not an int32 or int64 of rank 0",
         [&] { return switch_case(two, [] { return constant(1.f); }, [] { return constant(2.f); }); });
    says("clip_by_norm: the elements of 'ids:0' are int32", [&] { return clip_by_norm(ids, 1, {0}); });
    says("gradients: 'ids:0' is int32 [2]: only floating", [&] { return gradients({ids}, {two}); });
    says("argmax: an axis is out of range: 5", [&] { return argmax(m, 5); });
    says("an axis is out of range: -3", [&] { return reduce_sum(m, {-3}); });
    says("an axis is named twice: -1", [&] { return reduce_sum(m, {1, -1}); });
    says("the axis is out of range: 7", [&] { return concat(std::vector<any_tensor>{m, m}, 7); });
    says("the axis is out of range: 4", [&] { return expand_dims(m, 4); });
    says("softmax: an axis is out of range: 2 ([2, 3])", [&] { return softmax(m, 2); });
    says("roll: the axis is out of range: -3", [&] { return roll(m, 1, -3); });
    says("tensordot: an axis is out of range: 2", [&] { return tensordot(m, m, {2}, {0}); });
    says("tensordot: an axis is out of range: -3", [&] { return tensordot(m, m, {0}, {-3}); });
    says("tensordot: an axis is named twice: -1", [&] { return tensordot(m, m, {0, 1}, {1, -1}); });
    says("reduce_all: the elements of 'two:0' are float32", [&] { return reduce_all(two); });
}

TEST_CASE("places: composed ops refuse axes under their own names") {
    const graph g;
    const graph_scope here(g);
    const any_tensor m = any_placeholder("m", dtype::float32, {2, 3});
    placeholder<float, dyn, 3> x("x");
    placeholder<float, 2, 3> y("y");
    const std::string far = ": an axis is out of range: 5 ([2, 3])", dynamic = ": an axis is out of range: -4 ([?, 3])",
                      twice = ": an axis is named twice: -1 ([2, 3])";
    says("reduce_std" + far, [&] { return reduce_std<5>(m); });
    says("reduce_std" + far, [&] { return reduce_std(m, {5}, keep_dims); });
    says("reduce_std" + dynamic, [&] { return reduce_std(x, -4); });
    says("reduce_std" + twice, [&] { return reduce_std(y, {1, -1}); });
    says("reduce_variance" + far, [&] { return reduce_variance<5>(m, keep_dims); });
    says("reduce_variance" + dynamic, [&] { return reduce_variance(x, {-4}); });
    says("reduce_l2_norm" + far, [&] { return reduce_l2_norm<0, 5>(m); });
    says("reduce_l2_norm" + twice, [&] { return reduce_l2_norm(y, {1, -1}); });
    says("reduce_logsumexp" + far, [&] { return reduce_logsumexp<5>(m); });
    says("reduce_logsumexp" + dynamic, [&] { return reduce_logsumexp(x, -4); });
    says("count_nonzero" + dynamic, [&] { return count_nonzero(x, {-4}); });
    says("moments" + far, [&] { return moments<5>(m); });
    says("moments" + twice, [&] { return moments(y, {1, -1}, keep_dims); });
    says("l2_normalize" + far, [&] { return l2_normalize<5>(m); });
    says("l2_normalize" + dynamic, [&] { return l2_normalize(x, -4); });
    says("clip_by_norm" + far, [&] { return clip_by_norm<5>(m, 1.f); });
    says("clip_by_norm" + twice, [&] { return clip_by_norm(y, 1.f, {1, -1}); });
    says("clip_by_norm: a null tensor was used", [] { return clip_by_norm(any_tensor(), 1.f); });
    says("softmax" + far, [&] { return softmax<5>(m); });
    says("log_softmax" + far, [&] { return log_softmax<5>(m); });
    says("log_softmax" + dynamic, [&] { return log_softmax(x, -4); });
    says("cosine_distance" + dynamic, [&] { return losses::cosine_distance(x, x, -4); });
    says("norm" + far, [&] { return norm<5>(m); });
    says("norm" + dynamic, [&] { return norm(x, {-4}); });
    says("norm" + far, [&] { return norm<5>(m, 1); });
    says("norm" + far, [&] { return norm<0, 5>(m, infinite_order); });
    says("norm" + twice, [&] { return norm(y, 1, {1, -1}); });
    says("norm: a null tensor was used", [] { return norm<0>(any_tensor()); });
    says("norm: the elements of 'ids:0' are int32",
         [] { return norm(any_placeholder("ids", dtype::int32, {2}), infinite_order); });
}

TEST_CASE("places: of numbers and names that can't be") {
    const graph g;
    const graph_scope here(g);
    const any_tensor m = any_placeholder("m", dtype::float32, {2, 3});
    placeholder<float, dyn> x("x");
    says("fill: the shape [?, 2] is not known", [&] { return fill(dims{dyn, 2}, 1.f); });
    const index_t many = index_t{1} << 30;
    says("fill: float32 [1073741824, 1073741824, 1073741824] is more than memory can hold",
         [&] { return fill(dims{many, many, many}, 1.f); });
    says("range: the step must not be 0", [&] { return range(0, 5, 0); });
    says("range: the step leads away from the limit", [&] { return range(3, 0, 1); });
    says("linspace: the number of values must be 1 or more", [&] { return linspace(0.f, 1.f, 0); });
    says("eye: an extent is negative", [&] { return eye<float>(-1); });
    says("dropout: the rate is 1.500000", [&] { return dropout(x, 1.5f); });
    says("bernoulli: p is 3.000000", [&] { return bernoulli<float, 2>({.p = 3}); });
    says("multinomial: the number of draws is negative", [&] { return multinomial(m, -1); });
    says("split: the number of parts must be 1 or more", [&] { return split(m, 0, 0); });
    says("variable 'v': the value has the shape [3], not [2]",
         [&] { return variable<float, 2>("v", {1.f, 2.f, 3.f}); });
    says("name_scope: 'a b' is not a valid name", [&] { return name_scope("a b").prefix(); });
    says("placeholder: 'a b' is not a valid name", [&] { return placeholder<float>("a b"); });
    says("get_variable: 'a b' is not a valid name", [&] { return get_variable<float>("a b"); });
    says("get_variable: 'layer/w' does not exist", [&] {
        const variable_scope again("layer", {.reuse = reuse::always});
        return get_variable<float, 2>("w");
    });
    says("device_scope: device name 'cpu': each part begins with '/'", [&] { device_scope on("cpu"); });
}

TEST_CASE("places: of nothing at all") {
    const graph g;
    const graph_scope here(g);
    const std::vector<any_tensor> none;
    placeholder<float, dyn> x("x");
    says("concat: no tensors were given", [&] { return concat(none, 0); });
    says("stack: no tensors were given", [&] { return stack(none, 0); });
    const fifo_queue<tensor<float>> q({.capacity = 1});
    says("add_queue_runner: there is no operation to run for 'fifo_queue'", [&] {
        add_queue_runner(q, {});
        return 0;
    });
    says("add_n: no tensors were given", [&] { return add_n(none); });
    says("global_norm: no tensors were given", [&] { return clip_by_global_norm(none, 1.f); });
    says("gradients: no ys were given", [&] { return gradients(none, none); });
    says("minimize: 'reduce_sum:0' depends on no trainable variable",
         [&] { return gradient_descent(0.1f).minimize(reduce_sum(x)); });
    says("apply_gradients: there are no gradients", [&] { return gradient_descent(0.1f).apply_gradients({}); });
}

TEST_CASE("places: of null handles") {
    const graph g;
    const graph_scope here(g);
    const any_tensor null, m = any_placeholder("m", dtype::float32, {2, 3});
    says("matmul: a null tensor was used", [&] { return matmul(null, m); });
    says("matmul: a null tensor was used", [&] { return matmul(m, null); });
    says("reduce_sum: a null tensor was used", [&] { return reduce_sum(null); });
    says("transpose: a null tensor was used", [&] { return transpose(null); });
    says("dot: a null tensor was used", [&] { return dot(null, m); });
    says("concat: a null tensor was used", [&] { return concat(std::vector<any_tensor>{m, null}, 0); });
    says("stack: a null tensor was used", [&] { return stack(std::vector<any_tensor>{m, null}, 0); });
    says("add_n: a null tensor was used", [&] { return add_n(std::vector<any_tensor>{m, null}); });
    says("gradients: a null tensor was used", [&] { return gradients(std::vector<any_tensor>{null}, {m}); });
    says("minimize: a null tensor was used", [&] { return gradient_descent(0.1f).minimize(null); });
    says("add: a null tensor was used beside 'm:0' (", [&] { return any_tensor(m + null); }); // operators have no place
    CHECK_THAT(message_of([&] { (void)any_tensor(tanh(null)); }), contains("tanh: a null tensor was used"));
    says("a null tensor was used", [&] {
        const tensor<float, 2> unset;
        return tensor(unset * 2.f);
    });
    says("feed: a null tensor was used", [&] { return feed(null, 1.f); });
}
