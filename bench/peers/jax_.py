# SPDX-License-Identifier: BSD-3-Clause
"""The rows in JAX: jit of whole steps, parameters donated to the step that replaces them."""
import math
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import jaxpr_as_fun

import common
from common import Once, Row

NODES = 5_000  # of the chains: tracing and compiling take too long for the 50,000 of the others
ONE = np.float32(1)


def empty_callable() -> Row:
    identity = jax.jit(lambda x: x).lower(ONE).compile()
    run = lambda: float(identity(ONE))
    return Row(lambda: [run()], run)


def empty_run() -> Row:
    identity = jax.jit(lambda x: x)
    run = lambda: float(identity(ONE))
    return Row(lambda: [run()], run)


def training(loss_of, update, state, fed: tuple) -> Row:
    """`state` begins with the parameters. Steps run ahead of Python, as they do in anyone's loop; a batch is waited for."""
    @partial(jax.jit, donate_argnums=0)
    def one_step(state, *fed):
        return update(state, jax.grad(loss_of)(state[0], *fed))

    def step():
        nonlocal state
        state = one_step(state, *fed)
    return Row(lambda: common.of_training(step, lambda: jax.jit(loss_of)(state[0], *fed)), step,
               lambda: jax.block_until_ready(state))


def sgd(rate: float, state, gradients):
    return jax.tree.map(lambda p, g: p - rate * g, state[0], gradients),


def adam(state, gradients):
    """TensorFlow 1's form: the bias correction in the rate, epsilon outside of it."""
    parameters, m, v, t = state
    t += 1
    rate = 0.001 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
    return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, m, v), m, v, t


def linear_regression() -> Row:
    def loss_of(parameters, x, y):
        w, b = parameters
        return jnp.mean(jnp.square(w * x + b - y))
    return training(loss_of, partial(sgd, 0.05), ((jnp.zeros(()), jnp.zeros(())),),
                    (common.filled(100), common.filled(100, salt=1)))


def mlp(row: str) -> Row:
    images, ids, layers = common.mlp_data(row)

    def loss_of(layers, x, ids):
        *hidden, (w, b) = layers
        for hidden_w, hidden_b in hidden:
            x = jax.nn.relu(x @ hidden_w + hidden_b)
        return cross_entropy(x @ w + b, ids)

    layers = jax.tree.map(jnp.array, layers)
    if not row.endswith("adam"):
        return training(loss_of, partial(sgd, 0.01), (layers,), (images, ids))
    nothing = lambda: jax.tree.map(jnp.zeros_like, layers)
    return training(loss_of, adam, (layers, nothing(), nothing(), jnp.zeros(())), (images, ids))


def convolved(x, f):
    return lax.conv_general_dilated(x, f, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cross_entropy(logits, ids):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), ids[:, None], axis=1))


def lenet_64() -> Row:
    images, ids, layers = common.lenet_data()

    def loss_of(layers, x, ids):
        (f1, b1), (f2, b2), (w1, b3), (w2, b4) = layers
        pool = lambda h: lax.reduce_window(jax.nn.relu(h), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = pool(convolved(x, f1) + b1)
        x = pool(convolved(x, f2) + b2)
        return cross_entropy(jax.nn.relu(x.reshape(-1, 3136) @ w1 + b3) @ w2 + b4, ids)
    return training(loss_of, partial(sgd, 0.01), (jax.tree.map(jnp.array, layers),), (images, ids))


def conv_3x3_64() -> Row:
    """A convolution and both of its gradients, of each the sum of squares."""
    def function(x, f, g):
        y, pullback = jax.vjp(convolved, x, f)
        return [jnp.sum(jnp.square(v)) for v in (y, *pullback(g))]
    compiled, data = jax.jit(function), [jnp.array(a) for a in common.convolution_data()]
    run = lambda: jax.block_until_ready(compiled(*data))
    return Row(lambda: [float(v) for v in run()], run)


def lstm_28x128() -> Row:
    sequences, ids, parameters = common.lstm_data()

    def loss_of(parameters, x, ids):
        kernel, bias, w, b = parameters

        def step(state, x):
            c, h = state
            i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ kernel + bias, 4, 1)
            c = c * jax.nn.sigmoid(f + 1) + jax.nn.sigmoid(i) * jnp.tanh(j)
            return (c, jnp.tanh(c) * jax.nn.sigmoid(o)), None
        zeros = jnp.zeros((x.shape[0], 128))
        (_, h), _ = lax.scan(step, (zeros, zeros), jnp.swapaxes(x, 0, 1))
        return cross_entropy(h @ w + b, ids)
    return training(loss_of, partial(sgd, 0.01), (jax.tree.map(jnp.array, parameters),), (sequences, ids))


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def resident(function, inputs: list[np.ndarray], check=common.of_array) -> Row:
    """A function of arrays that live on the device, waited for each time."""
    compiled, inputs = jax.jit(function), [jnp.array(x) for x in inputs]
    run = lambda: compiled(*inputs).block_until_ready()
    return Row(lambda: check(run()), run)


def gelu_value(n: int) -> Row:
    return resident(gelu, [common.filled(n)])


def gelu_grad(n: int) -> Row:
    return resident(jax.grad(lambda x: jnp.sum(gelu(x))), [common.filled(n)])


def gelu_grad_sum(n: int) -> Row:
    return resident(lambda x: jnp.sum(jax.grad(lambda x: jnp.sum(gelu(x)))(x)), [common.filled(n)], lambda y: [float(y)])


def sum_abcd(n: int) -> Row:
    return resident(lambda a, b, c, d: jnp.sum(a * b + c * d), [common.filled(n, salt=salt) for salt in range(4)],
                    lambda y: [float(y)])


def written(n: int, add: bool) -> Row:
    """An array handed over to the step that replaces it."""
    step = jax.jit((lambda out, x: out + gelu(x)) if add else (lambda out, x: gelu(x)), donate_argnums=0, keep_unused=True)
    x, out = jnp.array(common.filled(n)), jnp.zeros(n)

    def run():
        nonlocal out
        out = step(out, x).block_until_ready()
        return out

    def check():
        nonlocal out
        out = jnp.zeros(n)
        return common.of_array(run())
    return Row(check, run)


def matmul(n: int) -> Row:
    return resident(jnp.matmul, [common.filled(n, n, salt=salt) for salt in range(2)], common.of_product)


def called(function, value: np.float32) -> Row:
    """A compiled call whose argument and result are numbers of the host's."""
    compiled = jax.jit(function)
    run = lambda: float(compiled(value))
    return Row(lambda: [run()], run)


def cond_scalar() -> Row:
    return called(lambda x: lax.cond(x > 0, jnp.sin, lambda x: x * 2, x), ONE)


def while_scalar_1e3() -> Row:
    return called(lambda x: lax.while_loop(lambda s: s[0] < 1_000, lambda s: (s[0] + 1, s[1] + s[0].astype(jnp.float32)),
                                           (0, x))[1], ONE)


def while_scalar_grad_1e3() -> Row:
    """Only loops of known length can be differentiated backwards: a scan without inputs."""
    value = lambda x: lax.scan(lambda y, _: (jnp.sin(y * x), None), jnp.ones(()), length=1_000)[0]
    return called(jax.grad(value), np.float32(1.3))


def pendulum_of(order: int) -> Row:
    value = lambda x: lax.scan(lambda s, _: (common.pendulum_step(*s, jnp.sin), None), (x, jnp.zeros(())), length=200)[0][0]
    for _ in range(order):
        value = jax.grad(value)
    return called(value, ONE)


pendulum, pendulum_grad, pendulum_second = (partial(pendulum_of, order) for order in range(3))


def rnn_states(inputs, w, u):
    def step(h, x):
        h = jnp.tanh(x @ w + h @ u)
        return h, h
    return lax.scan(step, jnp.zeros((32, 32)), inputs)[1]


def scan_rnn_100x32() -> Row:
    return resident(rnn_states, list(common.rnn_data()), common.of_product)


def scan_rnn_grad_100x32() -> Row:
    slopes = jax.grad(lambda w, u, inputs: jnp.mean(jnp.square(rnn_states(inputs, w, u))), argnums=(0, 1))
    inputs, w, u = map(jnp.array, common.rnn_data())
    compiled = jax.jit(slopes)
    run = lambda: jax.block_until_ready(compiled(w, u, inputs))
    return Row(lambda: common.of_products(run()), run)


def train_in_graph_1e3() -> Row:
    loss = lambda parameters, x, y: jnp.mean(jnp.square(parameters[0] * x + parameters[1] - y))

    @jax.jit
    def train(parameters, x, y):
        return lax.fori_loop(0, 1_000, lambda _, p: sgd(0.05, (p,), jax.grad(loss)(p, x, y))[0], parameters)
    begin = jnp.zeros(()), jnp.zeros(())
    run = lambda: jax.block_until_ready(train(begin, common.filled(100), common.filled(100, salt=1)))
    return Row(lambda: [float(v) for v in run()], run)


def chain(x):
    y = x
    for _ in range(NODES // 2):
        y = y * 1.0001
        y = y + x
    return y


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def traced(function):
    return jax.make_jaxpr(function)(ONE)


def chain_build() -> Once:
    # a function of its own each time: what is traced once is remembered
    return Once(list, lambda: timed(lambda: traced(lambda x: chain(x)))[0])  # chain_first_run checks its value


def gradient_of_chain():
    graph = traced(lambda x: chain(x))
    return timed(lambda: traced(jax.grad(lambda x: jaxpr_as_fun(graph)(x)[0])))


def chain_gradients() -> Once:
    return Once(lambda: common.relative_to_chain(jaxpr_as_fun(gradient_of_chain()[1])(ONE)[0], NODES),
                lambda: gradient_of_chain()[0])


def first_run_of_chain():
    graph = traced(lambda x: chain(x))
    return timed(lambda: float(jax.jit(jaxpr_as_fun(graph))(ONE)[0]))


def chain_first_run() -> Once:
    return Once(lambda: common.relative_to_chain(first_run_of_chain()[1], NODES), lambda: first_run_of_chain()[0])


if __name__ == "__main__":
    common.main(globals(), first=lambda: float(jnp.add(3.0, 5.0)))
