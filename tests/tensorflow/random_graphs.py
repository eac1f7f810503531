# SPDX-License-Identifier: BSD-3-Clause
"""Writes random graphs with what TensorFlow 2 computes of them, values and gradients, to a file that the tests of this
folder run (make check-tensorflow):

    python random_graphs.py 20261122 2000 graphs.txt

A third of the graphs computes exactly (numbers with few digits, no rounding), so that ties, steps and whole numbers
come out alike; a third smoothly, with rounding but without steps; a third has zeros of both signs, infinities and NaN
among the inputs.
"""

import random
import sys

from described import FLOATS, WHOLE, described, np, tf

SHAPES = [(), (1,), (3,), (4, 1), (4, 3), (1, 3), (2, 4, 3), (2, 1, 3), (1, 1), (2, 2)]
EMPTY = [(0,), (0, 3), (4, 0), (1, 0, 3)]
EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
NUMBERS = FLOATS + WHOLE


class unfit(Exception):
    """The op that was drawn does not go with the values that were."""


def kinked(f, flows):
    """An op whose gradient, where it is 0, is 0 whatever comes from above: TensorFlow's is NaN under infinities."""

    @tf.custom_gradient
    def op(x):
        return f(x), lambda g: tf.where(flows(x), g, tf.zeros_like(g))

    return op


relu = kinked(tf.nn.relu, lambda x: x > 0)
relu6 = kinked(tf.nn.relu6, lambda x: (x > 0) & (x < 6))


def extremum(f):
    """The same of a maximum or minimum: what is not the result has no part in its gradient."""

    def op(x, axes, keepdims):
        @tf.custom_gradient
        def kept(x):
            y = f(x, axes, keepdims=True)

            def gradient(g):
                hit = tf.equal(x, y)
                share = g / tf.reduce_sum(tf.cast(hit, x.dtype), axes, keepdims=True)
                nan = tf.fill(tf.shape(x), tf.constant(np.nan, x.dtype))
                return tf.where(tf.equal(y, y), tf.where(hit, share, tf.zeros_like(x)), nan)

            return y, gradient

        if not x.dtype.is_floating:
            return f(x, axes, keepdims=keepdims)
        y = kept(x)
        return y if keepdims or not axes else tf.squeeze(y, axes)

    return op


def erf(x):
    """TensorFlow's of float64 is NaN at infinities."""
    return tf.where(tf.math.is_inf(x), tf.sign(x), tf.math.erf(x))


def running_products(x, axis, exclusive, reverse):
    """Cumprod as single products, whose gradients are right at zeros."""
    parts = tf.unstack(x, axis=axis)
    if not parts:
        return x
    so_far, made = tf.ones_like(parts[0]), []
    for part in reversed(parts) if reverse else parts:
        after = so_far * part
        made.append(so_far if exclusive else after)
        so_far = after
    return tf.stack(made[::-1] if reverse else made, axis)


def power(x, n):
    """x to the power of 0, 1, 2 or 3, whose gradient at 0 is a number."""
    high = tf.where(tf.equal(n, 2), x * x, x * x * x)
    return tf.where(tf.equal(n, 0), tf.ones_like(x), tf.where(tf.equal(n, 1), x, high))


def norm(x, axes, keepdims):
    return tf.sqrt(tf.reduce_sum(x * x, axes, keepdims=keepdims))


class random_graph:
    def __init__(self, seed, number):
        self.r = random.Random(f"{seed}/{number}")
        self.kind = ("exact", "smooth", "edges")[number % 3]
        self.dtype = self.r.choice(NUMBERS if self.kind == "exact" else FLOATS)
        self.d = described(f"{number} ({self.kind}, seed {seed})")

    # ---- what is there -----------------------------------------------------------------------------------------------
    def input(self, dtype):
        shape = self.r.choice(SHAPES if self.r.random() < 0.93 else EMPTY)
        n = int(np.prod(shape))
        if dtype == "bool":
            x = [self.r.random() < 0.5 for _ in range(n)]
        elif dtype in WHOLE:
            x = [
                self.r.randint(-4, 4) if self.r.random() < 0.95 else self.r.choice([2**31 - 1, -(2**31)])
                for _ in range(n)
            ]
        elif self.kind == "smooth":
            x = [self.r.uniform(-2, 2) for _ in range(n)]
        else:
            x = [self.r.randint(-8, 8) / 4 for _ in range(n)]
            if self.kind == "edges":
                x = [self.r.choice(EDGES) if self.r.random() < 0.25 else v for v in x]
        self.d.input(np.array(x, dtype).reshape(shape))

    def pick(self, *dtypes):
        fit = [k for k, v in enumerate(self.d.values) if v.dtype.name in dtypes]
        if not fit:
            raise unfit
        return self.r.choice(fit[-6:] if self.r.random() < 0.6 else fit)  # rather what was made last

    def shape(self, k):
        return self.d.values[k].shape.as_list()

    def axis(self, k):
        rank = len(self.shape(k))
        if rank == 0:
            raise unfit
        return self.r.randrange(-rank, rank)

    def axes(self, k):
        rank = len(self.shape(k))
        return sorted(self.r.sample(range(rank), self.r.randint(1, rank))) if rank else []

    # ---- ops ---------------------------------------------------------------------------------------------------------
    def add(self, name, operands, f, **fields):
        before = len(self.d.lines), len(self.d.values)
        try:
            with np.errstate(all="ignore"):
                made = self.d.op(name, operands, f, **fields)
        except (tf.errors.InvalidArgumentError, ValueError, tf.errors.UnimplementedError, tf.errors.NotFoundError):
            raise unfit from None
        for k in made:
            v = self.d.values[k]
            large = v.dtype.is_floating and bool(tf.reduce_any(tf.math.is_finite(v) & (tf.abs(v) > 2**12)))
            if large or v.shape.rank > 5 or np.prod(v.shape) > 500:
                del self.d.lines[before[0] :], self.d.values[before[1] :]
                raise unfit
        return made

    def grow(self):
        kinds = [
            self.unary,
            self.binary,
            self.binary,
            self.reduction,
            self.along,
            self.arrange,
            self.arrange,
            self.product,
        ]
        if self.kind != "smooth":
            kinds += [self.choice, self.choice]
        if self.kind == "exact":
            kinds += [self.step, self.index]
        self.r.choice(kinds)()

    def unary(self):
        x = self.pick(*(FLOATS if self.kind != "exact" else NUMBERS))
        ops = {
            "Neg": tf.negative,
            "Abs": tf.abs,
            "Square": tf.square,
            "Relu": relu,
            "Relu6": relu6,
            "Identity": tf.identity,
            "StopGradient": tf.stop_gradient,
        }
        if self.kind == "smooth":
            ops |= {
                "Exp": tf.exp,
                "Tanh": tf.tanh,
                "Sigmoid": tf.sigmoid,
                "Sin": tf.sin,
                "Cos": tf.cos,
                "Atan": tf.atan,
                "Softplus": tf.nn.softplus,
                "Erf": erf,
                "Elu": tf.nn.elu,
                "Selu": tf.nn.selu,
                "Silu": tf.nn.silu,
                "Asinh": tf.asinh,
                "Softmax": tf.nn.softmax,
                "LogSoftmax": tf.nn.log_softmax,
            }
        name = self.r.choice(list(ops))
        if "oftmax" in name and not self.shape(x):
            raise unfit
        self.add(name, [x], ops[name])

    def binary(self):
        x = self.pick(*(FLOATS if self.kind != "exact" else NUMBERS))
        y = self.pick(self.d.values[x].dtype.name)
        ops = {
            "Add": tf.add,
            "Sub": tf.subtract,
            "Mul": tf.multiply,
            "Maximum": tf.maximum,
            "Minimum": tf.minimum,
            "SquaredDifference": tf.math.squared_difference,
        }
        if self.kind == "edges" and not bool(
            tf.reduce_any(tf.equal(self.d.values[y], 0))
        ):  # which zero has which sign is open
            ops |= {"Div": tf.divide}
        if self.kind == "smooth":
            ops |= {"Atan2": tf.atan2}
        if self.kind != "edges" and self.d.values[x].dtype.is_floating:  # also of zeros
            ops |= {"Pow": power}
        name = self.r.choice(list(ops))
        if name == "Pow":
            exponents = [self.r.randint(0, 3) for _ in range(self.shape(x)[-1] if self.shape(x) else 1)]
            y = self.d.const(np.array(exponents if self.shape(x) else exponents[0], self.d.values[x].dtype.name))
        if name == "Atan2" and self.meet_at_zero(x, y):
            raise unfit  # where TensorFlow's gradient is NaN
        self.add(name, [x, y], ops[name])

    def meet_at_zero(self, x, y):
        """Returns true if two operands are 0, or nearly so, at one place; true where they do not broadcast."""
        try:
            return bool(tf.reduce_any(tf.abs(self.d.values[x]) + tf.abs(self.d.values[y]) < 1e-3))
        except (tf.errors.InvalidArgumentError, ValueError):
            return True

    def choice(self):
        x = self.pick(*NUMBERS)
        y = self.pick(self.d.values[x].dtype.name)
        ops = {
            "Equal": tf.equal,
            "NotEqual": tf.not_equal,
            "Less": tf.less,
            "LessEqual": tf.less_equal,
            "Greater": tf.greater,
            "GreaterEqual": tf.greater_equal,
        }
        name = self.r.choice(list(ops) + ["Select", "Select", "Clip", "Logical", "Not", "Truth"])
        if (
            name == "Clip" and self.kind == "edges"
        ):  # where a bound is NaN, no value is within the bounds or beside them
            raise unfit
        if name == "Select":
            return self.add(name, [self.pick("bool"), x, y], tf.where)
        if name == "Clip":
            z = self.pick(self.d.values[x].dtype.name)
            return self.add(name, [x, y, z], lambda x, a, b: tf.minimum(tf.maximum(x, a), b))
        if name == "Logical":
            name, f = self.r.choice(
                [("LogicalAnd", tf.logical_and), ("LogicalOr", tf.logical_or), ("LogicalXor", tf.math.logical_xor)]
            )
            return self.add(name, [self.pick("bool"), self.pick("bool")], f)
        if name == "Not":
            return self.add("LogicalNot", [self.pick("bool")], tf.logical_not)
        if name == "Truth":
            name, f = self.r.choice([("All", tf.reduce_all), ("Any", tf.reduce_any)])
            k = self.pick("bool")
            axes = self.axes(k)
            return self.add(name, [k], lambda x: f(x, axes), axes=axes)
        self.add(name, [x, y], ops[name])

    def step(self):
        x = self.pick(*NUMBERS)
        dtype = self.d.values[x].dtype.name
        ops = {"Floor": tf.floor, "Ceil": tf.math.ceil, "Round": tf.round, "Rint": tf.math.rint, "Sign": tf.sign}
        name = self.r.choice(list(ops) + ["Cast", "Cast"])
        if name == "Cast":
            to = self.r.choice([t for t in NUMBERS + ("bool",) if t != dtype])
            if to in WHOLE and dtype in FLOATS and bool(tf.reduce_any(~(tf.abs(self.d.values[x]) < 2**30))):
                raise unfit  # the processor chooses what TensorFlow's is there
            return self.add(name, [x], lambda x: tf.cast(x, to), to=to)
        if dtype in WHOLE and name != "Sign":
            raise unfit
        self.add(name, [x], ops[name])

    def index(self):
        x = self.pick(*NUMBERS)
        axis = self.axis(x)
        if self.shape(x)[axis] == 0:
            raise unfit  # of nothing there is no largest
        name, f = self.r.choice([("ArgMax", tf.argmax), ("ArgMin", tf.argmin)])
        to = self.r.choice(WHOLE)
        self.add(name, [x], lambda x: f(x, axis, to), axis=axis, output_type=to)

    def reduction(self):
        x = self.pick(*NUMBERS)
        ops = {
            "Sum": tf.reduce_sum,
            "Max": extremum(tf.reduce_max),
            "Min": extremum(tf.reduce_min),
            "Prod": tf.reduce_prod,
        }
        if self.d.values[x].dtype.is_floating and (self.kind != "exact" or self.r.random() < 0.3):
            ops |= {"Mean": tf.reduce_mean}
        if self.kind == "smooth":
            ops |= {"Norm": norm, "LogSumExp": tf.reduce_logsumexp}
        name = self.r.choice(list(ops))
        axes, keep = self.axes(x), self.r.random() < 0.4
        if name in ("Norm", "LogSumExp") and not np.prod(self.shape(x)):
            raise unfit  # of nothing
        if name == "Norm" and bool(tf.reduce_any(norm(self.d.values[x], axes, True) < 1e-3)):
            raise unfit  # where TensorFlow's gradient is NaN
        if name == "Mean" and self.kind == "exact" and np.prod([self.shape(x)[a] for a in axes]) not in (1, 2, 4):
            raise unfit
        self.add(name, [x], lambda x: ops[name](x, axes, keepdims=keep), axes=axes, keep=keep)

    def along(self):
        x = self.pick(*NUMBERS)
        axis = self.axis(x)
        name, f = self.r.choice([("Cumsum", tf.cumsum), ("Cumsum", tf.cumsum), ("Cumprod", running_products)])
        if name == "Cumprod" and self.kind == "edges":
            raise unfit  # 0 times infinity comes out by the order of the products
        exclusive, reverse = self.r.random() < 0.3, self.r.random() < 0.3
        self.add(name, [x], lambda x: f(x, axis, exclusive, reverse), axis=axis, exclusive=exclusive, reverse=reverse)

    def product(self):
        x = self.pick(*NUMBERS)
        y = self.pick(self.d.values[x].dtype.name)
        a, b = self.r.random() < 0.4, self.r.random() < 0.4
        if len(self.shape(x)) == 2 and len(self.shape(y)) == 2:
            return self.add("MatMul", [x, y], lambda x, y: tf.matmul(x, y, a, b), transpose_a=a, transpose_b=b)
        if len(self.shape(x)) < 2 or len(self.shape(y)) < 2:
            raise unfit
        self.add("BatchMatMulV2", [x, y], lambda x, y: tf.matmul(x, y, a, b), adj_x=a, adj_y=b)

    def arrange(self):
        r, x = self.r, self.pick(*NUMBERS)
        shape = self.shape(x)
        rank = len(shape)
        name = r.choice(
            [
                "Transpose",
                "Reshape",
                "ExpandDims",
                "Squeeze",
                "Concat",
                "BroadcastTo",
                "Tile",
                "PadV2",
                "ReverseV2",
                "Slice",
                "StridedSlice",
                "Split",
                "Gather",
            ]
        )
        if name == "Transpose":
            order = r.sample(range(rank), rank)
            if rank:
                self.add(name, [x], lambda x: tf.transpose(x, order), order=order)
        elif name == "Reshape":
            to = r.choice([[-1], shape[::-1], [1] + shape])
            if np.prod(shape) or -1 not in to:
                self.add(name, [x], lambda x: tf.reshape(x, to), shape=to)
        elif name == "ExpandDims":
            axis = r.randint(-rank - 1, rank)
            self.add(name, [x], lambda x: tf.expand_dims(x, axis), axis=axis)
        elif name == "Squeeze":
            axes = [a for a in range(rank) if shape[a] == 1]
            self.add(name, [x], lambda x: tf.squeeze(x, axes), axes=axes)
        elif name == "Concat":
            y, axis = self.pick(self.d.values[x].dtype.name), self.axis(x)
            self.add(name, [x, y], lambda a, b: tf.concat([a, b], axis), axis=axis)
        elif name == "BroadcastTo":
            to = [r.choice([0, 2]) if n == 1 and r.random() < 0.5 else n for n in [1] * r.randint(0, 1) + shape]
            self.add(name, [x], lambda x: tf.broadcast_to(x, to), shape=to)
        elif name == "Tile":
            by = [r.choice([1, 1, 2, 3, 0]) for _ in shape]
            if rank:
                self.add(name, [x], lambda x: tf.tile(x, by), multiples=by)
        elif name == "PadV2":
            by = [(r.randint(0, 2), r.randint(0, 2)) for _ in shape]
            if rank:
                self.add(
                    name,
                    [x],
                    lambda x: tf.pad(x, by, constant_values=1),
                    before=[b for b, _ in by],
                    after=[a for _, a in by],
                    value=1,
                )
        elif name == "ReverseV2":
            axes = self.axes(x)
            if rank:
                self.add(name, [x], lambda x: tf.reverse(x, axes), axes=axes)
        elif name == "Slice":
            begin = [r.randint(0, n) for n in shape]
            size = [r.choice([-1, r.randint(0, n - b)]) for n, b in zip(shape, begin)]
            if rank:
                self.add(name, [x], lambda x: tf.slice(x, begin, size), begin=begin, size=size)
        elif name == "StridedSlice":
            ranges = [(r.randint(-5, 5), r.randint(-5, 5), r.choice([1, 1, 2, -1, -2])) for _ in shape]
            if rank:
                self.add(
                    name,
                    [x],
                    lambda x: x[tuple(slice(*s) for s in ranges)],
                    begin=[b for b, _, _ in ranges],
                    end=[e for _, e, _ in ranges],
                    strides=[s for _, _, s in ranges],
                )
        elif name == "Split":
            axis = self.axis(x)
            count = r.choice([n for n in (1, 2, 3) if shape[axis] % n == 0])
            self.add(name, [x], lambda x: tf.split(x, count, axis), num_split=count, axis=axis)
        elif name == "Gather":
            axis = self.axis(x)
            if shape[axis] == 0:
                raise unfit
            ids = np.array([r.randrange(shape[axis]) for _ in range(r.randint(0, 4))], r.choice(WHOLE))
            k = self.d.const(ids)
            self.add(name, [x, k], lambda x, i: tf.gather(x, i, axis=axis), axis=axis)

    # ---- the whole ---------------------------------------------------------------------------------------------------
    def text(self):
        for _ in range(self.r.randint(2, 4)):
            self.input(
                self.dtype if self.r.random() < 0.8 else self.r.choice(NUMBERS if self.kind == "exact" else FLOATS)
            )
        if self.kind != "smooth":
            self.input("bool")
        wanted = len(self.d.values) + self.r.randint(3, 14)
        while len(self.d.values) < wanted:
            try:
                self.grow()
            except unfit:
                pass
        made = [k for k in range(len(self.d.values)) if k not in self.d.inputs]
        floats = [k for k in made if self.d.values[k].dtype.is_floating][-6:]
        ys = self.r.sample(floats, min(len(floats), self.r.randint(2, 4)))
        seeds = {}
        for k in ys:
            v = self.d.values[k]
            n = int(np.prod(v.shape))
            seeds[k] = (
                np.array([self.r.randint(-4, 4) / 2 for _ in range(n)]).astype(v.dtype.as_numpy_dtype).reshape(v.shape)
            )
        return self.d.finish_near(
            made, seeds, 512 if self.kind == "smooth" else 64, order=1 if self.kind == "edges" else 2
        )


if __name__ == "__main__":
    seed, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with open(path, "w") as out:
        for number in range(count):
            out.write(random_graph(seed, number).text())
    print(f"{count} graphs of seed {seed}, by TensorFlow {tf.__version__}")
