# SPDX-License-Identifier: BSD-3-Clause
"""The rows in PyTorch, eager. torch.compile would fuse more, but needs a compiler and Python's headers at run time."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

import common
from common import Row

torch.set_num_threads(1)
torch.set_num_interop_threads(1)


def empty_callable() -> Row:
    run = lambda: torch.tensor(1.0).item()
    return Row(lambda: [run()], run)


def empty_run() -> Row:
    x, identity = torch.tensor(1.0), nn.Identity()
    run = lambda: identity(x)
    return Row(lambda: [run().item()], run)


def training(loss_of, optimizer: torch.optim.Optimizer, fed: tuple, before_step=lambda: None) -> Row:
    """`fed` are host arrays; from_numpy shares their memory."""
    loss = lambda: loss_of(*map(torch.from_numpy, fed))

    def step():
        optimizer.zero_grad()
        loss().backward()
        before_step()
        optimizer.step()
    return Row(lambda: common.of_training(step, loss), step)


def linear_regression() -> Row:
    w, b = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
    return training(lambda x, y: torch.mean(torch.square(w * x + b - y)), torch.optim.SGD([w, b], lr=0.05),
                    (common.filled(100), common.filled(100, salt=1)))


def mlp(row: str) -> Row:
    images, ids, layers = common.mlp_data(row)
    modules: list[nn.Module] = []
    for w, b in layers:
        linear = nn.Linear(*w.shape)
        linear.weight.data, linear.bias.data = torch.from_numpy(w.T.copy()), torch.from_numpy(b.copy())
        modules += [linear, nn.ReLU()]
    model = nn.Sequential(*modules[:-1])
    loss_of = lambda x, y: F.cross_entropy(model(x), y)
    fed = images, ids.astype("int64")  # the type that PyTorch wants labels in
    if not row.endswith("adam"):
        return training(loss_of, torch.optim.SGD(model.parameters(), lr=0.01), fed)

    adam = torch.optim.Adam(model.parameters(), lr=0.001, fused=True)
    steps = 0

    def epsilon_outside():
        """PyTorch adds epsilon to sqrt(v) / sqrt(1 - beta2^t), we to sqrt(v): the same once epsilon is scaled."""
        nonlocal steps
        steps += 1
        adam.param_groups[0]["eps"] = 1e-8 / (1 - 0.999 ** steps) ** 0.5
    return training(loss_of, adam, fed, epsilon_outside)


def images_of(x: torch.Tensor) -> torch.Tensor:
    """[batch, height, width, channels] as PyTorch orders them."""
    return x.permute(0, 3, 1, 2).contiguous()


def filter_of(f) -> torch.Tensor:
    return torch.from_numpy(f).permute(3, 2, 0, 1).contiguous()


def lenet_64() -> Row:
    images, ids, layers = common.lenet_data()
    parameters = [nn.Parameter(p) for w, b in layers
                  for p in (filter_of(w) if w.ndim == 4 else torch.from_numpy(w.copy()), torch.from_numpy(b.copy()))]
    f1, b1, f2, b2, w1, b3, w2, b4 = parameters

    def loss_of(x, y):
        h = F.max_pool2d(F.relu(F.conv2d(x, f1, b1, padding=2)), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, f2, b2, padding=2)), 2)
        h = F.relu(h.permute(0, 2, 3, 1).reshape(-1, 3136) @ w1 + b3)
        return F.cross_entropy(h @ w2 + b4, y)
    fed = images_of(torch.from_numpy(images)).numpy(), ids.astype("int64")
    return training(loss_of, torch.optim.SGD(parameters, lr=0.01), fed)


def conv_3x3_64() -> Row:
    """A convolution and both of its gradients, of each the sum of squares."""
    x, f, g = common.convolution_data()
    x, g = (images_of(torch.from_numpy(a)) for a in (x, g))
    f = filter_of(f)
    x.requires_grad_(), f.requires_grad_()

    def run() -> list[float]:
        y = F.conv2d(x, f, padding=1)
        return [torch.sum(torch.square(v.detach())).item() for v in (y, *torch.autograd.grad(y, (x, f), g))]
    return Row(run, run)


def lstm_28x128() -> Row:
    """The bias of the states holds the forget bias, and is not trained."""
    sequences, ids, (kernel, bias, w, b) = common.lstm_data()
    kernel = torch.from_numpy(kernel)[:, torch.tensor([g * 128 + k for g in (0, 2, 1, 3) for k in range(128)])]  # i, f, j, o
    cells = nn.LSTM(28, 128, batch_first=True)
    cells.weight_ih_l0.data, cells.weight_hh_l0.data = kernel[:28].T.contiguous(), kernel[28:].T.contiguous()
    cells.bias_ih_l0.data, cells.bias_hh_l0.data = torch.zeros(512), torch.zeros(512)
    cells.bias_hh_l0.data[128:256] = 1
    cells.bias_hh_l0.requires_grad_(False)
    last = nn.Linear(128, 10)
    last.weight.data, last.bias.data = torch.from_numpy(w.T.copy()), torch.from_numpy(b.copy())
    loss_of = lambda x, y: F.cross_entropy(last(cells(x)[0][:, -1]), y)
    trained = [p for p in (*cells.parameters(), *last.parameters()) if p.requires_grad]
    return training(loss_of, torch.optim.SGD(trained, lr=0.01), (sequences, ids.astype("int64")))


def embedding(n: int) -> Row:
    """Sparse gradients: only the rows that were looked up are touched."""
    table = nn.Embedding(n, 64, sparse=True, _weight=torch.full((n, 64), 0.5))
    adagrad = torch.optim.Adagrad(table.parameters(), lr=0.05, initial_accumulator_value=0.1, eps=0)
    return training(lambda ids, wanted: torch.mean(torch.square(table(ids) - wanted)), adagrad,
                    (common.table_ids(n), common.filled(1_000, 64)))


# The built-in one does in a pass what the formula would do in ten.
def gelu(x: torch.Tensor) -> torch.Tensor:
    return F.gelu(x, approximate="tanh")


def gelu_value(n: int) -> Row:
    x = torch.from_numpy(common.filled(n))
    run = lambda: gelu(x)
    return Row(lambda: common.of_array(run()), run)


def gelu_slope(x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(gelu(x).sum(), x)[0]


def gelu_grad(n: int) -> Row:
    x = torch.from_numpy(common.filled(n)).requires_grad_()
    run = lambda: gelu_slope(x)
    return Row(lambda: common.of_array(run()), run)


def gelu_grad_sum(n: int) -> Row:
    x = torch.from_numpy(common.filled(n)).requires_grad_()
    run = lambda: gelu_slope(x).sum().item()
    return Row(lambda: [run()], run)


def sum_abcd(n: int) -> Row:
    a, b, c, d = (torch.from_numpy(common.filled(n, salt=salt)) for salt in range(4))
    run = lambda: torch.sum(a * b + c * d).item()
    return Row(lambda: [run()], run)


def written(n: int, add: bool) -> Row:
    x, out = torch.from_numpy(common.filled(n)), torch.zeros(n)
    run = lambda: (out.add_ if add else out.copy_)(gelu(x))
    return Row(lambda: (out.zero_(), common.of_array(run()))[-1], run)


def matmul(n: int) -> Row:
    a, b = (torch.from_numpy(common.filled(n, n, salt=salt)) for salt in range(2))
    run = lambda: a @ b
    return Row(lambda: common.of_product(run()), run)


def cond_scalar() -> Row:
    def run() -> float:
        x = torch.tensor(1.0)
        return (torch.sin(x) if x > 0 else x * 2).item()
    return Row(lambda: [run()], run)


def while_scalar_1e3() -> Row:
    def run() -> float:
        t = torch.tensor(1.0)
        for i in range(1_000):
            t = t + i
        return t.item()
    return Row(lambda: [run()], run)


def while_scalar_grad_1e3() -> Row:
    def run() -> float:
        x, y = torch.tensor(1.3, requires_grad=True), torch.tensor(1.0)
        for _ in range(1_000):
            y = torch.sin(y * x)
        return torch.autograd.grad(y, x)[0].item()
    return Row(lambda: [run()], run)


def pendulum_of(order: int) -> Row:
    def run() -> float:
        x, speed = torch.tensor(1.0, requires_grad=order > 0), torch.tensor(0.0)
        angle = x
        for _ in range(200):
            angle, speed = common.pendulum_step(angle, speed, torch.sin)
        for i in range(order):
            angle = torch.autograd.grad(angle, x, create_graph=i + 1 < order)[0]
        return angle.item()
    return Row(lambda: [run()], run)


pendulum, pendulum_grad, pendulum_second = (partial(pendulum_of, order) for order in range(3))


def rnn_states(inputs: torch.Tensor, w: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    h, states = torch.zeros(32, 32), []
    for x in inputs:
        h = torch.tanh(x @ w + h @ u)
        states.append(h)
    return torch.stack(states)


def scan_rnn_100x32() -> Row:
    data = [torch.from_numpy(a) for a in common.rnn_data()]
    run = lambda: rnn_states(*data)
    return Row(lambda: common.of_product(run()), run)


def scan_rnn_grad_100x32() -> Row:
    inputs, w, u = (torch.from_numpy(a) for a in common.rnn_data())
    w.requires_grad_(), u.requires_grad_()
    run = lambda: torch.autograd.grad(torch.mean(torch.square(rnn_states(inputs, w, u))), (w, u))
    return Row(lambda: common.of_products(run()), run)


def train_in_graph_1e3() -> Row:
    """A loop of steps: there is no graph."""
    x, y = torch.from_numpy(common.filled(100)), torch.from_numpy(common.filled(100, salt=1))

    def run() -> list[float]:
        w, b = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
        sgd = torch.optim.SGD([w, b], lr=0.05)
        for _ in range(1_000):
            sgd.zero_grad()
            torch.mean(torch.square(w * x + b - y)).backward()
            sgd.step()
        return [w.item(), b.item()]
    return Row(run, run)


if __name__ == "__main__":
    common.main(globals(), first=lambda: (torch.tensor(3.0) + torch.tensor(5.0)).item())
