# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/tensorflow_functions.txt, or the file that it is given: values and gradients of functions that are made of several
ops, as TensorFlow 2 computes them. Needs TensorFlow, as vectors.py does:

    build/peers/venv/bin/python tests/tensorflow/functions.py

tests/tensorflow/named_functions.hpp calls the functions by these names.
"""

import sys
from pathlib import Path

from described import FLOATS, described, name_of, np, seed_of, tf, varied, write

v1 = tf.compat.v1
graphs = []


def call(name, inputs, f, consts=(), ulps=16, near=1, seeded=None, gradient=True, label="", **fields):
    """A function of inputs, which have gradients, and of constants behind them; `seeded` outputs have gradients from above."""
    of = [*inputs, *consts][0]
    d = described(f"{name} {name_of(of.dtype)}{list(of.shape)}{label}", ulps, near)
    operands = [d.input(x) for x in inputs] + [d.const(x) for x in consts]
    outs = d.op(name, operands, f, "call", **fields)
    seeds = {k: seed_of(d.values[k]) for k in outs[:seeded] if d.values[k].dtype.is_floating}
    graphs.append(d.finish(outs, seeds if gradient else None))


def metric(name, labels, predictions, f, **fields):
    """A metric after one batch."""
    with tf.Graph().as_default(), v1.Session() as session:
        value, update = f(tf.constant(labels), tf.constant(predictions))
        session.run(v1.local_variables_initializer())
        session.run(update)
        wanted = session.run(value)
    call(name, [], lambda *_: tf.constant(np.asarray(wanted)), [labels, predictions], gradient=False, **fields)


# ---- layers' parts -----------------------------------------------------------------------------------------------------------
image = varied((2, 4, 6, 3), "float32")
call(
    "fused_batch_norm",
    [image, varied((3,), "float32", 1), varied((3,), "float32", 2)],
    lambda x, scale, offset: v1.nn.fused_batch_norm(x, scale, offset, epsilon=0.125, is_training=True)[:3],
    ulps=64,
    seeded=1,
    epsilon=0.125,
)
call(
    "lrn",
    [varied((2, 2, 2, 7), "float32")],
    lambda x: tf.nn.local_response_normalization(x, 2, bias=2.0, alpha=0.5, beta=0.75),
    ulps=32,
)
for dtype in FLOATS:
    x, rows = varied((2, 4, 6, 3), dtype), varied((4, 5), dtype)
    labels, logits = np.round(np.abs(varied((4, 5), dtype, 3)) % 1, 3), varied((4, 5), dtype, 2)
    call("crelu", [rows], lambda x: tf.nn.crelu(x))
    call("l2_normalize", [rows], lambda x: tf.nn.l2_normalize(x, 1))
    call("zero_fraction", [np.where(rows > 1, rows, 0)], lambda x: tf.nn.zero_fraction(x), gradient=False)
    call("log_sigmoid", [rows], lambda x: tf.math.log_sigmoid(x))
    call("scalar_mul", [np.array(2.5, dtype), rows], lambda n, x: tf.math.scalar_mul(n, x))
    call("polyval", [rows], lambda x: tf.math.polyval([np.array(c, x.dtype.as_numpy_dtype) for c in (2, 0, -1, 3)], x), near=60)
    call("reduce_std", [rows], lambda x: tf.math.reduce_std(x, 1))
    call("cross", [varied((4, 3), dtype), varied((4, 3), dtype, 1)], lambda a, b: tf.linalg.cross(a, b))
    call(
        "xw_plus_b",
        [rows, varied((5, 2), dtype, 1), varied((2,), dtype, 2)],
        lambda x, w, b: v1.nn.xw_plus_b(x, w, b),
        near=30,
    )
    call(
        "weighted_cross_entropy",
        [logits, labels],
        lambda x, z: tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=3.0),
        ulps=64,
    )
    call("log_poisson_loss", [labels, logits], lambda z, x: tf.nn.log_poisson_loss(z, x), near=20)
    call("space_to_depth", [x], lambda x: tf.nn.space_to_depth(x, 2))
    call("depth_to_space", [varied((2, 2, 3, 8), dtype)], lambda x: tf.nn.depth_to_space(x, 2))
    call("space_to_batch", [x], lambda x: tf.space_to_batch(x, [3, 2], [[1, 1], [0, 0]]))
    call("batch_to_space", [varied((12, 2, 3, 3), dtype)], lambda x: tf.batch_to_space(x, [3, 2], [[1, 1], [0, 0]]))
    call(
        "separable_conv2d",
        [x, varied((2, 3, 3, 2), dtype, 1), varied((1, 1, 6, 4), dtype, 2)],
        lambda x, f, p: tf.nn.separable_conv2d(x, f, p, [1, 1, 1, 1], "SAME"),
        ulps=256,
        near=100,
    )
    call(
        "atrous_conv2d",
        [x, varied((2, 3, 3, 2), dtype, 1)],
        lambda x, f: tf.nn.atrous_conv2d(x, f, 2, "SAME"),
        ulps=256,
        near=30,
    )
for dtype in ("float32", "int32"):
    call("count_nonzero", [], lambda x: tf.math.count_nonzero(x), [np.array([[0, 2, 0], [3, 4, 0]], dtype)], gradient=False)
for k in (1, 2, 5):
    call(
        "in_top_k",
        [],
        lambda x, t: tf.math.in_top_k(t, x, k),
        [varied((6, 5), "float32"), np.array([0, 1, 2, 3, 4, 0], "int32")],
        gradient=False,
        label=f" {k}",
        k=k,
    )

# ---- losses, whose labels and weights have no gradients in TensorFlow ------------------------------------------------------------
REDUCTIONS = {
    "none": v1.losses.Reduction.NONE,
    "sum": v1.losses.Reduction.SUM,
    "sum_over_batch_size": v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
    "sum_by_nonzero_weights": v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
}


def loss(name, labels, predictions, f, weights, rank=2, **more):
    for reduction, of_tf in REDUCTIONS.items():
        for w in (None, weights):
            call(
                name,
                [predictions],
                lambda x, z, *w: f(z, x, w[0] if w else 1.0, of_tf),
                [labels] + ([] if w is None else [w]),
                ulps=64,
                label=f" {reduction}{'' if w is None else ' weighted'}",
                reduction=reduction,
                **more,
            )


for dtype in ("float32",):  # in float64 some of TensorFlow's have constants of float32 in them
    truth = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]], dtype)
    logits, chances = varied((4, 3), dtype, 4), np.abs(varied((4, 3), dtype, 6)) / 4 + np.array(0.125, dtype)
    weights = np.array([[1], [0], [2], [0.5]], dtype)
    loss("mean_squared_error", truth, logits, lambda z, x, w, r: v1.losses.mean_squared_error(z, x, w, reduction=r), weights)
    loss("absolute_difference", truth, logits, lambda z, x, w, r: v1.losses.absolute_difference(z, x, w, reduction=r), weights)
    loss("hinge_loss", truth, logits, lambda z, x, w, r: v1.losses.hinge_loss(z, x, w, reduction=r), weights)
    loss("log_loss", truth, chances, lambda z, x, w, r: v1.losses.log_loss(z, x, w, reduction=r), weights)
    loss("huber_loss", truth, logits, lambda z, x, w, r: v1.losses.huber_loss(z, x, w, delta=0.5, reduction=r), weights)
    loss(
        "sigmoid_cross_entropy_loss",
        truth,
        logits,
        lambda z, x, w, r: v1.losses.sigmoid_cross_entropy(z, x, w, label_smoothing=0.25, reduction=r),
        weights,
    )
    one_hot = np.eye(3, dtype=dtype)[[0, 2, 1, 1]]
    loss(
        "softmax_cross_entropy_loss",
        one_hot,
        logits,
        lambda z, x, w, r: v1.losses.softmax_cross_entropy(z, x, w, label_smoothing=0.25, reduction=r),
        weights[:, 0],
    )
    loss(
        "sparse_softmax_cross_entropy_loss",
        np.array([0, 2, 1, 1], "int32"),
        logits,
        lambda z, x, w, r: v1.losses.sparse_softmax_cross_entropy(z, x, w, reduction=r),
        weights[:, 0],
    )
    loss(
        "cosine_distance",
        one_hot,
        logits,
        lambda z, x, w, r: v1.losses.cosine_distance(z, x, axis=1, weights=w, reduction=r),
        weights,
    )
    call(
        "mean_pairwise_squared_error",
        [logits],
        # TensorFlow adds the rows up; with a number as weight it takes all rows for one
        lambda x, z: v1.losses.mean_pairwise_squared_error(z, x, tf.ones([4, 1], dtype)) / 4,
        [truth],
        ulps=64,
    )

# ---- metrics after one batch -------------------------------------------------------------------------------------------------------
said, is_so = np.array([1, 0, 1, 1, 0, 0, 1], "bool"), np.array([1, 1, 1, 0, 0, 1, 0], "bool")
guessed, classes = np.array([0, 2, 1, 1, 2, 0, 0], "int32"), np.array([0, 1, 1, 2, 2, 0, 1], "int32")
numbers, others = varied((7,), "float32"), varied((7,), "float32", 1)
likely = np.abs(varied((7,), "float32", 2)) / 4
metric("metrics_mean", numbers, others, lambda z, x: v1.metrics.mean(x))
metric("metrics_accuracy", classes, guessed, lambda z, x: v1.metrics.accuracy(z, x))
metric("metrics_mean_squared_error", numbers, others, lambda z, x: v1.metrics.mean_squared_error(z, x))
metric("metrics_root_mean_squared_error", numbers, others, lambda z, x: v1.metrics.root_mean_squared_error(z, x))
for name in ("true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall"):
    metric(f"metrics_{name}", is_so, said, getattr(v1.metrics, name))
metric("metrics_mean_iou", classes, guessed, lambda z, x: v1.metrics.mean_iou(z, x, 3))
metric("metrics_mean_per_class_accuracy", classes, guessed, lambda z, x: v1.metrics.mean_per_class_accuracy(z, x, 3))
metric("metrics_auc", is_so, likely, lambda z, x: v1.metrics.auc(z, x))

out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "data" / "tensorflow_functions.txt"
write(out, "functions.py", graphs)
