# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/tensorflow_rare.txt, or the file that it is given: what vectors.py writes, for the other element
types, as far as TensorFlow's CPU has the op for them.

    build/peers/venv/bin/python tests/tensorflow/rare_vectors.py

TensorFlow's gradients of complex numbers are the conjugates that they are here.
"""

import itertools
import sys
from pathlib import Path

from described import (
    FLOATS,
    WHOLE,
    angle_slope,
    array_text,
    atan2_slopes,
    described,
    floor_mod_slopes,
    floor_quotient,
    name_of,
    np,
    one_op,
    pow_slopes,
    seed_of,
    tf,
    varied,
    write,
)

INF, NAN = np.inf, np.nan
HALVES = (np.dtype("float16"), np.dtype(tf.bfloat16.as_numpy_dtype))
SIGNED, UNSIGNED = [np.dtype(t) for t in ("int8", "int16")], [np.dtype(f"uint{n}") for n in (8, 16, 32, 64)]
COMPLEX = (np.dtype("complex64"), np.dtype("complex128"))
INTEGERS = SIGNED + UNSIGNED
REAL, ALL = [*HALVES, *INTEGERS], [*HALVES, *INTEGERS, *COMPLEX]
INEXACT = HALVES + COMPLEX

np.seterr(all="ignore")  # the edges overflow
graphs = []


def graph(op, inputs, f, **more):
    graphs.append(one_op(op, op, inputs, f, **more))


def some(shape, dtype, salt=0):
    """Of few digits, for the file's sake; whole numbers are so large that they wrap."""
    return varied(shape, dtype, salt, 64 if dtype in INTEGERS else 8)


def largest(dtype):
    return tf.as_dtype(dtype).max


def edges(dtype):
    """Where ops of one operand have something to show."""
    if dtype in HALVES:
        tiny = 6e-8 if dtype == HALVES[0] else 2e-38  # the smallest half; below 2e-38 TensorFlow has zeros
        few = [0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, -2.5, 6, 7.25, -10, 30, 1e-3, tiny, 300, INF, -INF, NAN]
        return np.array(few + [largest(dtype), -largest(dtype)]).astype(dtype)
    if dtype in COMPLEX:
        return np.array([0, 1, -1, 1j, 0.5 + 0.25j, -0.5 + 2j, 2 - 3j, 3, -2, 2.5j, 1e-4 - 1e-4j], dtype)
    info = np.iinfo(dtype)
    all = [0, 1, 2, 3, 6, 7, 100, info.max - 1, info.max]
    return np.array(all + ([-1, -2, -7, -100, info.min + 1, info.min] if info.min else [info.max // 2 + 1]), dtype)


def few(dtype):
    """Of operands that are paired."""
    if dtype in HALVES:
        return np.array([0.0, -0.0, 0.375, -2.5, largest(dtype), INF, NAN]).astype(dtype)
    if dtype in COMPLEX:
        return np.array([0, 1, -2j, 0.5 + 0.25j, 3 - 1j], dtype)
    info = np.iinfo(dtype)
    return np.array([0, 1, 7, info.max] + ([-1, -3, info.min] if info.min else [info.max - 2]), dtype)


def pairs(dtype, first=None, second=None):
    first, second = (few(dtype) if x is None else np.array(x, dtype) for x in (first, second))
    return [np.repeat(first, len(second)), np.tile(second, len(first))]


def ulps_of(dtype, places):
    """Whole numbers are compared exactly."""
    return 0 if dtype in INTEGERS else places


def each(op, f, dtypes, inputs=edges, ulps=0, near=0, **more):
    for dtype in dtypes:
        x = inputs(dtype)
        graph(op, x if isinstance(x, list) else [x], f, ulps=ulps_of(dtype, ulps), near=near, **more)


def finite(dtype):
    return edges(dtype)[np.isfinite(edges(dtype).astype("complex128"))]


def usual(dtype):
    """Operands that are paired, without the largest: of quotients by those TensorFlow makes zeros of the smallest bfloat16."""
    return few(dtype)[few(dtype) != (largest(dtype) if dtype in HALVES else np.nan)]


# Where a complex function has a pole, the formula's form decides which part is infinite and which is NaN.
POLES = {
    "Acos": [1, -1],
    "Acosh": [1, -1],
    "Asin": [1, -1],
    "Asinh": [1j, -1j],
    "Atan": [1j, -1j],
    "Atanh": [1, -1],
    "Log": [0],
    "Log1p": [-1],
    "Reciprocal": [0],
    "Rsqrt": [0],
    "Sqrt": [0],
}


# ---- elementwise -----------------------------------------------------------------------------------------------------
FLOATING = {
    "Acos": tf.acos,
    "Acosh": tf.acosh,
    "Asin": tf.asin,
    "Asinh": tf.asinh,
    "Atan": tf.atan,
    "Atanh": tf.atanh,
    "Conj": tf.math.conj,
    "Cos": tf.cos,
    "Cosh": tf.cosh,
    "Exp": tf.exp,
    "Expm1": tf.math.expm1,
    "Log": tf.math.log,
    "Log1p": tf.math.log1p,
    "Reciprocal": tf.math.reciprocal,
    "Rsqrt": tf.math.rsqrt,
    "Sigmoid": tf.sigmoid,
    "Sin": tf.sin,
    "Sinh": tf.sinh,
    "Sqrt": tf.sqrt,
    "Tan": tf.tan,
    "Tanh": tf.tanh,
}
for op, f in FLOATING.items():
    near = (
        1 if op in ("Sigmoid", "Tan", "Tanh") else 0
    )  # gradients are differences from 1, which few digits are left of
    each(op, f, HALVES, ulps=4, near=near)
    near = 1 if op == "Log1p" else near  # TensorFlow's has few digits near 0
    each(op, f, COMPLEX, lambda dtype: edges(dtype)[~np.isin(edges(dtype), POLES.get(op, []))], ulps=4, near=near)
for op, f in {
    "Elu": tf.nn.elu,
    "Erf": tf.math.erf,
    "Erfc": tf.math.erfc,
    "Gelu": lambda x: tf.nn.gelu(x, approximate=False),
    "Selu": tf.nn.selu,
    "Silu": tf.nn.silu,
    "Softplus": tf.nn.softplus,
}.items():
    each(op, f, HALVES, ulps=4, near=1)
each("Lgamma", tf.math.lgamma, HALVES[:1], ulps=4, near=1, gradient=False)
each("Digamma", tf.math.digamma, HALVES[:1], ulps=4, near=1, gradient=False)
for op, f in {"Ceil": tf.math.ceil, "Floor": tf.floor}.items():
    each(op, f, HALVES, here_dx=lambda dx, x: ["zero"])
each("Round", tf.round, HALVES, here_dx=lambda dx, x: ["zero"])
each("Round", tf.round, INTEGERS)
for op, f in {"IsFinite": tf.math.is_finite, "IsInf": tf.math.is_inf, "IsNan": tf.math.is_nan}.items():
    each(op, f, HALVES)
each("CheckNumerics", lambda x: tf.debugging.check_numerics(x, ""), HALVES, finite)
each("Abs", tf.abs, [*HALVES, *SIGNED])
each("ComplexAbs", tf.abs, COMPLEX, ulps=4)
each("Angle", tf.math.angle, COMPLEX, ulps=4, here_dx=angle_slope)
for op, f in {"Real": tf.math.real, "Imag": tf.math.imag}.items():
    each(op, f, COMPLEX)
each("Neg", tf.negative, [*HALVES, *SIGNED, *COMPLEX])
# tf.sign of complex numbers is another op
each("Sign", lambda x: tf.raw_ops.Sign(x=x), [*HALVES, *SIGNED, *COMPLEX], ulps=2)
# TensorFlow doubles x before it multiplies
each("Square", tf.square, HALVES, here_dx=lambda dx, x: [seed_of(tf.constant(x)) * 2 * x])
each("Square", tf.square, [*INTEGERS, *COMPLEX])
for op, f in {"Relu": tf.nn.relu, "Relu6": tf.nn.relu6}.items():
    each(op, f, REAL)
for dtype in FLOATS:
    graph("Complex", [some((2, 1), dtype), some((3,), dtype, 1)], tf.complex)

for op, f in {"Add": tf.add, "Sub": tf.subtract, "Mul": tf.multiply}.items():
    each(op, f, ALL, pairs)
for op, f in {
    "Less": tf.less,
    "LessEqual": tf.less_equal,
    "Greater": tf.greater,
    "GreaterEqual": tf.greater_equal,
    "Maximum": tf.maximum,
    "Minimum": tf.minimum,
}.items():
    each(op, f, REAL, pairs)
for op, f in {"Equal": tf.equal, "NotEqual": tf.not_equal}.items():
    each(op, f, ALL, pairs)
each("Div", tf.divide, HALVES, pairs, ulps=2)
each("Div", tf.divide, COMPLEX, lambda dtype: pairs(dtype, second=[x for x in few(dtype) if x]), ulps=4)
each("Atan2", tf.atan2, HALVES, pairs, ulps=4, here_dx=atan2_slopes)
each("SquaredDifference", tf.math.squared_difference, HALVES, pairs)
each(
    "SquaredDifference",
    tf.math.squared_difference,
    COMPLEX,
    pairs,
    here_dx=lambda dx, a, b: [sign * 2 * seed_of(tf.constant(a)).real * (a - b) for sign in (1, -1)],
)
each("Pow", tf.pow, HALVES, lambda dtype: pairs(dtype, usual(dtype), [0, -1, 2, 0.375, -2.5, INF, NAN]), ulps=4, here_dx=pow_slopes)
each("Pow", tf.pow, COMPLEX, lambda dtype: pairs(dtype, [x for x in few(dtype) if x], [0, 2, -1, 0.5 - 1j]), ulps=4)
for dtype in COMPLEX:  # 0 to the power 0 is not a number in TensorFlow, of which it makes the gradient of 0 to the power 1
    x, n = np.zeros(3, dtype), np.array([2, 1, 0.5 - 1j], dtype)
    graph("Pow", [x, n], tf.pow, label=" of 0", gradient=False)
    graph("Pow", [x[:1], n[1:2]], tf.pow, here_dx=lambda dx, x, n: [seed_of(tf.constant(x)), x], label=" of 0")
    graph("Pow", [x[:1], x[:1]], tf.pow, here=lambda y, x, n: x + 1, label=" of 0 by 0", gradient=False)
each("Pow", tf.pow, SIGNED, lambda dtype: pairs(dtype, second=[0, 1, 2, 3, 7]))
for op, f in {"Div": tf.truncatediv, "FloorDiv": tf.math.floordiv, "FloorMod": tf.math.floormod}.items():
    each(op, f, INTEGERS, lambda dtype: pairs(dtype, second=[x for x in few(dtype) if x]))
    if op != "Div":
        each(
            op,
            f,
            HALVES,
            lambda dtype: pairs(dtype, second=usual(dtype)),
            here=floor_quotient if op == "FloorDiv" else None,
            here_dx=(lambda dx, a, b: ["zero", "zero"]) if op == "FloorDiv" else floor_mod_slopes,
        )

for dtype in REAL:
    numbers = few(dtype)[~np.isnan(few(dtype).astype("float64"))]
    x, low, high = np.array(
        [(x, a, b) for x, a, b in itertools.product(numbers[::-1], numbers[::2], numbers[1::2]) if a <= b]
    ).T
    graph("Clip", [v.astype(dtype) for v in (x, low, high)], tf.clip_by_value, ulps=0)
for dtype in ALL:
    x = few(dtype)
    graph("Select", [np.arange(len(x)) % 2 == 0, x, x[::-1].copy()], tf.where, ulps=0, label=f" {name_of(dtype)}")
for dtype in HALVES:
    x = edges(dtype)
    g = seed_of(tf.constant(x))  # in TensorFlow the slope is no tensor
    slope = array_text(np.where(x > 0, 0, g * x).astype(dtype))
    graph(
        "LeakyRelu",
        [x, np.full_like(x, 0.25)],
        lambda x, a: tf.nn.leaky_relu(x, 0.25),
        here_dx=lambda dx, x, a: [dx[0], slope],
    )
    x, z = np.array(list(itertools.product([0.0, 0.5, -0.5, 1, -2.5, 30, -30, 200, -200], [0, 0.5, 1]))).T.astype(dtype)
    graph("SigmoidCrossEntropy", [x, z], lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(z, x), near=1)
for op, f in {"Mul": tf.multiply, "Maximum": tf.maximum, "Equal": tf.equal}.items():
    for dtype in REAL if op == "Maximum" else ALL:
        for a, b in (((2, 1), (1, 3)), ((), (2, 2)), ((0, 3), (1,))):
            x = [some(a, dtype), some(b, dtype, 1)]
            graph(op, x, f, label=" " + str(list(b)), ulps=ulps_of(dtype, 4), near=1)

# Between all types but pairs of common ones. What is beyond a whole type is not compared, nor infinities and NaN in one.
COMMON = [np.dtype(t) for t in FLOATS + WHOLE + ("bool",)]
for a, b in itertools.product(ALL + COMMON, repeat=2):
    if a == b or (a in COMMON and b in COMMON):
        continue
    to = name_of(b)
    if a.kind in "iu":
        x = few(a) if a in INTEGERS else np.array([0, -1, 100, 16842753, np.iinfo(a).max, np.iinfo(a).min], a)
    elif a.kind == "b":
        x = np.array([0, 1], a)
    elif b.kind in "iu":
        limit = np.iinfo(b)
        x = np.array(
            [v for v in (0, 0.5, 1, 2.75, 100, -1, -2.5, -100, 65000, 3e9, 1e19) if limit.min <= v <= limit.max]
        )
        x = (x - 3j if a.kind == "c" else x).astype(a)
        x = x[np.isfinite(x.astype("complex128"))]
    else:
        x = (
            (few(a) if a in COMPLEX or b.kind == "c" else edges(a))
            if a not in COMMON
            else np.array([0, 0.1, -2.75, 65519, 65520, 6e-8, 1.00390625, 1 + 2.0**-11 + 2.0**-40, 3e38, -INF, NAN], a)
        )
    graph(
        "Cast",
        [x],
        lambda x: tf.cast(x, b),
        ulps=0,
        label=f" to {to}",
        here=(lambda y, x: x != 0) if a.kind == "c" and b.kind == "b" else None,  # TensorFlow looks at the real part
        to=to,
    )

# ---- reductions, and what runs along an axis -------------------------------------------------------------------------
SHAPES = [((3, 2), [0]), ((2, 3, 2), [-1, 0]), ((0, 3), [0]), ((2, 0), [0]), ((3,), [0])]
for op, f in {
    "Sum": tf.reduce_sum,
    "Mean": tf.reduce_mean,
    "Prod": tf.reduce_prod,
    "Max": tf.reduce_max,
    "Min": tf.reduce_min,
}.items():
    dtypes = {"Sum": ALL, "Prod": ALL, "Mean": INEXACT}  # TensorFlow sums whole numbers up in their own type
    for dtype in dtypes.get(op, REAL):
        for shape, axes in SHAPES:
            keep, nothing = len(axes) > 1, op == "Mean" and dtype in COMPLEX and shape[0] == 0
            graph(
                op,
                [some(shape, dtype)],
                lambda x: f(x, axes, keepdims=keep),
                ulps=ulps_of(dtype, 4),
                near=4 if op in ("Sum", "Mean") else 1,
                here=(lambda y, x: NAN * (1 + 1j)) if nothing else None,  # TensorFlow's of real numbers is NaN too
                axes=axes,
                keep=keep,
                label=f" over {axes}",
            )
for dtype in HALVES:
    x = np.array([2 / np.finfo(np.float16).eps if dtype == HALVES[0] else 256] + [1] * 40, dtype)
    label = " where no single one counts"
    for op, f in {"Sum": tf.reduce_sum, "Mean": tf.reduce_mean}.items():
        graph(op, [x], lambda x: f(x, [0]), axes=[0], label=label, gradient=False)
    here = np.cumsum(x.astype("float32")).astype(dtype)  # TensorFlow adds up in the type itself
    graph("Cumsum", [x], lambda x: tf.cumsum(x, 0), axis=0, label=label, here=lambda y, x: here, gradient=False)
    graph("MatMul", [x[None], np.ones((41, 1), dtype)], tf.matmul, label=label, gradient=False)
for op, f in {"ArgMax": tf.argmax, "ArgMin": tf.argmin}.items():
    for dtype in REAL:
        graph(op, [np.array([[1, 3, 3], [2, 2, 2], [5, 4, 5]], dtype)], lambda x: f(x, 1, tf.int32), axis=1)
        graph(op, [some((2, 3, 2), dtype)], lambda x: f(x, 1, tf.int64), axis=1, output_type="int64")


def cumprod_gradient(axis, exclusive, reverse):
    """Of complex numbers: TensorFlow's has no conjugates, other than its gradients of products."""

    def gradient(dx, x):
        y = tf.math.cumprod(x, axis, bool(exclusive), bool(reverse))
        return [tf.cumsum(tf.math.conj(y) * seed_of(y), axis, bool(exclusive), not reverse).numpy() / np.conj(x)]

    return gradient


for op, f in {"Cumsum": tf.cumsum, "Cumprod": tf.math.cumprod}.items():
    for dtype in ALL:
        conjugate = op == "Cumprod" and dtype in COMPLEX
        for shape, axis, exclusive, reverse in (((3, 2), 0, 0, 0), ((2, 3, 2), -2, 1, 1), ((0, 3), 0, 0, 1)):
            graph(
                op,
                [some(shape, dtype)],
                lambda x: f(x, axis, bool(exclusive), bool(reverse)),
                ulps=ulps_of(dtype, 2),
                near=4,
                here_dx=cumprod_gradient(axis, exclusive, reverse) if conjugate else None,
                axis=axis,
                exclusive=exclusive,
                reverse=reverse,
            )
for op, f in {"Softmax": tf.nn.softmax, "LogSoftmax": tf.nn.log_softmax}.items():
    for dtype in HALVES:
        for x in (some((3, 5), dtype), some((0, 3), dtype), np.array([1000, 0, -1000], dtype)):
            graph(op, [x], f, ulps=4, near=1)

# ---- products, losses ------------------------------------------------------------------------------------------------
for dtype in INEXACT:
    for m, k, n in ((2, 3, 2), (0, 3, 2), (2, 0, 3)):
        for ta, tb in ((False, False), (True, False), (True, True)):
            a, b = some((k, m) if ta else (m, k), dtype), some((n, k) if tb else (k, n), dtype, 1)
            graph(
                "MatMul",
                [a, b],
                lambda a, b: tf.matmul(a, b, ta, tb),
                ulps=2,
                near=4,
                transpose_a=ta,
                transpose_b=tb,
                label=f" {m}{k}{n} {ta:d}{tb:d}",
            )
for dtype in (*INEXACT, SIGNED[1]):
    for left, right in (((2, 1), (2,)), ((0,), (1,))):
        for ta, tb in ((False, False), (True, False), (False, True)):
            a = some(left + ((3, 1) if ta else (1, 3)), dtype)
            b = some(right + ((2, 3) if tb else (3, 2)), dtype, 1)
            graph(
                "BatchMatMulV2",
                [a, b],
                # here matrices are read transposed; TensorFlow's op of complex numbers also takes conjugates
                lambda a, b: tf.raw_ops.BatchMatMulV2(
                    x=tf.math.conj(a) if ta else a, y=tf.math.conj(b) if tb else b, adj_x=ta, adj_y=tb
                ),
                ulps=ulps_of(dtype, 2),
                near=4,
                adj_x=ta,
                adj_y=tb,
                label=f" by {list(b.shape)} {ta:d}{tb:d}",
            )


def loss(name, f, *inputs):
    """Only the gradient of what is lost comes from above, not that of its own gradient."""
    d = described(f"{name} {name_of(inputs[0].dtype)}", 4, 1)
    y = d.op(name, [d.input(x) for x in inputs], f)
    graphs.append(d.finish(y, {y[0]: seed_of(d.values[y[0]])}))


for dtype in HALVES:
    logits, labels = some((3, 4), dtype), np.array([[0.5, 0.25, 0, 0.25], [1, 0, 0, 0], [0.25] * 4], dtype)
    loss(
        "SoftmaxCrossEntropyWithLogits",
        lambda x, z: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=z),
        logits,
        labels,
    )
    loss(
        "SparseSoftmaxCrossEntropyWithLogits",
        lambda x, z: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=z),
        logits,
        np.array([1, 3, 0], "int32"),
    )

# ---- arrays ----------------------------------------------------------------------------------------------------------
for dtype in ALL:
    x, empty = some((3, 2), dtype), some((0, 2), dtype)
    exact = {"ulps": 0}
    added = {"ulps": ulps_of(dtype, 2), "near": 4}  # the gradients of what is used several times

    def one(op, inputs, f, label="", **more):
        graph(op, inputs, f, label=f" {label}" if label != "" else "", **more)

    for shape, to in (((2, 1), (2, 3)), ((), (2,)), ((1, 4), (0, 4))):
        one("BroadcastTo", [some(shape, dtype)], lambda x: tf.broadcast_to(x, to), list(to), shape=to, **added)
    for a, b, axis in (((2, 3), (1, 3), 0), ((2, 3), (2, 2), -1), ((2, 3), (0, 3), 0)):
        a, b = some(a, dtype), some(b, dtype, 1)
        one("Concat", [a, b], lambda a, b: tf.concat([a, b], axis), axis, axis=axis, **exact)
    one("ExpandDims", [x], lambda x: tf.expand_dims(x, -1), axis=-1, **exact)
    for shape in ([2, 3], [2, 0]):
        d = described(f"Fill {name_of(dtype)}{shape}")
        y = d.op("Fill", [d.const(np.array(shape, "int32")), d.input(np.array(3, dtype))], tf.fill)
        graphs.append(d.finish(y, {y[0]: seed_of(d.values[y[0]])} if dtype in INEXACT else None))
    for ids, axis, whole in (([0, 2, 2], 0, "int32"), ([[1, 1], [0, 1]], 1, "int64"), ([], 0, "int32")):
        one("Gather", [x, np.array(ids, whole)], lambda x, i: tf.gather(x, i, axis=axis), axis, axis=axis, **added)
    one("Identity", [few(dtype)], tf.identity, **exact)
    one("StopGradient", [few(dtype)], tf.stop_gradient, **exact)
    on, off = (np.dtype(dtype).type(v) for v in (2, 1))
    off_and_on = f"{name_of(dtype)};[2];" + ("1,0;2,0" if dtype in COMPLEX else "1;2")
    ids = np.array([[0, 2], [-1, 5]], "int32")
    one("OneHot", [ids], lambda i: tf.one_hot(i, 3, on, off), name_of(dtype), depth=3, values=off_and_on, **exact)
    for shape, by in (((2, 1), ((1, 1), (0, 2))), ((0, 2), ((1, 0), (0, 0)))):
        one(
            "PadV2",
            [some(shape, dtype)],
            lambda x: tf.pad(x, by, constant_values=2),
            by,
            before=[b for b, _ in by],
            after=[a for _, a in by],
            value=2,
            **exact,
        )
    for op, f in {"Rank": tf.rank, "Size": tf.size, "Shape": tf.shape}.items():
        one(op, [x], f, gradient=False, **exact)
    for v, to in ((x, (2, -1)), (empty, (2, 0))):
        one("Reshape", [v], lambda x: tf.reshape(x, to), list(to), shape=to, **exact)
    for axes in ([0], [-1, 0]):
        one("ReverseV2", [x], lambda x: tf.reverse(x, axes), axes, axes=axes, **exact)
    for begin, size in (((1, 1), (2, 1)), ((3, 0), (0, 2))):
        one("Slice", [x], lambda x: tf.slice(x, begin, size), f"{begin}{size}", begin=begin, size=size, **exact)
    for begin, end, strides in (((0, 3), (3, 0), (2, -1)), ((2,), (1,), (1,))):
        take = tuple(slice(b, e, s) for b, e, s in zip(begin, end, strides))
        one("StridedSlice", [x], lambda x: x[take], end, begin=begin, end=end, strides=strides, **exact)
    one("Split", [x], lambda x: tf.split(x, 2, 1), num_split=2, axis=1, **exact)
    one("SplitV", [x], lambda x: tf.split(x, (1, 0, 2), 0), size_splits="int64;[3];1;0;2", axis=0, **exact)
    one("Squeeze", [some((1, 3, 1), dtype)], lambda x: tf.squeeze(x, [0]), axes=[0], **exact)
    for shape, by in (((2, 3), (2, 1)), ((2, 3), (0, 2))) if name_of(dtype) != "uint16" else ():
        one("Tile", [some(shape, dtype)], lambda x: tf.tile(x, by), by, multiples=by, **added)
    for shape, order in (((2, 3, 2), (2, 0, 1)), ((0, 4), (1, 0))):
        one("Transpose", [some(shape, dtype)], lambda x: tf.transpose(x, order), order, order=order, **exact)

out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "data" / "tensorflow_rare.txt"
write(out, "rare_vectors.py", graphs)
