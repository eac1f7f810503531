# SPDX-License-Identifier: BSD-3-Clause
"""The rows of bench/gpu.cu in PyTorch (eager) and JAX (jit), on a machine with a GPU: `make bench-gpu`.

Each row is one line: its name, the framework, the median microseconds of a run. Further arguments name the rows wanted. A batch of runs
is waited for at its end, so that steps run ahead of Python, as they do in anyone's loop. Products are in float32, without TF32.
"""
import os
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import common  # noqa: E402

MANY = 100_000_000
BATCHES = 5
SECONDS = 0.1  # of a batch


def measure(run, finish):
    """Median seconds of one run."""
    def batch(count):
        begin = time.perf_counter()
        for _ in range(count):
            run()
        finish()
        return time.perf_counter() - begin
    batch(3)
    count = max(1, int(SECONDS / batch(1)))
    return statistics.median(batch(count) for _ in range(BATCHES)) / count


def print_rows(framework, rows, finish):
    for name, make in rows.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        try:
            print(f"{name:28} {framework:6} {measure(make(), finish) * 1e6:12.2f} us", flush=True)
        except Exception as problem:  # other rows may still work
            print(f"{name:28} {framework:6} failed: {type(problem).__name__}: {str(problem)[:200]}", flush=True)


def chain(x, tanh):
    return 0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x))) + 0.1 * x


def torch_rows():
    import torch
    from torch import nn
    from torch.nn import functional as F
    torch.backends.cuda.matmul.allow_tf32 = False
    drawn = lambda *shape: torch.rand(*shape, device="cuda") * 2 - 1

    def copy():
        x, y = drawn(MANY), drawn(MANY)
        return lambda: y.copy_(x)

    def value():
        x = drawn(MANY)
        return lambda: chain(x, torch.tanh)

    def gradient():
        x = drawn(MANY).requires_grad_()
        return lambda: torch.autograd.grad(chain(x, torch.tanh).sum(), x)[0]

    def sum_abcd():
        a, b, c, d = (drawn(MANY) for _ in range(4))
        return lambda: torch.sum(a * b + c * d).item()

    def summed(axis):
        x = drawn(10_000, 10_000)
        return lambda: x.sum(axis)

    def softmax():
        x = drawn(8192, 1024)
        return lambda: torch.softmax(x, 1)

    def matmul(n):
        a, b, c = drawn(n, n), drawn(n, n), drawn(n, n)
        return lambda: torch.matmul(a, b, out=c)

    def empty_run():
        identity = nn.Identity()
        return lambda: identity(torch.tensor(1.0, device="cuda")).item()

    def training(batch, widths, optimizer):
        layers = []
        for i, o in zip(widths, widths[1:]):
            layers += [nn.Linear(i, o), nn.ReLU()]
        model = nn.Sequential(*layers[:-1]).cuda()
        update = optimizer(model.parameters())
        images, ids = common.filled(batch, widths[0]), common.labels(batch, widths[-1]).astype("int64")

        def step():
            x, y = torch.from_numpy(images).cuda(), torch.from_numpy(ids).cuda()
            update.zero_grad()
            F.cross_entropy(model(x), y).backward()
            update.step()
        return step

    rows = {
        "copy_1e8": copy, "chain_1e8": value, "chain_grad_1e8": gradient, "sum_abcd_1e8": sum_abcd,
        "sum_columns_1e4x1e4": lambda: summed(0), "sum_rows_1e4x1e4": lambda: summed(1), "softmax_8192x1024": softmax,
        "matmul_4096": lambda: matmul(4096), "matmul_1024": lambda: matmul(1024), "empty_run": empty_run,
        "mlp_4_10_10_3": lambda: training(32, [4, 10, 10, 3], lambda p: torch.optim.SGD(p, lr=0.01)),
        "mlp_784_512_512_10_adam": lambda: training(128, [784, 512, 512, 10], lambda p: torch.optim.Adam(p, lr=0.001, fused=True)),
    }
    print_rows("torch", rows, torch.cuda.synchronize)


def jax_rows():
    import jax
    import jax.numpy as jnp
    import numpy as np
    jax.config.update("jax_default_matmul_precision", "highest")
    last = []

    def drawn(*shape):
        return jax.random.uniform(jax.random.key(7), shape, minval=-1, maxval=1)

    def compiled(function, *inputs):
        call = jax.jit(function)

        def run():
            last[:] = [call(*inputs)]
        return run

    def training(batch, widths, update, state_of):
        images, ids = common.filled(batch, widths[0]), common.labels(batch, widths[-1])

        def loss_of(layers, x, ids):
            *hidden, (w, b) = layers
            for hidden_w, hidden_b in hidden:
                x = jax.nn.relu(x @ hidden_w + hidden_b)
            chances = jax.nn.log_softmax(x @ w + b)
            return -jnp.mean(jnp.take_along_axis(chances, ids[:, None], axis=1))
        layers = [(jnp.array(common.weights(i, o)), jnp.zeros(o)) for i, o in zip(widths, widths[1:])]
        state = state_of(layers)
        one_step = jax.jit(lambda state, x, ids: update(state, jax.grad(loss_of)(state[0], x, ids)), donate_argnums=0)

        def step():
            nonlocal state
            state = one_step(state, images, ids)
            last[:] = [state]
        return step

    def sgd(state, gradients):
        return jax.tree.map(lambda p, g: p - 0.01 * g, state[0], gradients),

    def adam(state, gradients):
        parameters, m, v, t = state
        t += 1
        rate = 0.001 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
        return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, m, v), m, v, t

    def with_slots(layers):
        nothing = lambda: jax.tree.map(jnp.zeros_like, layers)
        return layers, nothing(), nothing(), jnp.zeros(())

    def empty_run():
        call = jax.jit(lambda x: x)
        return lambda: float(call(np.float32(1)))

    value = lambda x: chain(x, jnp.tanh)
    matmul = lambda n: compiled(jnp.matmul, drawn(n, n), drawn(n, n))
    rows = {
        "copy_1e8": lambda: compiled(lambda x: x + 0, drawn(MANY)), "chain_1e8": lambda: compiled(value, drawn(MANY)),
        "chain_grad_1e8": lambda: compiled(jax.grad(lambda x: jnp.sum(value(x))), drawn(MANY)),
        "sum_abcd_1e8": lambda: compiled(lambda a, b, c, d: jnp.sum(a * b + c * d), *(drawn(MANY) for _ in range(4))),
        "sum_columns_1e4x1e4": lambda: compiled(lambda x: x.sum(0), drawn(10_000, 10_000)),
        "sum_rows_1e4x1e4": lambda: compiled(lambda x: x.sum(1), drawn(10_000, 10_000)),
        "softmax_8192x1024": lambda: compiled(jax.nn.softmax, drawn(8192, 1024)),
        "matmul_4096": lambda: matmul(4096), "matmul_1024": lambda: matmul(1024), "empty_run": empty_run,
        "mlp_4_10_10_3": lambda: training(32, [4, 10, 10, 3], sgd, lambda layers: (layers,)),
        "mlp_784_512_512_10_adam": lambda: training(128, [784, 512, 512, 10], adam, with_slots),
    }
    print_rows("jax", rows, lambda: jax.block_until_ready(last))


if __name__ == "__main__":
    {"torch": torch_rows, "jax": jax_rows}[sys.argv[1]]()
