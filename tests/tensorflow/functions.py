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


def unrolled(x, cell, units):
    """The outputs of a cell, [batch, time, units], from a state of zeros."""
    h, all_h = tf.zeros([x.shape[0], units], x.dtype), []
    for row in tf.unstack(x, axis=1):
        h = cell(row, h)
        all_h.append(h)
    return tf.stack(all_h, 1)


def sequence_loss(x, y, w, axes):
    """tf.contrib.seq2seq.sequence_loss, which TensorFlow 2 lacks: weighted means of cross entropies over the axes."""
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    return tf.reduce_sum(each * w, axes) / (tf.reduce_sum(w, axes) + np.array(1e-12, w.dtype.as_numpy_dtype))


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
    # images of one and three axes, and the inference form of batch normalization
    line, volume = varied((2, 9, 3), dtype), varied((2, 5, 4, 6, 2), dtype)
    call(
        "conv1d",
        [line, varied((4, 3, 5), dtype, 1)],
        lambda x, f: tf.nn.conv1d(x, f, 2, "SAME"),
        ulps=64,
        near=30,
    )
    call(
        "conv3d",
        [volume, varied((2, 3, 2, 2, 3), dtype, 1)],
        lambda x, f: tf.nn.conv3d(x, f, [1, 1, 2, 1, 1], "SAME"),
        ulps=64,
        near=60,
    )
    for padding in ("SAME", "VALID"):
        said = {"label": f" {padding}", "padding": padding}
        call("max_pool1d", [line], lambda x: tf.nn.max_pool1d(x, 3, 2, padding), **said)
        call("avg_pool1d", [line], lambda x: tf.nn.avg_pool1d(x, 3, 2, padding), near=4, **said)
        if dtype != "float32":
            continue  # TensorFlow has no double ones
        call("max_pool3d", [volume], lambda x: tf.nn.max_pool3d(x, [2, 3, 2], [2, 1, 2], padding), **said)
        call("avg_pool3d", [volume], lambda x: tf.nn.avg_pool3d(x, [2, 3, 2], [2, 1, 2], padding), near=4, **said)
    call(
        "batch_normalization",
        [x] + [varied((3,), dtype, 1), np.abs(varied((3,), dtype, 2)), varied((3,), dtype, 3), varied((3,), dtype, 4)],
        lambda x, mean, variance, offset, scale: tf.nn.batch_normalization(x, mean, variance, offset, scale, 0.125),
        ulps=64,
        near=30,
        epsilon=0.125,
    )

    # segments, grids and contractions
    segments, rows7 = np.array([0, 0, 1, 3, 3, 3, 4], "int32"), varied((7, 3), dtype, 5)
    for how in ("sum", "mean", "max", "min"):
        call(f"segment_{how}", [rows7], lambda x, s: getattr(tf.math, f"segment_{how}")(x, s), [segments])
    call("segment_prod", [rows7], lambda x, s: tf.math.segment_prod(x, s), [segments], gradient=False)
    places = np.array([6, 0, 0, 3, 5, 2, 1], "int32")
    for how in ("sum", "mean", "sqrt_n"):
        call(
            f"sparse_segment_{how}",
            [rows7],
            lambda x, p, s: getattr(tf.sparse, f"segment_{how}")(x, p, s),
            [places, segments],
        )
    anyhow = np.array([2, 0, -1, 2, 4, 0, 2], "int32")
    for how in ("mean", "sqrt_n"):
        call(f"unsorted_segment_{how}", [rows7], lambda x, s: getattr(tf.math, f"unsorted_segment_{how}")(x, s, 6), [anyhow])
    for indexing in ("xy", "ij"):
        call(
            "meshgrid",
            [varied((3,), dtype), varied((2,), dtype, 1), varied((4,), dtype, 2)],
            lambda x, y, z: tf.meshgrid(x, y, z, indexing=indexing),
            label=f" {indexing}",
            indexing=indexing,
        )
    counted = [np.array([3, 1, 1, 5], "int32"), varied((4,), dtype)]
    call("bincount_weights", [], lambda x, w: tf.math.bincount(x, w), counted, gradient=False)
    call("bucketize", [], lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-1, 0, 0, 1.5]), [rows], gradient=False)
    call(
        "histogram_fixed_width",
        [],
        lambda x: tf.histogram_fixed_width(x, [np.array(-2, x.dtype.as_numpy_dtype), np.array(2, x.dtype.as_numpy_dtype)], 5),
        [varied((40,), dtype, 3)],
        gradient=False,
    )
    a, b = varied((2, 3, 4), dtype), varied((4, 3, 5), dtype, 1)
    call("tensordot", [a, b], lambda a, b: tf.tensordot(a, b, [[1, 2], [1, 0]]), ulps=64, near=30)
    call("tensordot_last", [a, b], lambda a, b: tf.tensordot(a, b, 1), ulps=64, near=30)
    call("trace", [a], lambda x: tf.linalg.trace(x))

    # norms, pseudoinverses and least squares
    tall = varied((2, 4, 3), dtype, 1)
    for order in ("euclidean", "1", "3", "inf"):
        call(
            "norm",
            [rows],
            lambda x: tf.norm(x, order if order == "euclidean" else np.array(float(order), x.dtype.as_numpy_dtype), axis=1),
            ulps=32,
            label=f" {order}",
            order=order,
        )
    for order in ("fro", "1", "2", "inf"):
        call(
            "norm_of_matrices",
            [tall],
            lambda x: tf.norm(x, order if order == "fro" else 2 if order == "2" else float(order), axis=[-2, -1]),
            ulps=64,
            near=4,
            gradient=order != "2",
            label=f" {order}",
            order=order,
        )
    call("pinv", [tall], lambda x: tf.linalg.pinv(x), ulps=256)
    of_ranks = np.stack([tall[0], tall[0] * 0, tall[0, :, :1] * np.ones((1, 3), dtype)])  # 3, 0 and 1
    call("matrix_rank", [], lambda x: tf.linalg.matrix_rank(x), [of_ranks], gradient=False)
    right = varied((2, 4, 2), dtype, 2)
    call("matrix_solve_ls", [tall, right], lambda a, b: tf.linalg.lstsq(a, b), ulps=2048)
    call(
        "matrix_solve_ls_regularized",
        [tall, right],
        lambda a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.5),
        ulps=1024,
    )
    factor = np.tril(varied((2, 3, 3), dtype, 4) / 4) + 2 * np.eye(3, dtype=dtype)
    call("cholesky_solve", [factor, varied((2, 3, 2), dtype, 5)], lambda l, b: tf.linalg.cholesky_solve(l, b), ulps=128)

    # a recurrent cell over a sequence, and the loss of sequences
    call(
        "rnn",
        [varied((2, 3, 4), dtype)],
        lambda x, w, b: unrolled(x, lambda row, h: tf.tanh(tf.concat([row, h], 1) @ w + b), 3),
        [varied((7, 3), dtype, 1) / 4, varied((3,), dtype, 2)],
        ulps=128,
    )
    steps, weight = np.array([[0, 2, 1], [4, 3, 0]], "int32"), np.array([[1, 1, 0], [0.5, 2, 1]], dtype)
    for by_example in (0, 1):
        call(
            "sequence_loss",
            [varied((2, 3, 5), dtype, 3)],
            lambda x, y, w: sequence_loss(x, y, w, [1] if by_example else [0, 1]),
            [steps, weight],
            ulps=64,
            label=" by example" if by_example else "",
            by_example=by_example,
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

# ---- cells by TensorFlow's own fused kernels; numbers in eight bits ------------------------------------------------------------
call(
    "lstm",
    [varied((2, 3, 4), "float32")],
    lambda x, w, b: tf.transpose(
        tf.raw_ops.BlockLSTM(
            seq_len_max=3,
            x=tf.transpose(x, [1, 0, 2]),
            cs_prev=tf.zeros([2, 3]),
            h_prev=tf.zeros([2, 3]),
            w=w,
            wci=tf.zeros([3]),
            wcf=tf.zeros([3]),
            wco=tf.zeros([3]),
            b=b,
            forget_bias=1.0,
            cell_clip=-1.0,
            use_peephole=False,
        )[-1],
        [1, 0, 2],
    ),
    [varied((7, 12), "float32", 1) / 4, varied((12,), "float32", 2)],
    ulps=128,
)
call(
    "gru",
    [],
    lambda x, wru, bru, wc, bc: unrolled(
        x, lambda row, h: tf.raw_ops.GRUBlockCell(x=row, h_prev=h, w_ru=wru, w_c=wc, b_ru=bru, b_c=bc)[-1], 3
    ),
    [
        varied((2, 3, 4), "float32"),
        varied((7, 6), "float32", 1) / 4,
        varied((6,), "float32", 2),
        varied((7, 3), "float32", 3) / 4,
        varied((3,), "float32", 4),
    ],
    ulps=128,
    gradient=False,
)
some = varied((3, 4), "float32")
for bits in (3, 8):
    said = {"label": f" {bits} bits", "num_bits": bits, "ulps": 16}
    call("fake_quant_args", [some], lambda x: tf.quantization.fake_quant_with_min_max_args(x, -2, 1.5, bits), **said)
    call(
        "fake_quant_vars",
        [some, np.array(-2, "float32"), np.array(1.5, "float32")],
        lambda x, low, high: tf.quantization.fake_quant_with_min_max_vars(x, low, high, bits),
        **said,
    )
    call(
        "fake_quant_vars_per_channel",
        [some, np.array([-2, -1, -1.5, -0.25], "float32"), np.array([1, 1.5, 0.5, 2], "float32")],
        lambda x, low, high: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high, bits),
        **said,
    )


def quantized(x, low, high, to="quint8", mode="MIN_FIRST"):
    return tf.raw_ops.QuantizeV2(
        input=x, min_range=np.float32(low), max_range=np.float32(high), T=tf.dtypes.as_dtype(to), mode=mode
    )


def real(q, mode="MIN_FIRST"):
    return tf.raw_ops.Dequantize(input=q[0], min_range=q[1], max_range=q[2], mode=mode)


def product_of(f, names, a, b, **fields):
    """A product of quantised numbers, from -2 to 3 and -3 to 2, with its range."""
    a, b = quantized(a, -2, 3), quantized(b, -3, 2)
    operands = zip(names, (a[0], b[0], a[1], a[2], b[1], b[2]))
    return f(**dict(operands), **fields)


def bytes_of(q):
    all_of = {"input": q[0], "input_min": q[1], "input_max": q[2]}
    return tf.raw_ops.Requantize(**all_of, requested_output_min=-10.0, requested_output_max=20.0, out_type=tf.quint8)


def quantized_product(a, b):
    return product_of(tf.raw_ops.QuantizedMatMul, ("a", "b", "min_a", "max_a", "min_b", "max_b"), a, b, Toutput=tf.qint32)


def quantized_convolution(x, f):
    names = ("input", "filter", "min_input", "max_input", "min_filter", "max_filter")
    return product_of(tf.raw_ops.QuantizedConv2D, names, x, f, strides=[1, 1, 1, 1], padding="SAME")


def quantized_relu(x):
    q = quantized(x, -2, 3)
    return tf.raw_ops.QuantizedRelu(features=q[0], min_features=q[1], max_features=q[2])


for to in ("quint8", "qint8"):
    for mode in ("MIN_FIRST", "MIN_COMBINED"):
        call(
            "quantize_dequantize",
            [],
            lambda x: real(quantized(x, -2, 3, to, mode), mode),
            [some],
            near=4,
            gradient=False,
            label=f" {to} {mode}",
            to=to,
            mode=mode,
        )
of_matrices = [varied((3, 5), "float32"), varied((5, 4), "float32", 1)]
call("quantized_matmul", [], lambda a, b: real(quantized_product(a, b)), of_matrices, near=30, gradient=False)
call("requantize", [], lambda a, b: real(bytes_of(quantized_product(a, b))), of_matrices, near=30, gradient=False)
call(
    "quantized_conv2d",
    [],
    lambda x, f: real(quantized_convolution(x, f)),
    [varied((1, 4, 4, 2), "float32"), varied((2, 3, 2, 3), "float32", 1)],
    near=30,
    gradient=False,
)
call("quantized_relu", [], lambda x: real(quantized_relu(x)), [some], near=4, gradient=False)

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
        # given a number as weight, TensorFlow 2 takes all rows for one
        lambda x, z: v1.losses.mean_pairwise_squared_error(z, x, tf.ones([4, 1], dtype)),
        [truth],
        ulps=64,
    )

# ---- sequences, and slices that ids choose -----------------------------------------------------------------------------------------
lengths = np.array([2, 5, 0], "int32")
for time in (1, 0):
    call(
        "reverse_sequence",
        [varied((3, 5, 2) if time else (5, 3, 2), "float32")],
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=time, batch_axis=1 - time),
        [lengths],
        label=f" time {time}",
        time=time,
    )
call("sequence_mask", [], lambda n: tf.sequence_mask(n), [lengths], gradient=False)
call("sequence_mask", [], lambda n: tf.sequence_mask(n, 4), [lengths], gradient=False, label=" of 4", longest=4)
call(
    "sparse_to_dense",
    [varied((3,), "float32")],
    lambda v, ids: v1.sparse_to_dense(ids, [4, 3], v, 0.5),
    [np.array([[0, 2], [1, 0], [3, 1]], "int32")],
)
call(
    "dynamic_partition",
    [varied((5, 2), "float32")],
    lambda x, ids: tf.dynamic_partition(x, ids, 4),
    [np.array([2, 0, 3, 2, 0], "int32")],
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
