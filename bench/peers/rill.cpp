// SPDX-License-Identifier: BSD-3-Clause
// The rows in rill: graphs and sessions with prepared callables, on the caller's thread; on all with the argument `threads`.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <rill/rill.hpp>
#ifdef PEERS_REMOTE // rows with a parameter server
#include <sched.h>

#include <rill/distributed.hpp>

#include "../../examples/child_process.hpp"
#endif

#include "../pendulum.hpp"
#include "common.hpp"

using namespace rill;
using peers::numbers;
using peers::row;
using peers::used;

namespace {

constexpr int nodes = 50'000; // of the chains
int threads = 0;              // of sessions

/// The session of the current graph. Rows share it with the closures that run it.
std::shared_ptr<session> new_session() {
    return std::make_shared<session>(current_graph(),
                                     session_options{.inter_op_threads = threads, .intra_op_threads = threads});
}
/// The same with variables that have their first values.
std::shared_ptr<session> initialized() {
    auto s = new_session();
    s->run(global_variables_initializer());
    return s;
}

row empty_callable() {
    placeholder<float> x("x");
    auto s = new_session();
    auto run = [s, call = s->make_callable(identity(x), x)] { return std::get<0>(call(1.f)); };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
row empty_run() {
    placeholder<float> x("x");
    auto run = [s = new_session(), x, y = identity(x)] { return s->run(y, feed(x, 1.f)); };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}

template <class Loss, class X, class Y, class Xs, class Ys>
row training(const Loss& loss, const operation& train, const X& x, const Y& y, Xs xs, Ys ys) {
    auto s = initialized();
    return peers::training([=, step = s->make_callable(train, x, y)] { step(xs, ys); },
                           [=] { return double{s->run(loss, feed(x, xs), feed(y, ys))}; });
}

row linear_regression() {
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    tensor loss = reduce_mean(square(w * x + b - y));
    return training(loss, gradient_descent(0.05f).minimize(loss), x, y, peers::filled(100), peers::filled(100, 1));
}

template <index_t In, index_t Out, class X> auto layer(const X& x) {
    return dense<In, Out>("layer_" + std::to_string(In) + "_" + std::to_string(Out), x, peers::weights(In, Out));
}
template <index_t In, index_t Out, class X> auto network(const X& x) { return layer<In, Out>(x); }
template <index_t In, index_t Hidden, index_t Next, index_t... Rest, class X> auto network(const X& x) {
    return network<Hidden, Next, Rest...>(relu(layer<In, Hidden>(x)));
}
template <index_t In, index_t... Rest, class Optimizer> row mlp(int batch, const Optimizer& optimizer) {
    constexpr index_t classes = std::array{Rest...}.back();
    placeholder<float, dyn, In> x("x");
    placeholder<int, dyn> label("label");
    tensor loss = reduce_mean(sparse_softmax_cross_entropy(network<In, Rest...>(x), label));
    return training(loss, optimizer.minimize(loss), x, label, peers::filled(batch * In), peers::labels(batch, classes));
}

/// Two convolutions with pools, two dense layers: the network of many introductions.
row lenet() {
    constexpr window same{.padding = padding::same}, pool{.size = {2, 2}};
    placeholder<float, dyn, 28, 28, 1> x("x");
    placeholder<int, dyn> label("label");
    variable<float, 5, 5, 1, 32> f1("f1", peers::filters(5, 5, 1, 32));
    variable<float, 5, 5, 32, 64> f2("f2", peers::filters(5, 5, 32, 64));
    variable<float, 32> b1("b1", 0.f);
    variable<float, 64> b2("b2", 0.f);
    const tensor first = max_pool<pool>(relu(conv2d<same>(x, f1) + b1));
    const tensor second = max_pool<pool>(relu(conv2d<same>(first, f2) + b2));
    tensor loss = reduce_mean(sparse_softmax_cross_entropy(network<3136, 1024, 10>(reshape<dyn, 3136>(second)), label));
    return training(loss, gradient_descent(0.01f).minimize(loss), x, label, peers::filled(64 * 28 * 28),
                    peers::labels(64, 10));
}
/// A convolution and both of its gradients, of each the sum of squares.
row convolution() {
    variable<float, 32, 56, 56, 64> x("x", peers::filled(32 * 56 * 56 * 64)),
        g("g", peers::filled(32 * 56 * 56 * 64, 1));
    variable<float, 3, 3, 64, 64> f("f", peers::filters(3, 3, 64, 64));
    const tensor y = conv2d<window{.padding = padding::same}>(x, f);
    const auto [dx, df] = gradients(reduce_sum(y * g), x, f);
    auto s = initialized();
    auto run = [s, call = s->make_callable(std::tuple(reduce_sum(square(y)), reduce_sum(square(dx)),
                                                      reduce_sum(square(df))))] { return call(); };
    return peers::steps(
        [=] {
            const auto [a, b, c] = run();
            return numbers{a, b, c};
        },
        [=] { used(run()); });
}
/// Two layers of LSTM over sequences with lengths of their own.
row stacked_lstm() {
    placeholder<float, dyn, 28, 28> x("x");
    placeholder<int, dyn> n("n"), label("label");
    const auto first = [](index_t in) {
        const auto kernel = peers::weights(in + 128, 4 * 128);
        return lstm_options{.kernel_initializer =
                                constant_initializer(std::vector<double>(kernel.begin(), kernel.end()))};
    };
    const stacked_cells cells(lstm_cell<28, 128>("lower", first(28)), lstm_cell<128, 128>("upper", first(128)));
    const auto [outputs, state] = dynamic_rnn(cells, x, {.lengths = n});
    tensor loss = reduce_mean(sparse_softmax_cross_entropy(layer<128, 10>(std::get<1>(std::get<1>(state))), label));
    auto s = initialized();
    const auto xs = peers::filled(64 * 28 * 28);
    const auto ids = peers::labels(64, 10), lengths = peers::sequence_lengths();
    const auto train = gradient_descent(0.01f).minimize(loss);
    return peers::training([=, step = s->make_callable(train, x, n, label)] { step(xs, lengths, ids); },
                           [=] { return double{s->run(loss, feed(x, xs), feed(n, lengths), feed(label, ids))}; });
}
row lstm() {
    placeholder<float, dyn, 28, 28> x("x");
    placeholder<int, dyn> label("label");
    const auto kernel = peers::weights(28 + 128, 4 * 128);
    const lstm_cell<28, 128> cell(
        "lstm", {.kernel_initializer = constant_initializer(std::vector<double>(kernel.begin(), kernel.end()))});
    const auto [outputs, state] = dynamic_rnn(cell, x);
    tensor loss = reduce_mean(sparse_softmax_cross_entropy(layer<128, 10>(std::get<1>(state)), label));
    return training(loss, gradient_descent(0.01f).minimize(loss), x, label, peers::filled(64 * 28 * 28),
                    peers::labels(64, 10));
}

/// Rows of a table, trained towards given ones: what is touched does not depend on how many rows there are.
template <index_t N> row embedding() {
    placeholder<int, dyn> ids("ids");
    placeholder<float, dyn, 64> wanted("wanted");
    variable<float, N, 64> table("table", constant_initializer(0.5));
    tensor loss = reduce_mean(square(gather(table, ids) - wanted));
    return training(loss, adagrad(0.05f).minimize(loss), ids, wanted, peers::table_ids(N), peers::filled(1'000 * 64));
}

template <class X> auto gelu(const X& x) {
    return 0.5f * x * (1.f + tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}

/// A fetched array each time.
template <class Y, class Check> row fetched(const Y& y, Check check) {
    auto s = initialized();
    auto run = [s, call = s->make_callable(y)] { return std::get<0>(call()); };
    return peers::steps([=] { return check(run()); }, [=] { used(run()); });
}
numbers of_array(const auto& y) { return peers::of_array({y.data(), y.size()}); }
numbers of_scalar(float y) { return {y}; }

template <index_t N> row gelu_value() {
    variable<float, N> x("x", peers::filled(N));
    return fetched(gelu(x), [](const auto& y) { return of_array(y); });
}
template <index_t N> row gelu_grad() {
    variable<float, N> x("x", peers::filled(N));
    const auto [slope] = gradients(reduce_sum(gelu(x)), x);
    return fetched(slope, [](const auto& y) { return of_array(y); });
}
/// Into an array that is there, as by hand.
template <index_t N, class Y> row placed(const Y& y) {
    auto s = initialized();
    auto array = std::make_shared<xt::xtensor<float, 1>>(std::array{static_cast<std::size_t>(N)}, 0.f);
    auto run = [s, array, fill = s->make_callable(y).into(*array)] { fill(); };
    return peers::steps([=] { return run(), of_array(*array); }, run);
}
template <index_t N> row gelu_into() {
    variable<float, N> x("x", peers::filled(N));
    return placed<N>(gelu(x));
}
template <index_t N> row gelu_grad_into() {
    variable<float, N> x("x", peers::filled(N));
    const auto [slope] = gradients(reduce_sum(gelu(x)), x);
    return placed<N>(slope);
}
template <index_t N> row gelu_grad_sum() {
    variable<float, N> x("x", peers::filled(N));
    const auto [slope] = gradients(reduce_sum(gelu(x)), x);
    return fetched(reduce_sum(slope), of_scalar);
}
template <index_t N> row sum_abcd() {
    variable<float, N> a("a", peers::filled(N)), b("b", peers::filled(N, 1)), c("c", peers::filled(N, 2)),
        d("d", peers::filled(N, 3));
    return fetched(reduce_sum(a * b + c * d), of_scalar);
}
/// A variable written by an expression over another: replaced, or added to.
template <index_t N> row written(bool add) {
    variable<float, N> x("x", peers::filled(N)), out("out", zeros());
    auto s = initialized();
    auto step = s->make_callable(group(add ? out.assign_add(gelu(x)) : out.assign(gelu(x))));
    return peers::steps(
        [=, zero = operation(out.initializer())] {
            s->run(zero);
            step();
            return of_array(s->run(out));
        },
        [=] { step(); });
}
template <index_t N> row product() {
    variable<float, N, N> a("a", peers::filled(N * N)), b("b", peers::filled(N * N, 1));
    return fetched(matmul(a, b), [](const auto& c) { return peers::of_product({c.data(), c.size()}); });
}

/// A number for a number.
template <class Y> row called(const Y& y, const placeholder<float>& x, float value) {
    auto s = new_session();
    auto run = [s, call = s->make_callable(y, x), value] { return std::get<0>(call(value)); };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
row cond_scalar() {
    placeholder<float> x("x");
    return called(cond(x > 0.f, [&] { return sin(x); }, [&] { return x * 2.f; }), x, 1.f);
}
/// A number into a queue, and out of it.
row queue_pair() {
    const fifo_queue<tensor<float>> q({.capacity = 10});
    placeholder<float> x("x");
    const auto s = std::make_shared<session>();
    const auto put = s->make_callable(q.enqueue(x), x);
    const auto take = s->make_callable(std::tuple(q.dequeue()));
    const auto run = [=] {
        put(1.f);
        return std::get<0>(take());
    };
    return peers::steps([s, run] { return numbers{run()}; }, [s, run] { used(run()); });
}
/// A thousand elements of 64 numbers in, and out as one batch.
row queue_batch() {
    const fifo_queue<tensor<float, 64>> q({.capacity = 1'000});
    placeholder<float, 1'000, 64> x("x");
    const auto s = std::make_shared<session>();
    const auto put = s->make_callable(q.enqueue_many(x), x);
    const auto take = s->make_callable(std::tuple(q.dequeue_many<1'000>()));
    const xt::xtensor<float, 2> values(std::array<std::size_t, 2>{1'000, 64}, 0.5f);
    const auto run = [=] {
        put(values);
        return std::get<0>(take());
    };
    return peers::steps([s, run] { return numbers{xt::sum(run())()}; }, [s, run] { used(run()(999, 63)); });
}
/// A thousand numbers from a thread's session to another's, through a queue of 100.
row queue_sessions() {
    const fifo_queue<tensor<float>> q({.capacity = 100, .shared_name = "between"});
    placeholder<float> x("x");
    const auto producer = std::make_shared<session>(), consumer = std::make_shared<session>();
    const auto put = producer->make_callable(q.enqueue(x), x);
    const auto take = consumer->make_callable(std::tuple(q.dequeue()));
    const auto run = [=] {
        std::thread puts([&] {
            for (int i = 0; i < 1'000; ++i) put(static_cast<float>(i));
        });
        float sum = 0;
        for (int i = 0; i < 1'000; ++i) sum += std::get<0>(take());
        puts.join();
        return sum;
    };
    return peers::steps([producer, consumer, run] { return numbers{run()}; },
                        [producer, consumer, run] { used(run()); });
}
row while_scalar() {
    placeholder<float> x("x");
    const auto [count, total] = while_loop([](auto i, auto) { return i < 1'000; },
                                           [](auto i, auto t) { return std::tuple(i + 1, t + cast<float>(i)); }, 0, x);
    return called(total, x, 1.f);
}
row while_scalar_grad() {
    placeholder<float> x("x");
    const auto [count, y] = while_loop([](auto i, auto) { return i < 1'000; },
                                       [&](auto i, auto v) { return std::tuple(i + 1, sin(v * x)); }, 0, 1.f);
    const auto [slope] = gradients(y, x);
    return called(slope, x, 1.3f);
}
template <std::size_t Order> row pendulum_of() {
    placeholder<float> angle("angle");
    auto y = pendulum::after_steps<tensor<float>>(angle, constant(0.f));
    for (std::size_t i = 0; i < Order; ++i) y = std::get<0>(gradients(y, angle));
    return called(y, angle, 1.f);
}

struct rnn {
    variable<float, 100, 32, 32> inputs{"inputs", peers::filled(100 * 32 * 32)};
    variable<float, 32, 32> w{"w", peers::weights(32, 32)}, u{"u", peers::rnn_state_weights()};

    auto states() const {
        return scan([&](auto h, auto in) { return tanh(matmul(in, w) + matmul(h, u)); }, zeros<float, 32, 32>(),
                    inputs);
    }
};
row scan_rnn() {
    return fetched(rnn().states(), [](const auto& y) { return peers::of_product({y.data(), y.size()}); });
}
row scan_rnn_grad() {
    const rnn r;
    auto s = initialized();
    auto run = [s, call = s->make_callable(gradients(reduce_mean(square(r.states())), r.w, r.u))] { return call(); };
    return peers::steps(
        [=] {
            const auto [dw, du] = run();
            return peers::of_products({{dw.data(), dw.size()}, {du.data(), du.size()}});
        },
        [=] { used(run()); });
}
/// A thousand steps in one call.
row train_in_graph() {
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    const auto done = while_loop([](auto i) { return i < 1'000; },
                                 [&](auto i) {
                                     gradient_descent(0.05f).minimize(reduce_mean(square(w * x + b - y)));
                                     return i + 1;
                                 },
                                 0);
    auto s = initialized();
    auto run = [s, call = s->make_callable(done, x, y), xs = peers::filled(100), ys = peers::filled(100, 1)] {
        call(xs, ys);
    };
    return peers::steps(
        [=, anew = operation(global_variables_initializer())] {
            s->run(anew);
            run();
            const auto [wv, bv] = s->run(std::tuple(w, b));
            return numbers{wv, bv};
        },
        run);
}

/// Assignment seals: two nodes a turn.
tensor<float> chain(const tensor<float>& x) {
    tensor<float> y = x;
    for (int i = 0; i < nodes / 2; ++i) {
        y = y * 1.0001f;
        y = y + x;
    }
    return y;
}
/// Seconds and value of a graph's first run.
std::pair<double, double> first_run(const tensor<float>& y, const tensor<float>& x) {
    const auto s = new_session();
    double value = 0;
    const double seconds = peers::seconds_of([&] { value = s->run(y, feed(x, 1.f)); });
    return {seconds, peers::relative_to_chain(value, nodes)};
}
/// Runs work(x) on a placeholder of a new graph.
template <class Work> auto in_new_graph(const Work& work) {
    graph g;
    graph_scope here(g);
    return work(placeholder<float>("x"));
}
std::pair<double, tensor<float>> slope_of_chain(const tensor<float>& x) {
    const auto y = chain(x);
    tensor<float> slope;
    const double seconds = peers::seconds_of([&] { slope = std::get<0>(gradients(y, x)); });
    return {seconds, slope};
}
row chain_build() { // chain_first_run checks its value
    return {[] { return numbers{}; },
            {},
            [] { return in_new_graph([](const auto& x) { return peers::seconds_of([&] { used(chain(x)); }); }); }};
}
row chain_gradients() {
    return {[] {
                return in_new_graph(
                    [](const auto& x) { return numbers{first_run(slope_of_chain(x).second, x).second}; });
            },
            {},
            [] { return in_new_graph([](const auto& x) { return slope_of_chain(x).first; }); }};
}
row chain_first_run() {
    const auto run = [] { return in_new_graph([](const auto& x) { return first_run(chain(x), x); }); };
    return {[=] { return numbers{run().second}; }, {}, [=] { return run().first; }};
}

#ifdef PEERS_REMOTE
/// A worker in this process, and its parameter server, a process on another core.
struct remote {
    std::vector<std::string> at = free_addresses(2);
    child_process ps{"/proc/self/exe", {"server", at[0], at[1]}};
    server node{cluster_of(at), "worker", 0};
    session s{{.target = node.target()}};

    static cluster_spec cluster_of(const std::vector<std::string>& at) {
        return {{"ps", {at[0]}}, {"worker", {at[1]}}};
    }
    /// Runs the parameter server until the process is ended.
    static void serve(const std::vector<std::string>& at) {
        cpu_set_t all;
        CPU_ZERO(&all);
        for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) CPU_SET(i, &all);
        sched_setaffinity(0, sizeof all, &all);
        server(cluster_of(at), "ps", 0).join();
    }
};
row remote_empty_run() {
    const device_scope there("/job:ps/task:0");
    placeholder<float> x("x");
    const tensor y = identity(x);
    const auto r = std::make_shared<remote>();
    auto run = [r, call = r->s.make_callable(y, x)] { return std::get<0>(call(1.f)); };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
/// The variable comes to the worker, and what the worker makes of it is added.
template <index_t N> row remote_push_pull() {
    const auto v = [] {
        const device_scope there("/job:ps/task:0");
        return variable<float, N>("v", constant_initializer(0.5));
    }();
    const tensor change = [&] {
        const device_scope here("/job:worker/task:0");
        return tensor(v * 0.001f);
    }();
    const operation step = [&] {
        const device_scope there("/job:ps/task:0");
        return group(v.assign_add(change));
    }();
    const auto r = std::make_shared<remote>();
    const operation first(v.initializer());
    r->s.run(first);
    auto run = [r, call = r->s.make_callable(step)] { call(); };
    return peers::steps(
        [=] {
            r->s.run(first);
            for (int i = 0; i < 3; ++i) run();
            return of_array(r->s.run(v));
        },
        run);
}
#endif

/// A file in a folder that goes with the last row which reads it.
struct input_file {
    explicit input_file(const std::string& name)
        : folder(std::filesystem::temp_directory_path() / ("rill-peers-" + std::to_string(detail::random_bits()))),
          path((folder / name).string()) {
        std::filesystem::create_directories(folder);
    }
    input_file(const input_file&) = delete;
    ~input_file() { std::filesystem::remove_all(folder); }

    static constexpr int lines = 20'000;
    const std::filesystem::path folder;
    const std::string path;
};

row input_csv() {
    const auto file = std::make_shared<const input_file>("rows.csv");
    {
        std::ofstream out(file->path);
        for (int i = 0; i < input_file::lines; ++i) {
            for (int k = 0; k < 4; ++k) out << static_cast<double>((i * 37 + k * 11) % 1013) / 16 << ',';
            out << i % 7 << '\n';
        }
    }
    auto run = [file] {
        double sum = 0;
        for (const auto& [a, b, c, d, e] : dataset::csv<float, float, float, float, int>(file->path))
            sum += double(a) + double(d) + e;
        return sum;
    };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
row input_tfrecord() {
    const auto file = std::make_shared<const input_file>("rows.tfrecord");
    tf_record_writer out(file->path);
    for (int i = 0; i < input_file::lines; ++i)
        out.write(std::string(static_cast<std::size_t>(100 + i % 200), static_cast<char>(i % 256)));
    out.close();
    auto run = [file] {
        double sum = 0;
        for (const auto& record : dataset::tfrecord(file->path)) sum += static_cast<double>(record.size());
        return sum;
    };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
/// Batches of 100 after a map, a shuffle and a prefetch.
row input_pipeline() {
    const auto data = dataset::range(1 << 20)
                          .map([](std::int64_t x) { return static_cast<float>(x) * 0.5f; })
                          .shuffle(1000, 7)
                          .repeat();
    const auto next = data.batch<100>(drop_remainder).prefetch(2).make_one_shot_iterator().get_next();
    auto s = new_session();
    auto run = [s, call = s->make_callable(std::tuple(next))] { return std::get<0>(call()); };
    return peers::steps([=] { return numbers{static_cast<double>(run().size())}; }, [=] { used(run()); });
}

/// Each row gets a graph of its own, which its session keeps.
template <class Make> std::function<row()> fresh(const Make& make) {
    return [=] {
        graph g;
        graph_scope here(g);
        return make();
    };
}

const peers::row_list rows{
    {"empty_callable", fresh(empty_callable)},
    {"empty_run", fresh(empty_run)},
    {"linear_regression", fresh(linear_regression)},
    {"mlp_4_10_10_3", fresh([] { return mlp<4, 10, 10, 3>(32, gradient_descent(0.01f)); })},
    {"mlp_784_100_10", fresh([] { return mlp<784, 100, 10>(100, gradient_descent(0.01f)); })},
    {"mlp_784_512_512_10_sgd", fresh([] { return mlp<784, 512, 512, 10>(128, gradient_descent(0.01f)); })},
    {"mlp_784_512_512_10_adam", fresh([] { return mlp<784, 512, 512, 10>(128, adam(0.001f)); })},
    {"embedding_1e4", fresh(embedding<10'000>)},
    {"embedding_1e6", fresh(embedding<1'000'000>)},
    {"gelu_1e3", fresh(gelu_value<1'000>)},
    {"gelu_1e5", fresh(gelu_value<100'000>)},
    {"gelu_1e7", fresh(gelu_value<10'000'000>)},
    {"gelu_grad_1e3", fresh(gelu_grad<1'000>)},
    {"gelu_grad_1e5", fresh(gelu_grad<100'000>)},
    {"gelu_grad_1e7", fresh(gelu_grad<10'000'000>)},
    {"gelu_into_1e7", fresh(gelu_into<10'000'000>)},
    {"gelu_grad_into_1e7", fresh(gelu_grad_into<10'000'000>)},
    {"gelu_grad_sum_1e7", fresh(gelu_grad_sum<10'000'000>)},
    {"sum_abcd_1e3", fresh(sum_abcd<1'000>)},
    {"sum_abcd_1e5", fresh(sum_abcd<100'000>)},
    {"sum_abcd_1e7", fresh(sum_abcd<10'000'000>)},
    {"assign_1e7", fresh([] { return written<10'000'000>(false); })},
    {"assign_add_1e7", fresh([] { return written<10'000'000>(true); })},
    {"matmul_256", fresh(product<256>)},
    {"matmul_1024", fresh(product<1024>)},
    {"cond_scalar", fresh(cond_scalar)},
    {"while_scalar_1e3", fresh(while_scalar)},
    {"while_scalar_grad_1e3", fresh(while_scalar_grad)},
    {"scan_rnn_100x32", fresh(scan_rnn)},
    {"scan_rnn_grad_100x32", fresh(scan_rnn_grad)},
    {"train_in_graph_1e3", fresh(train_in_graph)},
    {"pendulum", fresh(pendulum_of<0>)},
    {"pendulum_grad", fresh(pendulum_of<1>)},
    {"pendulum_second", fresh(pendulum_of<2>)},
    {"queue_pair", fresh(queue_pair)},
    {"queue_batch", fresh(queue_batch)},
    {"queue_sessions_1e3", fresh(queue_sessions)},
    {"lenet_64", fresh(lenet)},
    {"conv_3x3_64", fresh(convolution)},
    {"lstm_28x128", fresh(lstm)},
    {"lstm_2x128_lengths", fresh(stacked_lstm)},
    {"input_csv", fresh(input_csv)},
    {"input_csv_pandas", fresh(input_csv)},
    {"input_tfrecord", fresh(input_tfrecord)},
    {"input_pipeline", fresh(input_pipeline)},
#ifdef PEERS_REMOTE
    {"remote_empty_run", fresh(remote_empty_run)},
    {"remote_push_pull_1e2", fresh(remote_push_pull<100>)},
    {"remote_push_pull_1e5", fresh(remote_push_pull<100'000>)},
    {"remote_push_pull_1e7", fresh(remote_push_pull<10'000'000>)},
#endif
    {"chain_build", chain_build},
    {"chain_gradients", chain_gradients},
    {"chain_first_run", chain_first_run},
};

} // namespace

int main(int count, char** arguments) {
    const std::string how = count > 1 ? arguments[1] : "";
    if (how == "threads") threads = -1; // as many as there are cores
#ifdef PEERS_REMOTE
    if (how == "server") return remote::serve({arguments + 2, arguments + count}), 0;
#endif
    if (how == "first")
        std::cout << session().run(constant(3.f) + constant(5.f)) << '\n';
    else
        peers::serve(rows);
}
