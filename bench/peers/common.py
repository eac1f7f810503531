# SPDX-License-Identifier: BSD-3-Clause
"""What the Python programs share: the data, the timing loop and the protocol (common.hpp is the same for C++).

A command is a line on stdin, its reply a line on stdout:
    rows                  names of the rows it has
    check <row>           numbers that every program must agree on
    time <row> <seconds>  <median microseconds of one execution> <executions>
    quit
A reply that begins with "error " says what went wrong.
"""
import atexit
import math
import os
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TextIO

import numpy as np

LAYERS = {"mlp_4_10_10_3": [4, 10, 10, 3], "mlp_784_100_10": [784, 100, 10],
          "mlp_784_512_512_10_sgd": [784, 512, 512, 10], "mlp_784_512_512_10_adam": [784, 512, 512, 10]}
BATCH = {"mlp_4_10_10_3": 32, "mlp_784_100_10": 100, "mlp_784_512_512_10_sgd": 128, "mlp_784_512_512_10_adam": 128}
SIZES = {"1e3": 1_000, "1e5": 100_000, "1e7": 10_000_000}
TABLES = {"1e4": 10_000, "1e6": 1_000_000}
PUSHED = {"1e2": 100, "1e5": 100_000, "1e7": 10_000_000}


class Row(NamedTuple):
    """A row made ready. `step` executes it once; `finish` waits until what it started is done."""
    check: Callable[[], list[float]]
    step: Callable[[], object]
    finish: Callable[[], object] = lambda: None


class Once(NamedTuple):
    """A row that is measured once per `time`: `measure` returns seconds."""
    check: Callable[[], list[float]]
    measure: Callable[[], float]


Rows = dict[str, Callable[[], Row | Once]]


# ---- data: the same formulas in every program ------------------------------------------------------------------------
def filled(*shape: int, salt: int = 0) -> np.ndarray:
    i = np.arange(math.prod(shape), dtype=np.int64)
    return ((i * 37 + salt * 11) % 101 / 101 - 0.5).astype(np.float32).reshape(shape)


LINES = 20_000  # of the files of input rows


def csv_file() -> str:
    """Four columns of multiples of 1/16 and one of whole numbers. The caller's process removes it."""
    path = temporary("rows.csv")
    with open(path, "w") as out:
        for i in range(LINES):
            out.write(",".join(f"{(i * 37 + k * 11) % 1013 / 16:g}" for k in range(4)) + f",{i % 7}\n")
    return path


def temporary(name: str) -> str:
    folder = tempfile.mkdtemp(prefix="rill-peers-")
    atexit.register(shutil.rmtree, folder, True)
    return os.path.join(folder, name)


def labels(n: int, classes: int) -> np.ndarray:
    return (np.arange(n) * 7 % classes).astype(np.int32)


def table_ids(rows: int) -> np.ndarray:
    """A thousand of them, a tenth of which come twice."""
    return (np.arange(1_000) % 900 * 7919 % rows).astype(np.int32)


def weights(inputs: int, outputs: int) -> np.ndarray:
    i, j = np.ogrid[:inputs, :outputs]
    return (((i * 31 + j * 17) % 23 / 23 - 0.5) * 2 / math.sqrt(inputs)).astype(np.float32)


def filters(height: int, width: int, inputs: int, outputs: int) -> np.ndarray:
    return filled(height, width, inputs, outputs, salt=2) * np.float32(2 / math.sqrt(height * width * inputs))


def lenet_data() -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Images, labels, and (filter or weights, biases) of each layer: two convolutions, two dense ones."""
    layers = [filters(5, 5, 1, 32), filters(5, 5, 32, 64), weights(3136, 1024), weights(1024, 10)]
    return filled(64, 28, 28, 1), labels(64, 10), [(w, np.zeros(w.shape[-1], np.float32)) for w in layers]


def convolution_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images, a filter, and the gradient of the result."""
    return filled(32, 56, 56, 64), filters(3, 3, 64, 64), filled(32, 56, 56, 64, salt=1)


def lstm_data() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Sequences of 28 steps, labels, and the parameters: kernel and bias of the gates i, j, f, o, weights and biases of the last layer."""
    return (filled(64, 28, 28), labels(64, 10),
            [weights(28 + 128, 4 * 128), np.zeros(4 * 128, np.float32), weights(128, 10), np.zeros(10, np.float32)])


def stacked_lstm_data() -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]], list[np.ndarray]]:
    """Sequences of 1 to 28 steps, their lengths, labels, kernel and bias of the gates of two layers, weights and biases of the last layer."""
    lengths = np.array([1 + i * 11 % 28 for i in range(64)], np.int32)
    layers = [(weights(n + 128, 4 * 128), np.zeros(4 * 128, np.float32)) for n in (28, 128)]
    return filled(64, 28, 28), lengths, labels(64, 10), layers, [weights(128, 10), np.zeros(10, np.float32)]


def mlp_data(row: str) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Images, labels, and (weights, biases) of each layer."""
    widths = LAYERS[row]
    return (filled(BATCH[row], widths[0]), labels(BATCH[row], widths[-1]),
            [(weights(i, o), np.zeros(o, np.float32)) for i, o in zip(widths, widths[1:])])


def rnn_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs of 100 steps of 32 examples, and the weights of inputs and states."""
    return filled(100, 32, 32), weights(32, 32), filled(32, 32, salt=1) / 4


def pendulum_step(angle, speed, sin: Callable):
    """A Runge-Kutta step, over any kind of number."""
    h, stiffness = 0.01, 9.81
    k1 = -stiffness * sin(angle)
    v2 = speed + 0.5 * h * k1
    k2 = -stiffness * sin(angle + 0.5 * h * speed)
    v3 = speed + 0.5 * h * k2
    k3 = -stiffness * sin(angle + 0.5 * h * v2)
    v4 = speed + h * k3
    k4 = -stiffness * sin(angle + h * v3)
    return angle + h / 6 * (speed + 2 * v2 + 2 * v3 + v4), speed + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


# ---- what is checked -------------------------------------------------------------------------------------------------
def of_array(y) -> list[float]:
    """Sum, first, middle and last element."""
    y = np.asarray(y).ravel()
    return [float(y.sum(dtype=np.float64)), float(y[0]), float(y[y.size // 2]), float(y[-1])]


def of_training(step: Callable[[], object], loss: Callable[[], float]) -> list[float]:
    """The loss after ten steps, and how far it fell."""
    before = float(loss())
    for _ in range(10):
        step()
    after = float(loss())
    return [after, before - after]


def of_product(c) -> list[float]:
    """Sums of products may cancel, so the sum is that of the absolute values."""
    c = np.asarray(c).ravel()
    return [float(np.abs(c).sum(dtype=np.float64)), float(c[0]), float(c[c.size // 2]), float(c[-1])]


def of_products(arrays) -> list[float]:
    return [number for array in arrays for number in of_product(array)]


def relative_to_chain(y: float, nodes: int) -> list[float]:
    """y = y * 1.0001 + x by so many nodes from x = y = 1, over what it is without rounding: 1."""
    power = 1.0001 ** (nodes // 2)
    return [float(y) / (power + (power - 1) / 0.0001)]


# ---- the timing loop and the protocol --------------------------------------------------------------------------------
def seconds_of(row: Row, count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        row.step()
    row.finish()
    return time.perf_counter() - begin


def measure(row: Row | Once, seconds: float) -> tuple[float, int]:
    """Median microseconds of one execution, over batches long enough (1 ms) for the clock not to count."""
    if isinstance(row, Once):
        return row.measure() * 1e6, 1
    seconds_of(row, 2)
    count = 1
    while (warm := seconds_of(row, count)) < 1e-3:
        count = max(2 * count, int(count * 1.1e-3 / warm)) if warm > 1e-5 else 10 * count
    batches: list[float] = []
    end = time.perf_counter() + seconds
    while len(batches) < 3 or time.perf_counter() < end:
        batches.append(seconds_of(row, count))
    return statistics.median(batches) / count * 1e6, count * len(batches)


def answer(command: list[str], rows: Rows, ready: dict[str, Row | Once]) -> str:
    if command == ["rows"]:
        return " ".join(rows)
    verb, name = command[:2]
    if name not in ready:
        ready.clear()  # one row at a time: some hold much memory
        ready[name] = rows[name]()
    if verb == "check":
        return " ".join(f"{v:.9g}" for v in ready[name].check())
    if verb == "time":
        median, count = measure(ready[name], float(command[2]))
        return f"{median:.6g} {count}"
    raise ValueError(f"unknown command: {verb}")


def serve(rows: Rows, replies: TextIO) -> None:
    ready: dict[str, Row | Once] = {}
    for line in sys.stdin:
        command = line.split()
        if command == ["quit"]:
            return
        try:
            reply = answer(command, rows, ready)
        except Exception as problem:  # whatever it is, the other rows may still work
            reply = f"error {type(problem).__name__}: {problem}".replace("\n", " ")
        print(reply, file=replies, flush=True)


def claim_stdout() -> TextIO:
    """Replies get the standard output for themselves; whatever a framework prints goes to stderr."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies


def rows_of(program: dict[str, Callable]) -> Rows:
    """The rows that a program has functions for: by their names, given a network's row or a size."""
    single = ("empty_callable", "empty_run", "linear_regression", "chain_build", "chain_gradients", "chain_first_run",
              "cond_scalar", "while_scalar_1e3", "while_scalar_grad_1e3", "scan_rnn_100x32", "scan_rnn_grad_100x32",
              "train_in_graph_1e3", "pendulum", "pendulum_grad", "pendulum_second", "queue_pair",
              "queue_batch", "queue_sessions_1e3", "lenet_64", "conv_3x3_64", "lstm_28x128",
              "lstm_2x128_lengths", "remote_empty_run", "input_csv", "input_csv_pandas", "input_tfrecord", "input_pipeline")
    rows = {name: program[name] for name in single if name in program}
    rows |= {name: partial(program["mlp"], name) for name in LAYERS}
    if "embedding" in program:
        rows |= {f"embedding_{label}": partial(program["embedding"], n) for label, n in TABLES.items()}
    if "remote_push_pull" in program:
        rows |= {f"remote_push_pull_{label}": partial(program["remote_push_pull"], n) for label, n in PUSHED.items()}
    for label, n in SIZES.items():
        rows |= {f"{work}_{label}": partial(program[function], n)
                 for work, function in (("gelu", "gelu_value"), ("gelu_grad", "gelu_grad"), ("sum_abcd", "sum_abcd"))}
    rows["gelu_grad_sum_1e7"] = partial(program["gelu_grad_sum"], SIZES["1e7"])
    rows |= {f"{work}_1e7": partial(program["written"], SIZES["1e7"], work == "assign_add")
             for work in ("assign", "assign_add")}
    return rows | {f"matmul_{n}": partial(program["matmul"], n) for n in (256, 1024)}


def main(program: dict[str, Callable], first: Callable[[], float]) -> None:
    """Prints the first result if asked for it, else serves the program's rows."""
    if sys.argv[1:] == ["first"]:
        print(f"{first():g}")
    else:
        serve(rows_of(program), claim_stdout())
