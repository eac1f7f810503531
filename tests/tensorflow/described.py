# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as lines of text, and what TensorFlow 2 computes of them (described_graph.hpp says what the lines are)."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # whose softmax is not TensorFlow's own where there is no number
import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

FLOATS, WHOLE = ("float32", "float64"), ("int32", "int64")
NAMES = {"float16": "half"}  # of dtypes that have another name here


def name_of(dtype):
    return NAMES.get(np.dtype(dtype).name, np.dtype(dtype).name)


def differentiable(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def word(x):
    """One element, so that reading it gives the same bits."""
    if isinstance(x, (bool, np.bool_)):
        return "1" if x else "0"
    if isinstance(x, np.complexfloating):
        return f"{word(x.real)},{word(x.imag)}"
    if isinstance(x, (np.float16, tf.bfloat16.as_numpy_dtype)):  # read as float32, which holds both
        few = (f"{float(x):.{digits}g}" for digits in range(1, 10))
        return next(t for t in few if not np.isfinite(x) or type(x)(np.float32(t)) == x).replace("e+", "e")
    if isinstance(x, np.floating):
        text = (
            np.format_float_scientific(x, trim="-")
            if x != 0 and not 1e-4 < abs(x) < 1e6
            else repr(x.item() if x.dtype == np.float64 else np.float32(x))
        )
        text = text[text.index("(") + 1 : -1] if "(" in text else text
        return text[:-2] if text.endswith(".0") else text.replace("e+", "e")
    return str(x)


def shape_text(shape):
    return "[" + ",".join(str(n) for n in shape) + "]"


def array_text(a, here=None):
    """An array; where `here` (an array of the same shape) differs, what it is here stands behind a bar."""
    a = np.asarray(a)
    flat = [word(x) for x in a.reshape(-1)]
    if here is not None:
        ours = [word(x) for x in np.broadcast_to(np.asarray(here, a.dtype), a.shape).reshape(-1)]
        flat = [t if t == o else f"{t}|{o}" for t, o in zip(flat, ours)]
    return " ".join([name_of(a.dtype), shape_text(a.shape)] + flat)


def varied(shape, dtype, salt=0, steps=64):
    """Ordinary numbers, the same in every run, in so many steps between whole ones."""
    dtype, n = np.dtype(dtype), int(np.prod(shape))
    if dtype.kind == "c":
        return (varied(shape, "float64", salt, steps) + 1j * varied(shape, "float64", salt + 5, steps)).astype(dtype)
    x = np.round(((np.arange(n) * 0.6180339887498949 + salt * 0.377) % 1 * 6 - 3) * steps)
    return (x.astype("int64") if dtype.kind in "iu" else x / steps).astype(dtype).reshape(shape)  # those wrap


def ones_of(y):
    return np.ones(y.shape, y.dtype.as_numpy_dtype)


def seed_of(y):
    """A gradient from above that is not the same everywhere."""
    n = int(np.prod(y.shape))
    seed = (np.arange(n) % 5 - 2) / 2 + 0.25
    return (seed * (1 - 0.5j) if y.dtype.is_complex else seed).astype(y.dtype.as_numpy_dtype).reshape(y.shape)


class described:
    """A graph that grows, in words and in TensorFlow. Values are numbered."""

    def __init__(self, name, ulps=4, near=0):
        self.lines = [f"graph {name}", f"ulps {ulps}"] + ([f"near {near}"] if near else [])
        self.values = []
        self.inputs = []
        self.tape = tf.GradientTape(persistent=True)
        self.tape.__enter__()

    def input(self, array):
        x = tf.constant(array)
        if differentiable(x):
            self.tape.watch(x)
        self.inputs.append(len(self.values))
        self.values.append(x)
        self.lines.append("in " + array_text(array))
        return self.inputs[-1]

    def const(self, array):
        self.values.append(tf.constant(array))
        self.lines.append("const " + array_text(array))
        return len(self.values) - 1

    def op(self, name, operands, f, line="op", **fields):
        """f computes in TensorFlow what the op does: one tensor, or several. The line "call" names a function instead."""
        outputs = f(*(self.values[i] for i in operands))
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        line += f" {name} " + ",".join(map(str, operands))
        for key, value in fields.items():
            if isinstance(value, (list, tuple)):
                value = shape_text(value)
            line += f" {key}={int(value) if isinstance(value, bool) else value}"
        self.lines.append(line)
        first = len(self.values)
        self.values += outputs
        return list(range(first, first + len(outputs)))

    def finish(self, outs, seeds=None, here=None, here_dx=None):
        """What the values are, and, given gradients from above, what comes out below. `here`, `here_dx`: here."""
        for k in outs:
            value = self.values[k].numpy()
            self.lines.append(f"out {k} " + array_text(value, here(value) if here else None))
        if seeds:
            self.seed_lines(seeds)
            wanted, found = self.gradients(seeds)
            found = [None if d is None else d.numpy() for d in found]
            ours = here_dx(*found) if here_dx else [None] * len(found)
            for k, d, o in zip(wanted, found, ours):
                self.lines.append(f"dx {k} " + (array_text(d, o) if d is not None else o if o is not None else "none"))
        self.tape.__exit__(None, None, None)
        return "\n".join(self.lines) + "\n"

    def finish_near(self, outs, seeds, ulps, order=1):
        """The same; results may lie apart by so many last places of the largest number there is. Order 2: also the
        gradients of the gradients' sums, where all is finite: 0 times NaN depends on how a product was written.
        """
        wanted, found, again = [], [], []
        try:
            if seeds:
                wanted, found = self.gradients(seeds)
                if order == 2:
                    again = self.tape.gradient([d for d in found if d is not None], [self.values[k] for k in wanted])
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
            # some of TensorFlow's gradients fail where an extent is 0, or where there are many
            seeds, wanted, found, again = {}, [], [], []
        self.tape.__exit__(None, None, None)
        values = [self.values[k] for k in outs]
        found, again = ([None if d is None else tf.convert_to_tensor(d) for d in all] for all in (found, again))
        if not all(
            bool(tf.reduce_all(tf.math.is_finite(v))) for v in values + found if v is not None and v.dtype.is_floating
        ):
            again = []
        sizes = [
            np.abs(v.numpy()[np.isfinite(v)]).max(initial=1)
            for v in values + found + again
            if v is not None and v.dtype.is_floating
        ]
        self.lines[1:] = [f"ulps {ulps}", f"near {word(np.float32(max(sizes, default=1)))}"] + self.lines[2:]
        self.lines += [f"out {k} " + array_text(v) for k, v in zip(outs, values)]
        self.seed_lines(seeds)
        for what, gradients in (("dx", found), ("ddx", again)):
            self.lines += [
                f"{what} {k} " + ("nothing" if d is None else array_text(d)) for k, d in zip(wanted, gradients)
            ]
        return "\n".join(self.lines) + "\n"

    def seed_lines(self, seeds):
        self.lines += [f"gy {k} " + array_text(seed) for k, seed in seeds.items()]

    def gradients(self, seeds):
        wanted = [k for k in self.inputs if differentiable(self.values[k])]
        found = self.tape.gradient(
            [self.values[k] for k in seeds],
            [self.values[k] for k in wanted],
            output_gradients=[tf.constant(s) for s in seeds.values()],
        )
        return wanted, [None if d is None else tf.convert_to_tensor(d) for d in found]


def one_op(
    name, op, inputs, f, ulps=4, near=0, seed=seed_of, here=None, here_dx=None, gradient=True, label="", **fields
):
    """One op over some inputs. here(value, *inputs), here_dx(gradients, *inputs): where another result is meant."""
    d = described(
        f"{name} {name_of(inputs[0].dtype) if inputs else ''}{list(inputs[0].shape) if inputs else ''}{label}",
        ulps,
        near,
    )
    operands = [d.input(x) for x in inputs]
    outs = d.op(op, operands, f, **fields)
    through = gradient and any(differentiable(d.values[k]) for k in operands)
    return d.finish(
        outs,
        {k: seed(d.values[k]) for k in outs if differentiable(d.values[k])} if through else None,
        here and (lambda y: here(y, *inputs)),
        here_dx and (lambda *dx: here_dx(dx, *inputs)),
    )


# ---- what is meant to differ, the reasons being on docs/gradients.md -------------------------------------------------------
def pow_slopes(dx, a, b):
    return [np.where((a == 0) & (b == 0), 0, dx[0]), dx[1]]


def atan2_slopes(dx, a, b):
    """0 at the origin and beside infinity. TensorFlow divides by a^2 + b^2, which leaves the range of 16 bits first."""
    nowhere = (a == 0) & (b == 0)
    slopes = [
        np.where(nowhere | (np.isinf(b) & np.isfinite(a)), 0, dx[0]),
        np.where(nowhere | (np.isinf(a) & np.isfinite(b)), 0, dx[1]),
    ]
    if a.dtype.itemsize > 2:
        return slopes
    x, y, g = (v.astype(np.float64) for v in (a, b, seed_of(tf.constant(a))))
    exact = [g * y / (x * x + y * y), -g * x / (x * x + y * y)]
    finite = np.isfinite(x) & np.isfinite(y) & ~nowhere
    return [np.where(finite, e.astype(a.dtype), s) for e, s in zip(exact, slopes)]


def angle_slope(dx, z):
    return [np.where(z == 0, 0, dx[0])]


def just_below_zero(a, b):
    """The quotient is a finite number over an infinite one, of another sign."""
    return np.isinf(b) & np.isfinite(a) & (a != 0) & ((a < 0) != (b < 0))


def floor_quotient(q, a, b):
    """No finite quotient of the pairs that are compared is rounded up to a whole number."""
    return q if a.dtype.kind in "iu" else np.where(just_below_zero(a, b), np.asarray(-1, q.dtype), q)


def floor_mod_slopes(dx, a, b):
    return [dx[0], np.where(just_below_zero(a, b), dx[0], dx[1])]


def cumprod_slopes(x, g):
    """The sum of g times the products of the other elements."""
    with np.errstate(invalid="ignore"):
        return np.array(
            [
                np.prod(x[:k]) * sum(g[i] * np.prod(x[k + 1 : i + 1]) for i in range(k, len(x)))
                for k in range(len(x))
            ],
            x.dtype,
        )


def write(path, script, graphs, heads=""):
    """A file of graphs, below lines that stand before the first."""
    head = f"# Made by tests/tensorflow/{script} with TensorFlow {tf.__version__}: see described_graph.hpp.\n"
    path.write_text(head + heads + "".join(graphs))
    print(f"{len(graphs)} graphs, {path.stat().st_size} bytes")
