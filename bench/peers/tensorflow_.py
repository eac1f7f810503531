# SPDX-License-Identifier: BSD-3-Clause
"""The rows in TensorFlow: graphs and sessions with prepared callables, which take less per call than tf.function."""
import atexit
import os
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import tensorflow as tf

import common
from common import Once, Row

v1 = tf.compat.v1
ONE = np.float32(1)
NODES = 50_000  # of the chains


def session() -> v1.Session:
    return v1.Session(config=v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))


def empty_callable() -> Row:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        identity = session().make_callable(tf.identity(x), [x])
    run = lambda: identity(ONE)
    return Row(lambda: [float(run())], run)


def empty_run() -> Row:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        y, s = tf.identity(x), session()
    run = lambda: s.run(y, {x: ONE})
    return Row(lambda: [float(run())], run)


def training(loss: tf.Tensor, optimizer: v1.train.Optimizer, placeholders: list[tf.Tensor], fed: tuple) -> Row:
    train = optimizer.minimize(loss)
    s = session()
    s.run(v1.global_variables_initializer())
    one_step, loss_of = s.make_callable(train, placeholders), s.make_callable(loss, placeholders)
    step = lambda: one_step(*fed)
    return Row(lambda: common.of_training(step, lambda: loss_of(*fed)), step)


def linear_regression() -> Row:
    with tf.Graph().as_default():
        x, y = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [None])
        w, b = v1.Variable(0.0), v1.Variable(0.0)
        return training(tf.reduce_mean(tf.square(w * x + b - y)), v1.train.GradientDescentOptimizer(0.05), [x, y],
                        (common.filled(100), common.filled(100, salt=1)))


def mlp(row: str) -> Row:
    images, ids, layers = common.mlp_data(row)
    with tf.Graph().as_default():
        x, label = v1.placeholder(tf.float32, [None, images.shape[1]]), v1.placeholder(tf.int32, [None])
        *hidden, (w, b) = [(v1.Variable(w), v1.Variable(b)) for w, b in layers]
        h = x
        for hidden_w, hidden_b in hidden:
            h = tf.nn.relu(tf.matmul(h, hidden_w) + hidden_b)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, tf.matmul(h, w) + b))
        optimizer = v1.train.AdamOptimizer(0.001) if row.endswith("adam") else v1.train.GradientDescentOptimizer(0.01)
        return training(loss, optimizer, [x, label], (images, ids))


def lenet_64() -> Row:
    images, ids, layers = common.lenet_data()
    with tf.Graph().as_default():
        x, label = v1.placeholder(tf.float32, [None, 28, 28, 1]), v1.placeholder(tf.int32, [None])
        (f1, b1), (f2, b2), (w1, b3), (w2, b4) = [(v1.Variable(w), v1.Variable(b)) for w, b in layers]
        pool = lambda h: tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "VALID")
        h = pool(tf.nn.conv2d(x, f1, 1, "SAME") + b1)
        h = pool(tf.nn.conv2d(h, f2, 1, "SAME") + b2)
        h = tf.nn.relu(tf.matmul(tf.reshape(h, [-1, 3136]), w1) + b3)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, tf.matmul(h, w2) + b4))
        return training(loss, v1.train.GradientDescentOptimizer(0.01), [x, label], (images, ids))


def conv_3x3_64() -> Row:
    """A convolution and both of its gradients, of each the sum of squares."""
    def function(x, f, g):
        y = tf.nn.conv2d(x, f, 1, "SAME")
        return [tf.reduce_sum(tf.square(v)) for v in (y, *tf.gradients(y, [x, f], g))]
    return resident(function, list(common.convolution_data()), lambda sums: [float(v) for v in sums])


def lstm_28x128() -> Row:
    sequences, ids, parameters = common.lstm_data()
    with tf.Graph().as_default():
        x, label = v1.placeholder(tf.float32, [64, 28, 28]), v1.placeholder(tf.int32, [None])
        kernel, bias, w, b = [v1.Variable(p) for p in parameters]
        c = h = tf.zeros([64, 128])
        for step in tf.unstack(x, axis=1):
            i, j, f, o = tf.split(tf.matmul(tf.concat([step, h], 1), kernel) + bias, 4, 1)
            c = c * tf.sigmoid(f + 1) + tf.sigmoid(i) * tf.tanh(j)
            h = tf.tanh(c) * tf.sigmoid(o)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, tf.matmul(h, w) + b))
        return training(loss, v1.train.GradientDescentOptimizer(0.01), [x, label], (sequences, ids))


def lstm_2x128_lengths() -> Row:
    """Two layers, over sequences of their own lengths each: behind its end the state of a sequence stays. A loop in the graph, as dynamic_rnn is."""
    sequences, lengths, ids, layers, last = common.stacked_lstm_data()
    with tf.Graph().as_default():
        x, n, label = v1.placeholder(tf.float32, [64, 28, 28]), v1.placeholder(tf.int32, [64]), v1.placeholder(tf.int32, [None])
        gates = [[v1.Variable(p) for p in layer] for layer in layers]
        w, b = [v1.Variable(p) for p in last]
        steps = tf.TensorArray(tf.float32, 28).unstack(tf.transpose(x, [1, 0, 2]))

        def step(t, *state):
            y, following = steps.read(t), []
            for (kernel, bias), c, h in zip(gates, state[::2], state[1::2]):
                i, j, f, o = tf.split(tf.matmul(tf.concat([y, h], 1), kernel) + bias, 4, 1)
                next_c = c * tf.sigmoid(f + 1) + tf.sigmoid(i) * tf.tanh(j)
                y = tf.tanh(next_c) * tf.sigmoid(o)
                present = tf.expand_dims(t < n, 1)
                following += [tf.where(present, next_c, c), tf.where(present, y, h)]
            return [t + 1, *following]

        state = tf.while_loop(lambda t, *_: t < 28, step, [tf.constant(0)] + [tf.zeros([64, 128])] * 4)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, tf.matmul(state[-1], w) + b))
        return training(loss, v1.train.GradientDescentOptimizer(0.01), [x, n, label], (sequences, lengths, ids))


def embedding(n: int) -> Row:
    """The gradient is IndexedSlices: only the rows that were looked up are touched."""
    with tf.Graph().as_default():
        ids, wanted = v1.placeholder(tf.int32, [None]), v1.placeholder(tf.float32, [None, 64])
        table = v1.Variable(tf.fill([n, 64], 0.5), use_resource=True)
        loss = tf.reduce_mean(tf.square(tf.gather(table, ids) - wanted))
        return training(loss, v1.train.AdagradOptimizer(0.05), [ids, wanted],
                        (common.table_ids(n), common.filled(1_000, 64)))


def gelu(x):
    return 0.5 * x * (1 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def resident(function, inputs: list[np.ndarray], check=common.of_array) -> Row:
    """A function of variables, its value fetched as a NumPy array."""
    with tf.Graph().as_default():
        values = [v1.placeholder(tf.float32, x.shape) for x in inputs]  # not constants: graphs end at 2 GB
        variables = [v1.Variable(value, use_resource=True) for value in values]
        y = function(*(v.read_value() for v in variables))
        s = session()
        s.run(v1.global_variables_initializer(), dict(zip(values, inputs)))
        run = s.make_callable(y)
    return Row(lambda: check(run()), run)


def gelu_value(n: int) -> Row:
    return resident(gelu, [common.filled(n)])


def gelu_grad(n: int) -> Row:
    return resident(lambda x: tf.gradients(gelu(x), x)[0], [common.filled(n)])


def gelu_grad_sum(n: int) -> Row:
    return resident(lambda x: tf.reduce_sum(tf.gradients(gelu(x), x)[0]), [common.filled(n)], lambda y: [float(y)])


def sum_abcd(n: int) -> Row:
    return resident(lambda a, b, c, d: tf.reduce_sum(a * b + c * d), [common.filled(n, salt=salt) for salt in range(4)],
                    lambda y: [float(y)])


def written(n: int, add: bool) -> Row:
    """A variable written by an expression over another."""
    with tf.Graph().as_default():
        value = v1.placeholder(tf.float32, [n])
        x, out = v1.Variable(value, use_resource=True), v1.Variable(tf.zeros([n]), use_resource=True)
        y = gelu(x.read_value())
        step = out.assign_add(y, read_value=False) if add else out.assign(y, read_value=False)
        s = session()
        s.run(v1.global_variables_initializer(), {value: common.filled(n)})
        run, zero, read = s.make_callable(step), s.make_callable(out.initializer), s.make_callable(out.read_value())
    return Row(lambda: (zero(), run(), common.of_array(read()))[-1], run)


def matmul(n: int) -> Row:
    return resident(tf.matmul, [common.filled(n, n, salt=salt) for salt in range(2)], common.of_product)


def called(build, value: np.ndarray, check) -> Row:
    """A prepared call of what `build` makes of a placeholder."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, value.shape)
        call = session().make_callable(build(x), [x])
    run = lambda: call(value)
    return Row(lambda: check(run()), run)


def cond_scalar() -> Row:
    return called(lambda x: tf.cond(x > 0, lambda: tf.sin(x), lambda: x * 2), ONE, lambda y: [float(y)])


def queue_of(shape: list[int], capacity: int, values, many: int) -> Row:
    """In, and out: two callables."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [many, *shape] if many else shape)
        q, s = v1.FIFOQueue(capacity, [tf.float32], [shape]), session()
        put = s.make_callable(q.enqueue_many(x) if many else q.enqueue(x), [x])
        take = s.make_callable(q.dequeue_many(many) if many else q.dequeue())

    def run():
        put(values)
        return take()
    return Row(lambda: [float(np.sum(run()))], run)


def queue_pair() -> Row:
    return queue_of([], 10, ONE, 0)


def queue_batch() -> Row:
    return queue_of([64], 1_000, np.full((1_000, 64), 0.5, np.float32), 1_000)


def queue_sessions_1e3() -> Row:
    """Sessions share a queue through a server, which may be in the process."""
    target = v1.train.Server.create_local_server().target
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        q = v1.FIFOQueue(100, [tf.float32], [[]], shared_name="between")
        put = v1.Session(target).make_callable(q.enqueue(x), [x])
        take = v1.Session(target).make_callable(q.dequeue())

    def run():
        puts = threading.Thread(target=lambda: [put(np.float32(i)) for i in range(1000)])
        puts.start()
        total = sum(float(take()) for _ in range(1000))
        puts.join()
        return total
    return Row(lambda: [run()], run)


def parameter_server() -> tuple[v1.Session, object]:
    """A worker in this process, whose session is returned with what keeps its parameter server, a process on another core."""
    ports = common.free_ports(2)
    server = subprocess.Popen([sys.executable, __file__, "server", *map(str, ports)])
    atexit.register(server.kill)
    worker = v1.train.Server(cluster_of(ports), "worker", 0)
    return v1.Session(worker.target), (server, worker)


def cluster_of(ports) -> v1.train.ClusterSpec:
    return v1.train.ClusterSpec({"ps": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"]})


def remote_empty_run() -> Row:
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            x = v1.placeholder(tf.float32, [])
            y = tf.identity(x)
        s, keep = parameter_server()
        call = s.make_callable(y, [x])
    run = lambda: (float(call(ONE)), keep)[0]
    return Row(lambda: [run()], run)


def remote_push_pull(n: int) -> Row:
    """The variable comes to the worker, and what the worker makes of it is added."""
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = v1.Variable(tf.fill([n], 0.5), use_resource=True)
        with tf.device("/job:worker/task:0"):
            change = v.read_value() * 0.001
        with tf.device("/job:ps/task:0"):
            step = v.assign_add(change, read_value=False)
        s, keep = parameter_server()
        run, first, value = s.make_callable(step), s.make_callable(v.initializer), s.make_callable(v.read_value())

    def check():
        first()
        for _ in range(3):
            run()
        return (common.of_array(value()), keep)[0]
    first()
    return Row(check, run)


def while_scalar_1e3() -> Row:
    return called(lambda x: tf.while_loop(lambda i, t: i < 1_000, lambda i, t: (i + 1, t + tf.cast(i, tf.float32)),
                                          (tf.constant(0), x))[1], ONE, lambda y: [float(y)])


def while_scalar_grad_1e3() -> Row:
    def slope(x):
        _, y = tf.while_loop(lambda i, y: i < 1_000, lambda i, y: (i + 1, tf.sin(y * x)), (tf.constant(0), tf.constant(1.0)))
        return tf.gradients(y, x)[0]
    return called(slope, np.float32(1.3), lambda y: [float(y)])


def pendulum_of(order: int) -> Row:
    def value(x):
        angle, speed = x, tf.constant(0.0)
        for _ in range(200):
            angle, speed = common.pendulum_step(angle, speed, tf.sin)
        for _ in range(order):
            angle = tf.gradients(angle, x)[0]
        return angle
    return called(value, ONE, lambda y: [float(y)])


pendulum, pendulum_grad, pendulum_second = (partial(pendulum_of, order) for order in range(3))


def rnn_states(inputs, w, u):
    return tf.scan(lambda h, x: tf.tanh(tf.matmul(x, w) + tf.matmul(h, u)), inputs, tf.zeros([32, 32]))


def scan_rnn_100x32() -> Row:
    return resident(rnn_states, list(common.rnn_data()), common.of_product)


def scan_rnn_grad_100x32() -> Row:
    return resident(lambda inputs, w, u: tf.gradients(tf.reduce_mean(tf.square(rnn_states(inputs, w, u))), [w, u]),
                    list(common.rnn_data()), common.of_products)


def train_in_graph_1e3() -> Row:
    with tf.Graph().as_default():
        x, y = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [None])
        w, b = v1.Variable(0.0, use_resource=True), v1.Variable(0.0, use_resource=True)

        def body(i):
            loss = tf.reduce_mean(tf.square(w * x + b - y))
            with tf.control_dependencies([v1.train.GradientDescentOptimizer(0.05).minimize(loss, var_list=[w, b])]):
                return i + 1
        s = session()
        train = s.make_callable(tf.while_loop(lambda i: i < 1_000, body, [tf.constant(0)], parallel_iterations=1), [x, y])
        initialize, weights = s.make_callable(v1.global_variables_initializer()), s.make_callable([w, b])
    initialize()
    run = lambda: train(common.filled(100), common.filled(100, salt=1))
    return Row(lambda: (initialize(), run(), [float(v) for v in weights()])[-1], run)


def input_csv() -> Row:
    data = tf.data.experimental.CsvDataset(common.csv_file(), [tf.float32] * 4 + [tf.int32]).batch(100)

    def run():
        total = 0.0
        for a, _, _, d, e in data.as_numpy_iterator():
            total += float(a.sum(dtype=np.float64) + d.sum(dtype=np.float64) + e.sum())
        return total
    return Row(lambda: [run()], run)


def input_csv_pandas() -> Row:
    import pandas
    path = common.csv_file()

    def run():
        table = pandas.read_csv(path, header=None)
        return float(table[0].sum() + table[3].sum() + table[4].sum())
    return Row(lambda: [run()], run)


def input_tfrecord() -> Row:
    path = common.temporary("rows.tfrecord")
    with tf.io.TFRecordWriter(path) as out:
        for i in range(common.LINES):
            out.write(bytes([i % 256]) * (100 + i % 200))
    data = tf.data.TFRecordDataset(path).batch(100)
    run = lambda: float(sum(len(record) for batch in data.as_numpy_iterator() for record in batch))
    return Row(lambda: [run()], run)


def input_pipeline() -> Row:
    """Batches of 100 after a map, a shuffle and a prefetch."""
    with tf.Graph().as_default():
        data = tf.data.Dataset.range(1 << 20).map(lambda x: tf.cast(x, tf.float32) * 0.5).shuffle(1_000, 7).repeat()
        batch = v1.data.make_one_shot_iterator(data.batch(100, drop_remainder=True).prefetch(2)).get_next()
        run = session().make_callable(batch)
    return Row(lambda: [float(len(run()))], run)


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def chain():
    """A chain in the current graph."""
    x, factor = v1.placeholder(tf.float32, []), tf.constant(1.0001)
    y = x
    for _ in range(NODES // 2):
        y = y * factor
        y = y + x
    return x, y


def run_chain(y, x):
    """Seconds and value of a graph's first run."""
    with session() as s:
        return timed(lambda: s.run(y, {x: ONE}))


def chain_build() -> Once:
    def measure():
        with tf.Graph().as_default():
            return timed(chain)[0]
    return Once(list, measure)  # chain_first_run checks its value


def chain_gradients() -> Once:
    def slope():
        x, y = chain()
        seconds, (dx,) = timed(lambda: tf.gradients(y, x))
        return seconds, dx, x

    def value():
        with tf.Graph().as_default():
            _, dx, x = slope()
            return common.relative_to_chain(run_chain(dx, x)[1], NODES)

    def measure():
        with tf.Graph().as_default():
            return slope()[0]
    return Once(value, measure)


def chain_first_run() -> Once:
    def run():
        with tf.Graph().as_default():
            x, y = chain()
            return run_chain(y, x)
    return Once(lambda: common.relative_to_chain(run()[1], NODES), lambda: run()[0])


def first() -> float:
    with tf.Graph().as_default(), session() as s:
        return s.run(tf.constant(3.0) + tf.constant(5.0))


if __name__ == "__main__":
    if sys.argv[1:2] == ["server"]:
        os.sched_setaffinity(0, range(os.cpu_count()))
        v1.train.Server(cluster_of(sys.argv[2:]), "ps", 0).join()
    common.main(globals(), first)
