// SPDX-License-Identifier: BSD-3-Clause
// The forms of docs/coming_from.md: each stands in a line that ends with "// page", as the page shows it.
#include <rill/rill.hpp>

#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <rill/graph/serialization/serialization.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

namespace test_coming_from {

// clang-format off: a form is not broken into lines

TEST_CASE("coming from: tensors and ops") {
    const graph_scope here{graph()};
    const tensor x = constant({{1.f, 2.f, 3.f, 4.f}, {8.f, 7.f, 6.f, 5.f}});
    const tensor w = constant({{1.f, 0.f}, {0.f, 1.f}, {1.f, 0.f}, {0.f, 1.f}});
    const tensor a = constant({1.f, 2.f}), b = constant({3.f, 4.f});
    const tensor ids = constant({1, 0, 1});
    const session s;
    const auto text = [&](const any_tensor& y) { return to_string(s.run(y)); };

    CHECK(text(constant({{1.f, 2.f}})) == "float32 [1, 2] {{1, 2}}"); // page
    CHECK(text(zeros<float, 2, 3>()) == "float32 [2, 3] {{0, 0, 0}, {0, 0, 0}}"); // page
    CHECK(text(ones<float, 2>()) == "float32 [2] {1, 1}"); // page
    CHECK(text(fill<2, 2>(7.f)) == "float32 [2, 2] {{7, 7}, {7, 7}}"); // page
    CHECK(text(range(0, 10, 2)) == "int32 [5] {0, 2, 4, 6, 8}"); // page
    CHECK(text(eye<float, 2>()) == "float32 [2, 2] {{1, 0}, {0, 1}}"); // page
    CHECK(s.run(random_normal<float, 2, 3>({.stddev = 2.f, .seed = 7})).shape(1) == 3); // page
    CHECK(s.run(random_uniform<float, 2, 3>({.minval = 0.f, .maxval = 1.f})).shape(1) == 3); // page

    CHECK(text(a + b) == "float32 [2] {4, 6}"); // page
    CHECK(text(matmul(x, w)) == "float32 [2, 2] {{4, 6}, {14, 12}}"); // page
    CHECK(text(einsum<"ij,jk->ik">(x, w)) == "float32 [2, 2] {{4, 6}, {14, 12}}"); // page
    const tensor m = constant({{4.f, 0.f}, {0.f, 1.f}});
    const tensor c = constant({{8.f}, {3.f}});
    CHECK(text(matrix_inverse(m)) == "float32 [2, 2] {{0.25, 0}, {0, 1}}"); // page
    CHECK(text(matrix_solve(m, c)) == "float32 [2, 1] {{2}, {3}}"); // page
    CHECK(text(cholesky(m)) == "float32 [2, 2] {{2, 0}, {0, 1}}"); // page
    {
        const auto [values, u, v] = svd(m); // page
        CHECK(text(values) == "float32 [2] {4, 1}");
    }
    CHECK(s.run(norm(a)) == std::sqrt(5.f)); // page
    CHECK(s.run(transpose(x)).shape(0) == 4); // page
    CHECK(text(reshape<dyn, 2>(x)) == "float32 [4, 2] {{1, 2}, {3, 4}, {8, 7}, {6, 5}}"); // page
    CHECK(text(expand_dims<0>(a)) == "float32 [1, 2] {{1, 2}}"); // page
    CHECK(text(squeeze<0>(expand_dims<0>(a))) == "float32 [2] {1, 2}"); // page
    CHECK(text(concat<0>(a, b)) == "float32 [4] {1, 2, 3, 4}"); // page
    CHECK(text(stack<0>(a, b)) == "float32 [2, 2] {{1, 2}, {3, 4}}"); // page
    CHECK(text(std::get<0>(split<1, 2>(x))) == "float32 [2, 2] {{1, 2}, {8, 7}}"); // page
    CHECK(text(x(1)) == "float32 [4] {8, 7, 6, 5}"); // page
    CHECK(text(x(slice_range{0, 1})) == "float32 [1, 4] {{1, 2, 3, 4}}"); // page
    CHECK(text(tile<2>(a)) == "float32 [4] {1, 2, 1, 2}"); // page
    CHECK(text(pad<padding{1, 1}>(a)) == "float32 [4] {0, 1, 2, 0}"); // page
    CHECK(text(gather(a, ids)) == "float32 [3] {2, 1, 2}"); // page
    const tensor at = constant({{1, 0}, {0, 2}, {1, 0}});
    const tensor u = constant({1.f, 2.f, 4.f});
    CHECK(text(gather_nd(x, at)) == "float32 [3] {8, 3, 8}"); // page
    CHECK(text(scatter_nd<2, 3>(at, u)) == "float32 [2, 3] {{0, 0, 2}, {5, 0, 0}}"); // page
    CHECK(text(unsorted_segment_sum<3>(u, ids)) == "float32 [3] {2, 5, 0}"); // page
    CHECK(text(bincount(ids)) == "int32 [2] {1, 2}"); // page
    CHECK(text(roll<0>(u, 1)) == "float32 [3] {4, 1, 2}"); // page
    CHECK(text(u(all, new_axis)) == "float32 [3, 1] {{1}, {2}, {4}}"); // page
    CHECK(text(one_hot<3>(ids)) == "float32 [3, 3] {{0, 1, 0}, {1, 0, 0}, {0, 1, 0}}"); // page
    CHECK(text(select(a > 1.f, a, b)) == "float32 [2] {3, 2}"); // page
    CHECK(text(boolean_mask(a, a > 1.f)) == "float32 [1] {2}"); // page
    CHECK(text(cast<double>(a)) == "float64 [2] {1, 2}"); // page

    CHECK(s.run(reduce_sum(x)) == 36.f); // page
    CHECK(s.run(reduce_mean<0>(x))(0) == 4.5f); // page
    CHECK(text(reduce_max<1>(x, keep_dims)) == "float32 [2, 1] {{4}, {8}}"); // page
    CHECK(text(argmax<1>(x)) == "int32 [2] {3, 0}"); // page
    CHECK(text(cumsum<0>(a)) == "float32 [2] {1, 3}"); // page

    CHECK(text(relu(a - 1.f)) == "float32 [2] {0, 1}"); // page
    CHECK(s.run(sigmoid(a)).size() == 2); // page
    CHECK(s.run(gelu(a)).size() == 2); // page
    CHECK(s.run(softmax(x)).size() == 8); // page
    CHECK(text(clip(x, 2.f, 5.f)) == "float32 [2, 4] {{2, 2, 3, 4}, {5, 5, 5, 5}}"); // page
    CHECK(text(maximum(a, 2.f)) == "float32 [2] {2, 2}"); // page
    CHECK(s.run(dropout(x, 0.5f)).size() == 8); // page
}

TEST_CASE("coming from: models and sessions") {
    const graph g;
    const graph_scope use(g); // page
    g.set_seed(7); // page
    const placeholder<float, dyn, 4> x("x"); // page
    const placeholder<int, dyn> labels("labels");
    const variable<float, 4, 3> w("w", glorot_uniform()); // page
    const tensor<float, 3> bias = get_variable<float, 3>("bias", zeros()); // page
    const tensor y = matmul(x, w) + bias; // page
    const tensor logits = dense<3>("layer", relu(y)); // page
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, labels)); // page
    const auto train = adam(1e-3f).minimize(loss); // page

    session s; // page
    s.run(global_variables_initializer()); // page
    const xt::xtensor<float, 2> xs({5, 4}, 0.5f);
    const std::vector<int> ids{0, 1, 2, 1, 0};
    CHECK(s.run(y, feed(x, xs)).shape(1) == 3); // page
    const auto [l, predicted] = s.run(std::tuple(loss, logits), feed(x, xs), feed(labels, ids)); // page
    CHECK(predicted.shape(0) == 5);
    const auto step = s.make_callable(std::tuple(loss, train), x, labels); // page
    const auto [again] = step(xs, ids);
    CHECK(again == Approx(l));
    CHECK(s.run(fetch("x:0"), feed("x:0", xs)).shape() == dims{5, 4}); // page
    CHECK(s.run(y, feed(x, xs), {.timeout = std::chrono::seconds(50)}).size() == 15); // page
    const auto [traced, trace] = s.run_traced(y, feed(x, xs)); // page
    CHECK(traced.size() == 15);
    {
        const session_scope in(s); // page
        CHECK(y.eval(feed(x, xs)).size() == 15); // page
    }
    CHECK(trainable_variables().size() == 4); // page

    std::stringstream file;
    export_graph(with_values(s), file); // page
    const graph read = import_graph(file); // page
    CHECK(session(read).run(fetch("x:0"), feed("x:0", xs)).shape() == dims{5, 4});
}

TEST_CASE("coming from: losses, gradients and optimizers") {
    const graph_scope here{graph()};
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}), targets = constant({{1.f, 0.f}, {0.f, 1.f}});
    const variable<float, 2, 2> w("w", {{1.f, 0.f}, {0.f, 1.f}});
    const tensor y = matmul(x, w);
    session s;
    const auto runs = [&](const auto& what) { s.run(what); return true; };

    const auto loss = reduce_mean(square(y - targets)); // page
    const auto likelihood = reduce_mean(softmax_cross_entropy(y, targets)); // page
    const auto odds = reduce_mean(sigmoid_cross_entropy(y, targets)); // page
    const auto [dw] = gradients(loss, w); // page
    const auto [d2w] = gradients(dw, w); // page
    const auto fixed = stop_gradient(y); // page

    const auto by_gradient = gradient_descent(0.1f).minimize(loss); // page
    const auto by_momentum = momentum({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}).minimize(loss); // page
    const auto by_rmsprop = rmsprop(1e-3f).minimize(loss); // page
    const auto by_adamw = adamw({.learning_rate = 1e-3, .weight_decay = 0.01}).minimize(loss); // page
    const variable<std::int64_t> step("step", 0, {.trainable = false});
    const auto rate = exponential_decay(0.1f, step, 1000, 0.96); // page
    const adam by(rate); // page
    const partitioned_variable<float, 7, 2> table("t", 0.f, {.shards = 3}); // page
    const auto in_step = sync_replicas(adam(), {.replicas_to_aggregate = 2, .total_replicas = 3}); // page
    const auto near_each_other = bounded_staleness(adam(), {.bound = 3, .workers = 2}); // page
    const auto [clipped, norm] = clip_by_global_norm(by.compute_gradients(loss), 5.f); // page
    const auto train = by.apply_gradients(clipped, step); // page
    exponential_moving_average ema(0.999); // page
    const auto averages = ema.apply(); // page

    s.run(global_variables_initializer());
    CHECK((runs(loss) && runs(likelihood) && runs(odds) && runs(dw) && runs(d2w) && runs(fixed) && runs(norm)));
    CHECK((runs(by_gradient) && runs(by_momentum) && runs(by_rmsprop) && runs(by_adamw) && runs(train) && runs(averages)));
    const tensor rows = constant({{1.f, 1.f}});
    const tensor ids = constant({0});
    CHECK(runs(w.assign(w * 2.f))); // page
    CHECK(runs(w.assign_add(x))); // page
    CHECK(runs(w.scatter_add(ids, rows))); // page
    CHECK(runs(embedding_lookup(w, ids))); // page
}

TEST_CASE("coming from: control flow") {
    const graph_scope here{graph()};
    const tensor p = constant(3.f);
    const tensor n = constant(1);
    const tensor a = constant({1.f, 2.f}), b = constant({3.f, 4.f});
    const session s;
    const auto text = [&](const any_tensor& y) { return to_string(s.run(y)); };

    CHECK(s.run(cond(p > 0.f, [&] { return p * p; }, [&] { return -p; })) == 9.f); // page
    CHECK(text(switch_case(n, [&] { return a; }, [&] { return b; })) == "float32 [2] {3, 4}"); // page
    CHECK(s.run(while_loop([](auto i) { return i < 10; }, [](auto i) { return i + 3; }, 0)) == 12); // page
    CHECK(text(scan([](auto sum, auto in) { return sum + in; }, 0.f, a)) == "float32 [2] {1, 3}"); // page
    CHECK(text(map([](auto in) { return in * 2.f; }, a)) == "float32 [2] {2, 4}"); // page
    const auto f = function([](auto u, auto v) { return u * u + v; }); // page
    CHECK(text(f(a, b)) == "float32 [2] {4, 8}");
    const auto again = recompute([](auto in) { return tanh(in * in); }); // page
    CHECK(s.run(again(a)).size() == 2);
    CHECK(s.run(host_call<float>([](float v) { return v + 1.f; }, p)) == 4.f); // page
}

TEST_CASE("coming from: datasets and estimators") {
    const graph_scope here{graph()};
    const io_test::temporary_directory folder;
    const std::string run = folder.path();
    std::ofstream(run + "/some.csv") << "x,y\n1,2\n";
    const xt::xtensor<float, 2> image_rows{{1, 2}, {3, 4}};
    const std::vector<int> class_ids{0, 1};
    const auto pairs = dataset::from_tensor_slices(image_rows, class_ids); // page
    const auto data = pairs.shuffle(100, 7).repeat().batch<2>().prefetch(1); // page
    const auto [x, y] = data.make_one_shot_iterator().get_next(); // page
    const tensor line = constant("1,2");
    const auto [a, b] = decode_csv<float, int>(line, {0.f, 0}); // page
    const session s;
    CHECK(s.run(y).size() == 2);
    CHECK(s.run(b) == 2);
    for (const auto [u, v] : dataset::csv<float, int>(run + "/some.csv")) CHECK(u + static_cast<float>(v) == 3); // page
    const std::vector<feature_column> columns{numeric_column("x")};
    const dnn_classifier<hidden<10, 10>> model(columns, {.classes = 3}); // page
    CHECK(model.model_dir().empty());
}

TEST_CASE("coming from: queues, tables and scopes") {
    const graph_scope here{graph()};
    const tensor a = constant({1.f, 2.f});
    const tensor rows = constant({{1.f, 2.f}, {3.f, 4.f}});
    const session s;
    const fifo_queue<tensor<float, 2>> q({.capacity = 10}); // page
    const random_shuffle_queue<tensor<float, 2>> shuffled({.capacity = 10, .min_after_dequeue = 2}); // page
    s.run(q.enqueue(a)); // page
    s.run(q.enqueue_many(rows)); // page
    CHECK(s.run(q.dequeue())(1) == 2.f); // page
    CHECK(s.run(q.dequeue_many<2>()).shape(0) == 2); // page
    s.run(q.close()); // page
    coordinator c; // page
    CHECK_FALSE(c.should_stop());
    const mutex lock("lock"); // page
    const hash_table<std::string, std::int64_t> table; // page
    CHECK(s.run(table.size()) == 0);

    const name_scope layer("layer"); // page
    const variable_scope tower("tower", {.reuse = reuse::automatic}); // page
    const device_scope on("/device:cpu:0"); // page
    const operation put = shuffled.enqueue(a);
    const control_dependencies after(put); // page
    CHECK(tensor(a * 2.f).device() == "/device:cpu:0");
}

TEST_CASE("coming from: networks") {
    const graph g;
    const graph_scope use(g);
    const placeholder<float, dyn, 8, 8, 1> image("image");
    const placeholder<int, dyn> label("label");
    const placeholder<bool> training("training");
    const variable<float, 3, 3, 1, 4> filter("filter", glorot_uniform());
    const variable<float, 3, 3, 4, 1> spread("spread", glorot_uniform());
    const session s;
    const auto h = conv2d<window{.strides = {2, 2}, .padding = padding::same}>(image, filter); // page
    const auto small = max_pool<window{.size = {2, 2}}>(h); // page
    const auto mean = avg_pool<window{.size = {2, 2}}>(h); // page
    const auto large = conv2d_transpose<window{.strides = {2, 2}, .padding = padding::same}>(mean, filter); // page
    const auto each = depthwise_conv2d<window{.padding = padding::same}>(h, spread); // page
    const auto flat = flatten(each); // page
    const auto [values, places] = top_k<3>(flat); // page
    const auto net = sequential(conv<6, window{.size = {3, 3}}>(activation::relu), flatten(), dense<10>(activation::linear)); // page
    const auto y = net("net", dropout(image, 0.5f, training)); // page
    const placeholder<float, dyn, 8, 8> rows("rows");
    const placeholder<int, dyn> lengths("lengths");
    const lstm_cell<8, 5> cell("lstm"); // page
    const auto [outputs, last] = dynamic_rnn(cell, rows, {.lengths = lengths}); // page
    const auto [both, ends] = bidirectional_rnn(cell, cell, rows); // page
    const auto [pairs, f_end, b_end] = static_bidirectional_rnn(cell, cell, unstack<1>(rows)); // page
    const auto at_ends = recurrent<lstm_cell<8, 5>, recurrent_output::last>()("rnn", rows); // page
    const stacked_cells deep(cell, gru_cell<5, 5>("gru")); // page
    const auto present = sequence_mask<8>(lengths); // page
    const auto turned = reverse_sequence(rows, lengths); // page
    const variable<float, 10, 5> classes("classes", glorot_uniform());
    const variable<float, 10> offsets("offsets", zeros());
    const tensor hidden = std::get<1>(last);
    const auto by_noise = nce_loss<3>(classes, offsets, label, hidden); // page
    const auto sampled = sampled_softmax_loss<3>(classes, offsets, label, hidden); // page
    const auto normal = batch_normalization(training)("bn", y); // page
    const auto loss = losses::sparse_softmax_cross_entropy(label, normal); // page
    const auto error = losses::mean_squared_error(y, normal, {.weights = 2.f}); // page
    const auto total = losses::get_total_loss(); // page
    const auto [accuracy, update] = metrics::accuracy(label, argmax<1>(normal)); // page
    const auto wide = dense<3>(activation::relu, {.kernel_regularizer = l2_regularizer(0.01)})("wide", y); // page
    std::optional<operation> trained;
    {
        const control_dependencies after(g.collection("update_ops")); // page
        const operation train = adam(1e-3f).minimize(total, {.variables = trainable_variables("net")}); // page
        trained = train;
    }
    s.run(global_variables_initializer());
    s.run(local_variables_initializer());
    const xt::xtensor<float, 4> images({2, 8, 8, 1}, 0.5f);
    const std::vector<int> labels{1, 2};
    const auto run = [&](const auto& what) { return s.run(what, feed(image, images), feed(label, labels), feed(training, true)); };
    run(*trained);
    CHECK(run(update) <= 1.f);
    CHECK(run(accuracy) <= 1.f);
    CHECK(run(tensor(loss + error)) > 0.f);
    CHECK(run(small).shape(1) == 2);
    CHECK(run(large).shape(3) == 1);
    CHECK(run(values).shape(1) == 3);
    CHECK(run(places).shape(1) == 3);
    CHECK(run(wide).shape(1) == 3);
    const xt::xtensor<float, 3> sequences({2, 8, 8}, 0.5f);
    const auto read = [&](const auto& what) {
        return s.run(what, feed(rows, sequences), feed(lengths, std::vector<int>{8, 3}), feed(label, labels));
    };
    CHECK(read(outputs)(1, 3, 0) == 0.f);
    CHECK(read(std::get<1>(both)).shape(2) == 5);
    CHECK(read(std::get<0>(std::get<0>(ends))).shape(1) == 5);
    CHECK(read(pairs.back()).shape(1) == 10);
    CHECK(read(at_ends).shape(1) == 5);
    CHECK(read(std::get<0>(deep(tensor(turned(all, 0)), deep.zero_state(2)))).shape(1) == 5);
    CHECK(read(present)(1, 2));
    CHECK(read(tensor(by_noise + sampled))(0) > 0.f);
    const io_test::temporary_directory folder;
    const std::string images_file = folder / "train-images-idx3-ubyte";
    any_array pixels(dtype::uint8, dims{1, 1, 2});
    static_cast<std::uint8_t*>(pixels.mutable_data())[0] = 0;
    static_cast<std::uint8_t*>(pixels.mutable_data())[1] = 255;
    write_idx(images_file, pixels);
    CHECK(read_idx<float, 3>(images_file, 1. / 255)(0, 0, 1) == 1.f); // page
}

TEST_CASE("coming from: eager") {
    CHECK(evaluate(2.f * constant({1.f, 2.f}))(1) == 4.f); // page
    auto f = value_and_grad([](auto w, auto x) { return reduce_sum(square(w * x)); }); // page
    const xt::xtensor<float, 1> w0{1.f, 2.f}, x0{3.f, 4.f};
    const auto [value, dw] = f(w0, x0);
    CHECK((value == Approx(73) && dw(0) == Approx(18)));
    const eager_variable<float, 2> w("w", zeros()); // page
    const eager_optimizer train(adam(0.01f), w); // page
    const auto step = train.minimize([](auto v) { return reduce_sum(square(v - 1.f)); }); // page
    CHECK(step() == Approx(2.f));
}

TEST_CASE("coming from: what is kept and shown") {
    const io_test::temporary_directory here;
    const std::string run = here.path();
    const graph_scope scope{graph()};
    const variable<float> w("w", 2.f);
    const tensor<float> p = w * 3.f;
    auto step = get_or_create_global_step(); // page
    const session s;
    s.run(global_variables_initializer());
    CHECK(saver().save(s, run + "/model", 7).ends_with(latest_checkpoint(run).substr(run.size()))); // page
    s.run(w.assign(0.f));
    saver().restore(s, latest_checkpoint(run)); // page
    CHECK(s.run(w) == 2);
    CHECK(s.run(step) == 0);
    scalar_summary("loss", p); // page
    event_writer log(run + "/logs"); // page
    log.add(s.run(merged_summaries()), 7); // page
    CHECK(freeze(s, {p}).size() > 0); // page
    CHECK(s.run(print(p, {p})) == 6); // page
    CHECK_NOTHROW(s.run(assert_less(p, 9.f))); // page
    const monitored_session m({.checkpoint_dir = run, .stop_at_step = 9}); // page
    CHECK(m.global_step() == 0);
}

// clang-format on

} // namespace test_coming_from
