# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/tensorflow.txt, or the file that it is given: values and gradients of every op, as TensorFlow 2
computes them. Needs TensorFlow, for instance of the environment that bench/peers sets up:

    build/peers/venv/bin/python tests/tensorflow/vectors.py

Where another result is meant, it stands in the file beside TensorFlow's, and docs/gradients.md gives the reason.
"""

import itertools
import sys
from pathlib import Path

from described import (
    FLOATS,
    WHOLE,
    array_text,
    atan2_slopes,
    cumprod_slopes,
    described,
    floor_mod_slopes,
    floor_quotient,
    np,
    one_op,
    ones_of,
    pow_slopes,
    seed_of,
    tf,
    varied,
    write,
)

INF, NAN = np.inf, np.nan
EDGES = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1,
    -1,
    1.5,
    -1.5,
    2,
    -2,
    2.5,
    -2.5,
    3,
    -3,
    6,
    7.25,
    -10,
    10,
    30,
    -30,
    100,
    -100,
    1e-8,
    -1e-8,
    1e-3,
    1e10,
    -1e10,
    INF,
    -INF,
    NAN,
]
PAIRS = [0.0, -0.0, 0.5, -0.5, 1, -1, 2, -2.5, 3, INF, -INF, NAN]
INTEGERS = [0, 1, -1, 2, -2, 3, 7, -7, 100, -100, 46341, 2147483647, -2147483648]
FEW = [0, 1, -1, 2, -3, 7, -8]

# Of the catalogue, but not compared, and why.
WITHOUT = {
    "Dequantize": "the graphs here hold no quantised numbers; functions.py compares it between reals",
    "HistogramSummary": "TensorBoard reads it in make check",
    "ImageSummary": "TensorBoard reads it in make check",
    "Recv": "a part of a cut run: see Send",
    "RecvBundle": "a part of a cut run: see Send",
    "ScalarSummary": "its bytes are what TensorBoard reads: make check compares them",
    "Send": "a value leaves its part: cut runs are compared with whole ones by tests/session/partitioned_run.cpp",
    "SendAs": "x itself: how it travels is tested by tests/session/partitioned_run.cpp",
    "SendBundle": "a part of a cut run: see Send",
    "CandidateSampler": "the classes are drawn by another generator than TensorFlow's",
    "ComputeAccidentalHits": "only data decides its extents, and a graph here is told them; its test says what it gives",
    "SequenceLengths": "TensorFlow has no such op: a check of the lengths of sequences",
    "Snapshot": "a copy of a value, made where a run is cut",
    "StandIn": "a shape without values, made where a run is cut",
    "TextSummary": "TensorBoard reads it in make check",
    "Const": "an input of every graph here is what it would be",
    "Placeholder": "every input of a graph here is one",
    "Fused": "what reductions are, which are compared by their own names",
    "NoOp": "it has no value",
    "ConcatGrad": "the gradient of Concat, which is compared",
    "AvgPoolGrad": "the gradient of AvgPool, which is compared",
    "Conv2DBackpropFilter": "the gradient of Conv2D, which is compared",
    "Conv2DBackpropInput": "the gradient of Conv2D, which is compared",
    "Conv2DRow": "what plans make of Conv2D and Add, which are compared",
    "DepthwiseConv2dNativeBackpropFilter": "the gradient of DepthwiseConv2dNative, which is compared",
    "DepthwiseConv2dNativeBackpropInput": "the gradient of DepthwiseConv2dNative, which is compared",
    "ExtractImagePatchesGrad": "the gradient of ExtractImagePatches, which is compared",
    "MaxPoolGrad": "the gradient of MaxPool, which is compared",
    "MaxPoolGradGrad": "the gradient of MaxPoolGrad; the test of MaxPool compares it with finite differences",
    "TakeAlongAxisGrad": "the gradient of TakeAlongAxis, which is compared",
    "ExpBelow": "TensorFlow has no such op; reduce_logsumexp is made of it, and its test compares with plain C++",
    "GatherGrad": "the gradient of Gather, which is compared",
    "L2Norm": "TensorFlow's overflows; the test of reduce_l2_norm compares with plain C++",
    "LinearRecurrence": "TensorFlow has no such op; the gradient of Cumprod, which is compared, is made of it",
    "AddRows": "the gradient of several uses of one table; its test compares with plain C++",
    "AddSlice": "the gradient of several slices of one tensor; its test compares with plain C++",
    "StridedSliceGrad": "the gradient of StridedSlice, which is compared",
    "MatMulRow": "what plans make of MatMul and Add, which are compared",
    "MaskOver": "TensorFlow has no such op; boolean_mask is made of it",
    "ReshapeLike": "TensorFlow has no such op; the gradient of Reshape, which is compared, is made of it",
    "TensorArrayWrite": "TensorFlow has no such op on dense tensors; its test compares with plain C++",
    "BiasFor": "TensorFlow has no such op: a check beside an addition, which is compared as Add",
    "Multinomial": "the classes are drawn by another generator than TensorFlow's",
    "Orthogonal": "the numbers are drawn at random; the test of the op looks at the columns' products",
    "RandomNormal": "the numbers are drawn by another generator than TensorFlow's",
    "RandomShuffle": "the order is drawn by another generator than TensorFlow's",
    "RandomUniform": "the numbers are drawn by another generator than TensorFlow's",
    "RandomUniformLike": "the numbers are drawn by another generator than TensorFlow's",
    "TruncatedNormal": "the numbers are drawn by another generator than TensorFlow's",
    "QueueEnqueue": "it changes a queue and has no value",
    "QueueEnqueueMany": "it changes a queue and has no value",
    "QueueDequeue": "what comes out is what was put in: no computation to compare",
    "QueueDequeueMany": "what comes out is what was put in: no computation to compare",
    "QueueDequeueUpTo": "what comes out is what was put in: no computation to compare",
    "QueueClose": "it changes a queue and has no value",
    "QueueRunner": "a note in the graph, which computes nothing",
    "QueueSize": "it looks at a queue",
    "QueueIsClosed": "it looks at a queue",
    "FIFOQueue": "the handle of a queue",
    "PaddingFIFOQueue": "the handle of a queue",
    "PriorityQueue": "the handle of a queue",
    "RandomShuffleQueue": "the handle of a queue",
    "Mutex": "the handle of a lock",
    "MutexAcquire": "it waits, and has no value",
    "MutexRelease": "it frees a lock, and has no value",
    "Semaphore": "the handle of a semaphore",
    "SemaphoreAcquire": "it waits, and has no value",
    "SemaphoreRelease": "it changes a semaphore and has no value",
    "SemaphoreValue": "it looks at a semaphore",
    "CyclicBarrier": "the handle of a barrier",
    "CyclicBarrierWait": "it waits, and has no value",
    "Barrier": "the handle of a barrier",
    "BarrierClose": "it changes a barrier and has no value",
    "BarrierIncompleteSize": "it looks at a barrier",
    "BarrierInsertMany": "it changes a barrier and has no value",
    "BarrierReadySize": "it looks at a barrier",
    "BarrierTakeMany": "what comes out is what was put in: no computation to compare",
    "ConditionalAccumulator": "the handle of an accumulator",
    "AccumulatorApplyGradient": "it changes an accumulator and has no value",
    "AccumulatorSetGlobalStep": "it changes an accumulator and has no value",
    "AccumulatorTakeGradient": "what comes out is what was put in; its test says which mean",
    "AccumulatorCounts": "it looks at an accumulator",
    "ClockAdvance": "it waits for other workers, and has no value",
    "ClockLeave": "it changes a clock",
    "AllGather": "it waits for other ranks",
    "AllReduce": "it waits for other ranks",
    "Collective": "the handle of an exchange",
    "CollectiveBroadcast": "it waits for other ranks",
    "ReplicaGradients": "the handle of the gradients of replicas",
    "ReplicaGradientsPut": "it keeps gradients and has no value",
    "ReplicaGradientsTake": "what comes out is what was put in; tests/train/sync_replicas.cpp says which mean",
    "RoundArrive": "it waits for other replicas",
    "RoundBegin": "it looks at a round",
    "RoundDropped": "it looks at a round",
    "RoundEnd": "it ends a round, and has no value",
    "RoundLeave": "it changes a round",
    "RoundReset": "it changes a round",
    "StalenessClock": "the handle of the clock of workers",
    "SyncRound": "the handle of the rounds of synchronous training",
    "CategoryIds": "the rules of feature columns, by a hash of our own: tests/estimator/canned.cpp",
    "DecodeImage": "the libraries' pixels: tests/ops/image/resize_image.cpp compares files",
    "ResizeImage": "several of TensorFlow's ops in one: tests/ops/image/resize_image.cpp has the values",
    "ResizeImageGrad": "the gradient of ResizeImage, which its test compares with finite differences",
    "DecodeCompressed": "bytes in, bytes out: tests/ops/input/parse_tensor.cpp has a stream of Python's",
    "ParseTensor": "bytes in, a tensor out: tests/ops/input/parse_tensor.cpp has TensorFlow's bytes",
    "SerializeTensor": "a tensor in, bytes out: tests/ops/input/parse_tensor.cpp has TensorFlow's bytes",
    "DecodeCSV": "text in, columns out: tests/ops/input/decode_csv.cpp has the rules",
    "DecodeRaw": "it moves bytes and computes nothing",
    "EnsureShape": "a check of a shape; its test says what is refused",
    "MatchingFiles": "what comes out is what a directory holds: no computation to compare",
    "ReadFile": "what comes out is what a file holds: no computation to compare",
    "RestoreV2": "what comes out is what a file holds: no computation to compare",
    "SaveV2": "it writes a file and has no value",
    "StringFormat": "the graphs here hold no text; its test says what it gives",
    "WriteFile": "it writes a file and has no value",
    "ParseExample": "bytes in, features out: tests/ops/input/parse_example.cpp has TensorFlow's bytes",
    "Reader": "the handle of a reader",
    "ReaderNumRecordsProducedV2": "it looks at a reader",
    "ReaderNumRecordsSkipped": "it looks at a reader",
    "ReaderNumWorkUnitsCompletedV2": "it looks at a reader",
    "ReaderReadUpToV2": "what comes out is what a file holds: no computation to compare",
    "ReaderReadV2": "what comes out is what a file holds: no computation to compare",
    "ReaderResetV2": "it changes a reader and has no value",
    "IteratorGetNext": "what comes out is what the dataset holds: no computation to compare",
    "IteratorV2": "the handle of an iterator",
    "MakeIterator": "it changes an iterator and has no value",
    "HashTableV2": "the handle of a table",
    "InitializeTableFromTextFileV2": "it fills a table and has no value",
    "LookupTableExportV2": "what comes out is what was put in: no computation to compare",
    "LookupTableFindV2": "what comes out is what was put in: no computation to compare",
    "LookupTableInsertV2": "it changes a table and has no value",
    "LookupTableRemoveV2": "it changes a table and has no value",
    "LookupTableSizeV2": "it looks at a table",
    "StackV2": "the handle of a stack",
    "StackPushV2": "it changes a stack and has no value",
    "StackPopV2": "what comes out is what was put in: no computation to compare",
    "StackSize": "it looks at a stack",
    "VariableV2": "what a variable is, the runs between its writes say; no value follows from operands",
}
WITHOUT["MatrixTranspose"] = "in TensorFlow it is Transpose, which is compared"
for name in ("QuantizeV2", "QuantizedConv2D", "QuantizedMatMul", "QuantizedRelu", "Requantize"):
    WITHOUT[name] = "the graphs here hold no quantised numbers; functions.py compares it between reals"
WITHOUT["_Arg"] = "what a body is given: an input of it as Placeholder is of a graph"
for name in ("Case", "While", "ScanSlices", "PartitionedCall"):
    WITHOUT[name] = "what its bodies compute is compared with plain C++ by tests/random_control_flow.cpp"
for name in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"):
    WITHOUT[name] = "a primitive has no kernel; tests/passes/functionalize/functionalize_control_flow.cpp and tests/runtime/dataflow/dataflow_executor.cpp say what they give together"
for name in ("HostCall", "AsyncHostCall"):
    WITHOUT[name] = "a function of the program's; its test says what comes back"
for name in ("Where", "Unique"):
    WITHOUT[name] = "only data decides its extents, and a graph here is told them; its test says what it gives"
for name in ("AsString", "StringJoin", "StringLength", "StringToNumber", "StringEqual", "StringSelect",
             "StringLower", "StringUpper", "StringStrip", "StringSplit", "StringToHashBucketFast", "Substr"):
    WITHOUT[name] = "the graphs here hold no text; its test says what it gives"
for name in ("ScalarSummary", "HistogramSummary", "ImageSummary", "TextSummary"):
    WITHOUT[name] = "its value is the bytes of a message; TensorBoard reads them in tests/house/check_tensorboard.py"
for name in ("Real", "Imag", "Complex"):
    WITHOUT[name] = "the graphs here hold no complex numbers; those of rare_vectors.py do"
for name in ("RandomGamma", "RandomPoissonV2"):
    WITHOUT[name] = "the numbers are drawn by another generator than TensorFlow's"
WITHOUT["CountUpTo"] = "a write of a variable, which has no gradient; its test says what the variable holds"
WITHOUT["IsVariableInitialized"] = "it asks for a variable's state, not for a value"
WITHOUT["DropoutRate"] = "TensorFlow has no such op: a check of the rate that a run gives dropout"
WITHOUT["FakeQuantWidth"] = "TensorFlow has no such op: a check of the range that a run gives fake_quant"
WITHOUT["Range"] = "its operands are numbers that decide its extent; its test counts along"
WITHOUT["IndexCount"] = "TensorFlow has no such op; segment_sum, bincount and dynamic_stitch are made of it"
WITHOUT["PartitionPlaces"] = "TensorFlow has no such op; dynamic_partition is made of it, and only data decides its extents"
WITHOUT["SegmentPlaces"] = "TensorFlow has no such op; the gradient of UnsortedSegmentProd, which is compared, is made of it"
WITHOUT["SegmentGather"] = "the gradient of UnsortedSegmentSum, which is compared"
WITHOUT["ListDiff"] = "only data decides its extents, and a graph here is told them; its test says what it gives"
WITHOUT["SliceGrad"] = "the gradient of Slice, which is compared"
WITHOUT["TileGrad"] = "the gradient of Tile, which is compared"
WRITES = ("Assign", "AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub", "ScatterUpdate", "AssignMovingAverage")
WRITES += ("ScatterDiv", "ScatterMax", "ScatterMin", "ScatterMul", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate")
for name in WRITES:
    WITHOUT[name] = "a write of a variable, which has no gradient; its test says what the variable holds"
for name in ("Adadelta", "Adagrad", "CenteredRMSProp", "Ftrl", "GradientDescent", "LazyAdam", "LazyAdamW",
             "Momentum", "RMSProp"):
    for rows in ("", "Rows"):
        WITHOUT[f"Apply{name}{rows}"] = (
            "an optimizer's write, which has no gradient; its test follows TensorFlow's formula"
        )
for name in ("Adam", "AdamW"):
    WITHOUT[f"Apply{name}"] = "an optimizer's write, which has no gradient; its test follows TensorFlow's formula"

graphs = []


def graph(*about, **more):
    graphs.append(one_op(*about, **more))


def elementwise(op, f, operands=1, dtypes=FLOATS, values=None, ulps=4, near=0, **more):
    for dtype in dtypes:
        whole = dtype in WHOLE
        if operands == 1:
            edges = values if values is not None else (INTEGERS if whole else EDGES)
            inputs = [np.array(edges).astype(dtype)]
        else:
            edges = values if values is not None else (FEW if whole else PAIRS)
            tuples = (
                list(itertools.product(edges, repeat=operands))
                if operands == 2
                else [(a, b, c) for a in edges for b in edges for c in edges if b <= c]
            )
            inputs = list(np.array(tuples).T.astype(dtype))
        graph(op, op, inputs, f, ulps, near, **more)


def beside(op, f, **more):
    """Two operands that stretch."""
    for dtype in more.pop("dtypes", FLOATS):
        for a, b in (
            ((2, 3), (3,)),
            ((2, 1), (1, 3)),
            ((), (2, 2)),
            ((0, 3), (1,)),
            ((2, 0), (2, 1)),
            ((1, 1), (0, 1)),
        ):
            graph(op, op, [varied(a, dtype), varied(b, dtype, 1)], f, label=" " + str(list(b)), ulps=8, near=1, **more)


# ---- elementwise -----------------------------------------------------------------------------------------------------
NUMBERS = FLOATS + WHOLE
for op, f in {
    "Acos": tf.acos,
    "Asin": tf.asin,
    "Asinh": tf.asinh,
    "Atan": tf.atan,
    "Atanh": tf.atanh,
    "Acosh": tf.acosh,
    "Cos": tf.cos,
    "Cosh": tf.cosh,
    "Erfc": tf.math.erfc,
    "Exp": tf.exp,
    "Expm1": tf.math.expm1,
    "Log": tf.math.log,
    "Log1p": tf.math.log1p,
    "Reciprocal": tf.math.reciprocal,
    "Rsqrt": tf.math.rsqrt,
    "Sin": tf.sin,
    "Sinh": tf.sinh,
    "Sqrt": tf.sqrt,
    "Tan": tf.tan,
}.items():
    elementwise(op, f, ulps=8)
for op, f in {
    "Sigmoid": tf.sigmoid,
    "Tanh": tf.tanh,
    "Elu": tf.nn.elu,
    "Softplus": tf.nn.softplus,
    "Lgamma": tf.math.lgamma,
    "Gelu": lambda x: x * (1 + tf.math.erf(x * 2**-0.5)) / 2,  # tf.nn.gelu of float64 has a constant of float32 in it
    "Silu": tf.nn.silu,
}.items():
    elementwise(
        op, f, ulps=16, near=1, here=(lambda y, x: np.where(x == INF, x, y)) if op == "Gelu" else None
    )  # differences from 1, which few digits are left of
elementwise(
    "Selu", tf.nn.selu, ulps=8, near=1, values=[x for x in EDGES if abs(x) != 1e-8]
)  # TensorFlow's result there is 0
for op, f in {"Ceil": tf.math.ceil, "Floor": tf.floor, "Rint": tf.math.rint, "Round": tf.round}.items():
    elementwise(op, f, here_dx=lambda dx, x: ["zero"])
elementwise("Erf", tf.math.erf, here=lambda y, x: np.where(np.isinf(x), np.sign(x), y))
elementwise("Digamma", tf.math.digamma, ulps=16, near=1, here_dx=lambda dx, x: [np.where(x == -INF, NAN, dx[0])])
for op, f in {
    "Abs": tf.abs,
    "Neg": tf.negative,
    "Sign": tf.sign,
    "Square": tf.square,
    "Relu": tf.nn.relu,
    "Relu6": tf.nn.relu6,
}.items():
    elementwise(op, f, dtypes=NUMBERS)
for op, f in {"IsFinite": tf.math.is_finite, "IsInf": tf.math.is_inf, "IsNan": tf.math.is_nan}.items():
    elementwise(op, f)
elementwise("Conj", tf.math.conj)
elementwise("CheckNumerics", lambda x: tf.debugging.check_numerics(x, ""), values=[x for x in EDGES if np.isfinite(x)])
for op, f in {
    "Add": tf.add,
    "Sub": tf.subtract,
    "Mul": tf.multiply,
    "Maximum": tf.maximum,
    "Minimum": tf.minimum,
    "SquaredDifference": tf.math.squared_difference,
    "Equal": tf.equal,
    "NotEqual": tf.not_equal,
    "Less": tf.less,
    "LessEqual": tf.less_equal,
    "Greater": tf.greater,
    "GreaterEqual": tf.greater_equal,
}.items():
    elementwise(op, f, 2, dtypes=NUMBERS)
    beside(op, f)
for op, f in {"Div": tf.divide, "Atan2": tf.atan2, "Pow": tf.pow}.items():
    elementwise(op, f, 2, here_dx={"Atan2": atan2_slopes, "Pow": pow_slopes}.get(op))
    beside(op, f)
for op, f in {
    "DivNoNan": tf.math.divide_no_nan,
    "MulNoNan": tf.math.multiply_no_nan,
    "Xdivy": tf.math.xdivy,
    "Xlogy": tf.math.xlogy,
}.items():
    elementwise(op, f, 2, ulps=8)
    beside(op, f)
for op, f in {"FloorDiv": tf.math.floordiv, "FloorMod": tf.math.floormod}.items():
    if op == "FloorDiv":
        elementwise(op, f, 2, here=floor_quotient, here_dx=lambda dx, a, b: ["zero", "zero"])
    else:
        elementwise(op, f, 2, here_dx=floor_mod_slopes)
    for dtype in WHOLE:
        a, b = np.array(list(itertools.product(FEW, [n for n in FEW if n]))).T.astype(dtype)
        graph(op, op, [a, b], f)
for dtype in WHOLE:
    a, b = np.array(list(itertools.product(FEW, [n for n in FEW if n]))).T.astype(dtype)
    graph("Div", "Div", [a, b], tf.truncatediv)
    a, b = np.array(list(itertools.product(FEW, range(6)))).T.astype(dtype)
    graph("Pow", "Pow", [a, b], tf.pow)
for dtype in FLOATS:
    n, x = np.array(list(itertools.product(range(4), [0.25, 0.5, 1, 1.5, 2, 3.75, 10, 30]))).T.astype(dtype)
    graph(
        "Polygamma", "Polygamma", [n, x], tf.math.polygamma, ulps=16, near=1, here_dx=lambda dx, n, x: ["zero", dx[1]]
    )
    x = np.array(EDGES, dtype)
    g = seed_of(tf.constant(x))  # in TensorFlow the slope is no tensor
    graph(
        "LeakyRelu",
        "LeakyRelu",
        [x, np.full_like(x, 0.25)],
        lambda x, a: tf.nn.leaky_relu(x, 0.25),
        here_dx=lambda dx, x, a: [dx[0], array_text(np.where(x > 0, 0, g * x).astype(x.dtype))],
    )
    x, z = np.array(
        list(itertools.product([x for x in PAIRS if np.isfinite(x)] + [30, -30, 200, -200], [0, 0.5, 1]))
    ).T.astype(dtype)
    graph(
        "SigmoidCrossEntropy",
        "SigmoidCrossEntropy",
        [x, z],
        lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(z, x),
        ulps=8,
        near=1,
    )
elementwise("Clip", tf.clip_by_value, 3, dtypes=NUMBERS, values=[0.0, -0.0, 1, -1, 2, -2.5, 3])
elementwise("Clip", tf.clip_by_value, 3, values=[0.0, 1, INF, -INF])
for dtype in NUMBERS:
    few = np.array(FEW if dtype in WHOLE else PAIRS, dtype)
    choice = np.arange(len(few)) % 2 == 0
    graph("Select", "Select", [choice, few, few[::-1].copy()], tf.where, label=f" {dtype}")
truth = [np.array(x) for x in ([True, True, False, False], [True, False, True, False])]
for op, f in {"LogicalAnd": tf.logical_and, "LogicalOr": tf.logical_or, "LogicalXor": tf.math.logical_xor}.items():
    graph(op, op, truth, f)
graph("LogicalNot", "LogicalNot", truth[:1], tf.logical_not)
for a, b in itertools.product(NUMBERS + ("bool",), repeat=2):
    if a == b:
        continue
    small = [0, 1, 2, 7, 100] if a in WHOLE else [0, 1] if a == "bool" else [0, 0.5, 1, -1.5, 2.5, 100]
    graph(f"Cast to {b}", "Cast", [np.array(small).astype(a)], lambda x: tf.cast(x, b), to=b)

for dtype in FLOATS:  # bounds that cross, and bounds that are none
    x, low, high = (np.array(v, dtype) for v in ([1, 2.5, 5, 1, 1, 3], [3, 3, 3, NAN, 0, 2], [2, 2, 2, 2, NAN, NAN]))
    crossed = low > high
    graph(
        "Clip",
        "Clip",
        [x, low, high],
        tf.clip_by_value,
        label=" with bounds that cross",
        seed=ones_of,
        here=lambda y, x, low, high: np.where(crossed, high, NAN),
        here_dx=lambda dx, x, low, high: [np.where(crossed, 0, 1), np.zeros(6), np.where(crossed, 1, 0)],
    )

# What comes from above may be infinite, or no number.
ABOVE = {
    "Acos": tf.acos,
    "Acosh": tf.acosh,
    "Asin": tf.asin,
    "Asinh": tf.asinh,
    "Atan": tf.atan,
    "Atanh": tf.atanh,
    "Cos": tf.cos,
    "Cosh": tf.cosh,
    "Exp": tf.exp,
    "Expm1": tf.math.expm1,
    "Log": tf.math.log,
    "Log1p": tf.math.log1p,
    "Neg": tf.negative,
    "Reciprocal": tf.math.reciprocal,
    "Rsqrt": tf.math.rsqrt,
    "Sin": tf.sin,
    "Sinh": tf.sinh,
    "Sqrt": tf.sqrt,
    "Tan": tf.tan,
    "Square": tf.square,
    "Abs": tf.abs,
    "Sigmoid": tf.sigmoid,
    "Tanh": tf.tanh,
    "Softplus": tf.nn.softplus,
    "Elu": tf.nn.elu,
    "Selu": tf.nn.selu,
    "Relu": tf.nn.relu,
    "Relu6": tf.nn.relu6,
    "Sign": tf.sign,
    "Floor": tf.floor,
    "Ceil": tf.math.ceil,
    "Round": tf.round,
    "Rint": tf.math.rint,
    "Silu": tf.nn.silu,
}
FLAT = {"Sign": lambda x: x == x, "Relu": lambda x: x <= 0, "Relu6": lambda x: (x <= 0) | (x >= 6)}
for dtype in FLOATS:
    x = np.repeat(np.array([-7.25, -1, -0.5, 0, 0.5, 1, 6, 7.25]), 3).astype(dtype)
    g = np.tile(np.array([INF, -INF, NAN]), 8).astype(dtype)
    for op, f in ABOVE.items():
        none = op in ("Floor", "Ceil", "Round", "Rint")
        graph(
            op,
            op,
            [x],
            f,
            16,
            1,
            seed=lambda y: g,
            label=" under no numbers",
            here_dx=(
                (lambda dx, x: ["zero"])
                if none
                else (lambda dx, x: [np.where(FLAT[op](x), 0, dx[0])]) if op in FLAT else None
            ),
        )
    a, b = (v.astype(dtype) for v in (np.repeat([1.0, 1, 2], 3), np.repeat([1.0, 2, 1], 3)))
    g9 = np.tile(np.array([INF, -INF, NAN]), 3).astype(dtype)
    for op, f in {"Maximum": tf.maximum, "Minimum": tf.minimum}.items():
        graph(op, op, [a, b], f, seed=lambda y: g9, label=" under no numbers")
    for op, f in {"Max": tf.reduce_max, "Min": tf.reduce_min}.items():
        for above in (INF, NAN):
            graph(
                op,
                op,
                [np.array([1, 2, 1, 2], dtype)],
                lambda x: f(x, [0]),
                axes=[0],
                seed=lambda y: np.array(above, dtype),
                label=f" under {above}",
                here_dx=lambda dx, x: [np.where(x == (2 if op == "Max" else 1), above, 0)],
            )

# ---- reductions, and what runs along an axis -------------------------------------------------------------------------
TIES = np.array([[1, 3, 3], [2, 2, 2], [-1, 0, -0.0], [5, 4, 5]])
SHAPES = [
    ((4, 3), [0]),
    ((4, 3), [1]),
    ((4, 3), [0, 1]),
    ((2, 3, 4), [1]),
    ((2, 3, 4), [-1, 0]),
    ((5,), [0]),
    ((0, 3), [0]),
    ((0, 3), [1]),
    ((2, 0), [1]),
    ((1, 1), [0]),
]
for op, f in {
    "Sum": tf.reduce_sum,
    "Mean": tf.reduce_mean,
    "Prod": tf.reduce_prod,
    "Max": tf.reduce_max,
    "Min": tf.reduce_min,
}.items():
    for dtype in NUMBERS:
        for shape, axes in SHAPES:
            if op == "Mean" and dtype in WHOLE:  # TensorFlow sums whole numbers up in their own type, and divides by 0
                continue
            for keep in (False, True):
                graph(
                    op,
                    op,
                    [varied(shape, dtype)],
                    lambda x: f(x, axes, keepdims=keep),
                    ulps=8,
                    near=1,
                    axes=axes,
                    keep=keep,
                    label=f" over {axes}{' kept' if keep else ''}",
                )
        (
            graph(op, op, [TIES.astype(dtype)], lambda x: f(x, [1]), axes=[1], ulps=8, label=" with ties")
            if op != "Mean" or dtype in FLOATS
            else 0
        )
    for dtype in FLOATS:
        for row in (
            [0.0, 2, 3],
            [0.0, 0, 3],
            [1, INF, -INF],
            [1, INF, INF],
            [NAN, 1, 2],
            [INF, 2, NAN],
            [-INF, -INF, 1],
            [0.0, INF, 1],
        ):
            graph(op, op, [np.array(row, dtype)], lambda x: f(x, [0]), axes=[0], label=f" of {row}")
for op, f in {"All": tf.reduce_all, "Any": tf.reduce_any}.items():
    for shape, axes in SHAPES[:4] + SHAPES[6:]:
        graph(op, op, [varied(shape, "float32") > 0], lambda x: f(x, axes), axes=axes, label=f" over {axes}")
for op, f in {"ArgMax": tf.argmax, "ArgMin": tf.argmin}.items():
    for dtype in NUMBERS:
        graph(op, op, [TIES.astype(dtype)], lambda x: f(x, 1, tf.int32), axis=1, label=" with ties")
        graph(op, op, [varied((2, 3, 4), dtype)], lambda x: f(x, 1, tf.int64), axis=1, output_type="int64")
for op, f in {"Cumsum": tf.cumsum, "Cumprod": tf.math.cumprod}.items():
    for dtype in NUMBERS:
        for exclusive, reverse in itertools.product((False, True), repeat=2):
            for shape, axis in (((4, 3), 0), ((2, 3, 2), -2), ((0, 3), 0), ((3, 0), 1)):
                graph(
                    op,
                    op,
                    [varied(shape, dtype)],
                    lambda x: f(x, axis, exclusive, reverse),
                    ulps=16,
                    near=1,
                    axis=axis,
                    exclusive=exclusive,
                    reverse=reverse,
                    label=f" {axis} {exclusive:d}{reverse:d}",
                )
    for dtype in FLOATS:
        for row in ([2, 0.0, 3], [0.0, 0, 3], [1, NAN, 2], [1, INF, 2]):
            slopes = (lambda dx, x: [cumprod_slopes(x, seed_of(tf.constant(x)))]) if op == "Cumprod" else None
            graph(op, op, [np.array(row, dtype)], lambda x: f(x, 0), axis=0, label=f" of {row}", here_dx=slopes)
for op, f in {"Softmax": tf.nn.softmax, "LogSoftmax": tf.nn.log_softmax}.items():
    for dtype in FLOATS:
        for shape in ((4,), (3, 5), (2, 3, 4), (0, 3), (1, 1)):
            graph(op, op, [varied(shape, dtype)], f, ulps=16, near=1)
        for row in ([1000, 0, -1000], [0, INF, 1], [NAN, 0, 1], [0, -INF, 1], [-INF, -INF, -INF]):
            graph(op, op, [np.array(row, dtype)], f, ulps=8, near=1, label=f" of {row}")

# ---- windows -----------------------------------------------------------------------------------------------------------
PADDINGS = {"VALID": 0, "SAME": 1, "EXPLICIT": 2}
for dtype in FLOATS:
    near = {"ulps": 16, "near": 16}
    for size, filters, strides, padding in (
        ((2, 5, 4, 3), (3, 2, 3, 4), (1, 1), "VALID"),
        ((1, 5, 6, 2), (3, 3, 2, 3), (2, 1), "SAME"),
        ((2, 4, 4, 1), (2, 4, 1, 2), (1, 3), "SAME"),
        ((1, 3, 3, 2), (1, 1, 2, 2), (2, 2), "VALID"),
    ):
        about = {"strides": strides, "padding": PADDINGS[padding], "label": f" {list(filters)} {list(strides)} {padding}"}
        graph(
            "Conv2D",
            "Conv2D",
            [varied(size, dtype), varied(filters, dtype, 1)],
            lambda x, f: tf.nn.conv2d(x, f, strides, padding),
            **about,
            **near,
        )
        outs = filters[:2] + (5, size[3])
        like = [size[0]] + [
            n * s + (max(k - s, 0) if padding == "VALID" else 0) for n, s, k in zip(size[1:3], strides, filters)
        ]
        graph(
            "Conv2DTranspose",
            "Conv2DTranspose",
            [varied(size, dtype), varied(outs, dtype, 1)],
            lambda x, f: tf.nn.conv2d_transpose(x, f, like + [5], strides, padding),
            **about,
            **near,
        )
        if strides[0] == strides[1]:
            graph(
                "DepthwiseConv2dNative",
                "DepthwiseConv2dNative",
                [varied(size, dtype), varied(filters, dtype, 1)],
                lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, *strides, 1], padding),
                **about,
                **near,
            )
    graph(
        "Conv2D",
        "Conv2D",
        [varied((1, 4, 3, 2), dtype), varied((2, 3, 2, 2), dtype, 1)],
        lambda x, f: tf.nn.conv2d(x, f, (1, 2), [[0, 0], [1, 0], [2, 1], [0, 0]]),
        strides=(1, 2),
        padding=2,
        pads_before=(1, 2),
        pads_after=(0, 1),
        label=" with pads",
        **near,
    )
    graph(
        "Conv2D",
        "Conv2D",
        [varied((1, 7, 6, 2), dtype), varied((2, 3, 2, 2), dtype, 1)],
        lambda x, f: tf.nn.conv2d(x, f, 1, "VALID", dilations=(3, 2)),
        dilations=(3, 2),
        gradient=False,  # TensorFlow's of dilated windows is not there on a CPU
        label=" dilated",
        **near,
    )
    graph(
        "Conv2D",
        "Conv2D",
        [varied((1, 3, 4, 3, 2), dtype), varied((2, 3, 2, 2, 3), dtype, 1)],
        lambda x, f: tf.nn.conv3d(x, f, [1, 1, 2, 1, 1], "SAME"),
        strides=(1, 2, 1),
        padding=1,
        label=" over volumes",
        **near,
    )
    for size, k, strides, padding in (
        ((2, 4, 6, 3), (2, 2), (2, 2), "VALID"),
        ((1, 5, 5, 2), (3, 2), (1, 2), "SAME"),
        ((1, 3, 7, 1), (3, 3), (2, 2), "SAME"),
    ):
        for op, f in {"MaxPool": tf.nn.max_pool2d, "AvgPool": tf.nn.avg_pool2d}.items():
            graph(
                op,
                op,
                [varied(size, dtype)],
                lambda x: f(x, k, strides, padding),
                ksize=k,
                strides=strides,
                padding=PADDINGS[padding],
                label=f" {list(k)} {list(strides)} {padding}",
                **near,
            )
        graph(
            "ExtractImagePatches",
            "ExtractImagePatches",
            [varied(size, dtype)],
            lambda x: tf.image.extract_patches(x, [1, *k, 1], [1, *strides, 1], [1, 1, 1, 1], padding),
            ksize=k,
            strides=strides,
            padding=PADDINGS[padding],
            label=f" {list(k)} {list(strides)} {padding}",
            **near,
        )
for dtype in NUMBERS:
    for n, k in ((5, 3), (4, 4), (3, 0)):
        x = varied((2, n), dtype, steps=1)
        graph("TopKV2", "TopKV2", [x], lambda x: tf.math.top_k(x, k), k=k, label=f" {k}", gradient=k > 0)
    ids = np.array([[3, 0, 3], [1, 1, 2]], "int32")
    graph(
        "TakeAlongAxis",
        "TakeAlongAxis",
        [varied((2, 4), dtype), ids],
        lambda x, i: tf.gather(x, i, batch_dims=1),
    )

# ---- rows of indices, segments ----------------------------------------------------------------------------------------
def counted(op, operands, count, f, **fields):
    """The last operand is a number that decides the first extent."""
    d = described(f"{op} {operands[0].dtype.name}{list(operands[0].shape)} {count}", 8, 8)
    inputs = [d.input(x) for x in operands] + [d.const(np.array(count, "int64"))]
    y = d.op(op, inputs, f, **fields)
    value = d.values[y[0]]
    graphs.append(d.finish(y, {y[0]: seed_of(value)} if value.dtype.is_floating else None))


for dtype in NUMBERS:
    for ids in (
        np.array([[1, 3], [0, 0], [2, 1]], "int32"),
        np.array([[2], [0]], "int64"),
        np.zeros((0, 2), "int32"),
    ):
        x = varied((3, 4), dtype)
        graph("GatherNd", "GatherNd", [x, ids], tf.gather_nd, label=f" {ids.tolist()}", ulps=8, near=1)
        updates = varied(tf.gather_nd(x, ids).shape, dtype, 1)
        for op, f in {
            "TensorScatterAdd": tf.tensor_scatter_nd_add,
            "TensorScatterSub": tf.tensor_scatter_nd_sub,
            "TensorScatterUpdate": tf.tensor_scatter_nd_update,
        }.items():
            graph(op, op, [x, ids, updates], f, label=f" {ids.tolist()}", ulps=8, near=1)
    for op, f in {
        "UnsortedSegmentSum": tf.math.unsorted_segment_sum,
        "UnsortedSegmentProd": tf.math.unsorted_segment_prod,
        "UnsortedSegmentMax": tf.math.unsorted_segment_max,
        "UnsortedSegmentMin": tf.math.unsorted_segment_min,
    }.items():
        x = varied((5, 2), dtype, steps=2)
        x[2, 1] = 0
        for ids, count in (([0, 2, 2, -1, 0], 4), ([1, 1, 1, 1, 1], 2)):
            counted(op, [x, np.array(ids, "int32")], count, f)
    x = varied((4, 2), dtype)
    counted(
        "DynamicStitch", [np.array([1, 3, 0, 2], "int32"), x], 4, lambda i, x, n: tf.dynamic_stitch([i], [x])
    )
    for shift, axis in ((1, 0), (-5, 1), (0, -1)):
        x, label = varied((3, 4), dtype), f" {shift} {axis}"
        graph("Roll", "Roll", [x], lambda x: tf.roll(x, shift, axis), shift=shift, axis=axis, label=label)
for whole in WHOLE:
    graph("InvertPermutation", "InvertPermutation", [np.array([2, 0, 3, 1], whole)], tf.math.invert_permutation)
floats = varied((2, 2), "float32")
graph("Bitcast", "Bitcast", [floats], lambda x: tf.bitcast(x, tf.int32), type="int32", gradient=False)
graph("Bitcast", "Bitcast", [varied((2, 2), "int32")], lambda x: tf.bitcast(x, tf.int64), type="int64", label=" wider")

# ---- products, losses ------------------------------------------------------------------------------------------------
for dtype in NUMBERS:
    for m, k, n in ((2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3), (5, 4, 0)):
        for ta, tb in itertools.product((False, True), repeat=2):
            a, b = varied((k, m) if ta else (m, k), dtype), varied((n, k) if tb else (k, n), dtype, 1)
            graph(
                "MatMul",
                "MatMul",
                [a, b],
                lambda a, b: tf.matmul(a, b, ta, tb),
                ulps=16,
                near=4,
                transpose_a=ta,
                transpose_b=tb,
                label=f" {m}{k}{n} {ta:d}{tb:d}",
            )
    for left, right in (((2,), (2,)), ((2, 1), (3,)), ((), (2,)), ((0,), (1,))):
        for ta, tb in ((False, False), (True, True)):
            a = varied(left + ((3, 2) if ta else (2, 3)), dtype)
            b = varied(right + ((4, 3) if tb else (3, 4)), dtype, 1)
            graph(
                "BatchMatMulV2",
                "BatchMatMulV2",
                [a, b],
                lambda a, b: tf.matmul(a, b, ta, tb),
                ulps=16,
                near=4,
                adj_x=ta,
                adj_y=tb,
                label=f" by {list(b.shape)} {ta:d}{tb:d}",
            )

# ---- linear algebra --------------------------------------------------------------------------------------------------
for dtype in FLOATS:
    near = dict(ulps=64, near=8)
    square = (varied((2, 3, 3), dtype) + 4 * np.eye(3)).astype(dtype)
    positive = (np.matmul(square, square.transpose(0, 2, 1)) / 8).astype(dtype)
    sides = varied((2, 3, 2), dtype, 1)
    for flag in (False, True):
        graph("MatrixInverse", "MatrixInverse", [square], lambda x: tf.linalg.inv(x, flag), adjoint=flag, label=f" {flag:d}",
              gradient=not flag, **near)  # TensorFlow's gradient of the adjoint is that of the inverse
        graph("MatrixSolve", "MatrixSolve", [square, sides], lambda a, b: tf.linalg.solve(a, b, flag), adjoint=flag,
              label=f" {flag:d}", **near)
        for lower in (False, True):
            graph("MatrixTriangularSolve", "MatrixTriangularSolve", [square, sides],
                  lambda a, b: tf.linalg.triangular_solve(a, b, lower, flag), lower=lower, adjoint=flag,
                  label=f" {lower:d}{flag:d}", **near)
    graph("MatrixDeterminant", "MatrixDeterminant", [square], tf.linalg.det, **near)
    graph("LogMatrixDeterminant", "LogMatrixDeterminant", [square], tf.linalg.slogdet, **near)
    graph("Cholesky", "Cholesky", [positive], tf.linalg.cholesky, **near)
    for shape in ((3, 3), (2, 4, 2)):
        graph("Qr", "Qr", [varied(shape, dtype)], tf.linalg.qr, ulps=256, near=8)
    graph("SelfAdjointEigV2", "SelfAdjointEigV2", [positive], tf.linalg.eigvalsh, compute_v=False, **near)
    graph("Svd", "Svd", [varied((2, 3, 2), dtype)], lambda x: tf.linalg.svd(x, compute_uv=False), compute_uv=False, **near)
    for equation, a, b in (("ij,jk->ik", (2, 3), (3, 2)), ("abc,cd->dab", (2, 2, 3), (3, 2)), ("bij,bik->bjk", (2, 3, 2), (2, 3, 2))):
        graph("Einsum", "Einsum", [varied(a, dtype), varied(b, dtype, 1)], lambda a, b: tf.einsum(equation, a, b),
              equation=equation, label=f" {equation}", ulps=16, near=8)
for dtype in NUMBERS:
    x = varied((2, 3, 4), dtype)
    for lower, upper in ((-1, 0), (0, -1), (1, 1), (0, 0)):
        graph("MatrixBandPart", "MatrixBandPart", [x], lambda x: tf.linalg.band_part(x, lower, upper), num_lower=lower,
              num_upper=upper, label=f" {lower} {upper}")
    graph("MatrixDiag", "MatrixDiag", [x], tf.linalg.diag)
    graph("MatrixDiagPart", "MatrixDiagPart", [x], tf.linalg.diag_part)
    graph("MatrixSetDiag", "MatrixSetDiag", [x, varied((2, 3), dtype, 1)], tf.linalg.set_diag)
    graph("Diag", "Diag", [x[0, :2]], tf.linalg.tensor_diag)
    graph("DiagPart", "DiagPart", [varied((2, 3, 2, 3), dtype)], tf.linalg.tensor_diag_part)


def first_gradient(y):
    return np.array([1.0, -0.5, 2])[: int(np.prod(y.shape))].astype(y.dtype.as_numpy_dtype).reshape(y.shape)


for dtype in FLOATS:
    for shape in ((3, 4), (1, 2), (0, 4)):
        logits, labels = varied(shape, dtype), np.abs(varied(shape, dtype, 1)) + 0.125
        for sum_to_one in (True, False):  # TensorFlow takes for granted that they do
            z = (labels / labels.sum(1, keepdims=True) if sum_to_one else labels).astype(dtype)
            true = tf.nn.softmax(logits).numpy() * z.sum(1, keepdims=True) - z
            d = described(
                f"SoftmaxCrossEntropyWithLogits {dtype}{list(shape)}{'' if sum_to_one else ' any labels'}", 16, 8
            )
            operands = d.input(logits), d.input(z)
            y = d.op(
                "SoftmaxCrossEntropyWithLogits",
                operands,
                lambda x, z: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=z),
            )
            g = first_gradient(d.values[y[0]])
            graphs.append(
                d.finish(y, {y[0]: g})
                if sum_to_one
                else d.finish(
                    y, {y[0]: g}, lambda v: true if v.ndim == 2 else v, lambda dx, dz: [g[:, None] * true, dz]
                )
            )
        for whole in WHOLE:
            d = described(f"SparseSoftmaxCrossEntropyWithLogits {dtype}{list(shape)} {whole}", 16, 1)
            x, z = d.input(logits), d.input((np.arange(shape[0]) % shape[1]).astype(whole))
            y = d.op(
                "SparseSoftmaxCrossEntropyWithLogits",
                [x, z],
                lambda x, z: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=z),
            )
            graphs.append(d.finish(y, {y[0]: first_gradient(d.values[y[0]])}))

# ---- arrays ----------------------------------------------------------------------------------------------------------
for dtype in NUMBERS:
    x, empty = varied((3, 4), dtype), varied((0, 4), dtype)
    number = "float64" if dtype in FLOATS else "int32"
    for shape, to in (((3, 1), (3, 4)), ((4,), (2, 3, 4)), ((), (2,)), ((1, 4), (0, 4)), ((0, 1), (0, 3))):
        graph(
            "BroadcastTo",
            "BroadcastTo",
            [varied(shape, dtype)],
            lambda x: tf.broadcast_to(x, to),
            shape=to,
            label=f" {list(to)}",
        )
    for a, b, axis in (
        ((2, 3), (1, 3), 0),
        ((2, 3), (2, 2), 1),
        ((2, 3), (0, 3), 0),
        ((2, 0), (2, 3), -1),
        ((0, 3), (0, 3), 0),
    ):
        graph(
            "Concat",
            "Concat",
            [varied(a, dtype), varied(b, dtype, 1)],
            lambda a, b: tf.concat([a, b], axis),
            axis=axis,
            label=f" {list(b)}",
        )
    for axis in (0, 1, -1):
        graph("ExpandDims", "ExpandDims", [x], lambda x: tf.expand_dims(x, axis), axis=axis, label=f" {axis}")
    for shape in ([2, 3], [2, 0], []):
        d = described(f"Fill {dtype}{shape}")
        y = d.op("Fill", [d.const(np.array(shape, "int32")), d.input(np.array(3, dtype))], tf.fill)
        graphs.append(d.finish(y, {y[0]: seed_of(d.values[y[0]])} if dtype in FLOATS else None))
    for ids in ([0, 2, 2], [[1, 1], [2, 0]], [], 1):
        for axis, whole in ((0, "int32"), (1, "int64")):
            graph(
                "Gather",
                "Gather",
                [x, np.array(ids, whole)],
                lambda x, i: tf.gather(x, i, axis=axis),
                axis=axis,
                label=f" {ids} {axis}",
                ulps=8,
                near=1,
            )
    for op, f in {"Identity": tf.identity, "StopGradient": tf.stop_gradient}.items():
        graph(op, op, [x], f)
        graph(op, op, [empty], f)
    graph(
        "OneHot",
        "OneHot",
        [np.array([[0, 2], [-1, 5]], "int32")],
        lambda i: tf.one_hot(i, 3, dtype(2) if callable(dtype) else np.dtype(dtype).type(2), np.dtype(dtype).type(-1)),
        depth=3,
        values=f"{dtype};[2];-1;2",
        label=f" {dtype}",
    )
    for shape, by in (((3, 4), ((1, 1), (0, 2))), ((0, 2), ((1, 0), (0, 0))), ((2,), ((0, 0),))):
        graph(
            "PadV2",
            "PadV2",
            [varied(shape, dtype)],
            lambda x: tf.pad(x, by, constant_values=2),
            before=[b for b, _ in by],
            after=[a for _, a in by],
            value=2,
            label=f" {by}",
        )
    for v in (x, empty, varied((), dtype)):
        graph("Rank", "Rank", [v], tf.rank, gradient=False)
        graph("Size", "Size", [v], tf.size, gradient=False)
        graph("Shape", "Shape", [v], tf.shape, gradient=False)
    for a, to in (((3, 4), (2, 6)), ((3, 4), (-1,)), ((0, 4), (2, 0)), ((1,), ())):
        graph("Reshape", "Reshape", [varied(a, dtype)], lambda x: tf.reshape(x, to), shape=to, label=f" {list(to)}")
    for axes in ([0], [1, 0], [-1]):
        for v in (x, empty):
            graph("ReverseV2", "ReverseV2", [v], lambda x: tf.reverse(x, axes), axes=axes, label=f" {axes}")
    for begin, size in (((1, 1), (2, 2)), ((0, 3), (-1, -1)), ((3, 0), (0, 4)), ((0, 0), (3, 4))):
        graph(
            "Slice", "Slice", [x], lambda x: tf.slice(x, begin, size), begin=begin, size=size, label=f" {begin}{size}"
        )
    for begin, end, strides in (
        ((0, 3), (3, 0), (2, -1)),
        ((-1, 0), (0, 9), (-1, 3)),
        ((2,), (1,), (1,)),
        ((-9, -9), (9, 9), (2, 2)),
    ):
        take = tuple(slice(b, e, s) for b, e, s in zip(begin, end, strides))
        graph(
            "StridedSlice",
            "StridedSlice",
            [x],
            lambda x: x[take],
            begin=begin,
            end=end,
            strides=strides,
            label=f" {begin}{end}{strides}",
        )
    for count, axis in ((3, 0), (2, 1), (1, 0)):
        graph("Split", "Split", [x], lambda x: tf.split(x, count, axis), num_split=count, axis=axis, label=f" {count}")
    for sizes, axis in (((1, 0, 2), 0), ((3, 1), -1)):
        graph(
            "SplitV",
            "SplitV",
            [x],
            lambda x: tf.split(x, sizes, axis),
            size_splits=f"int64;[{len(sizes)}];" + ";".join(map(str, sizes)),
            axis=axis,
            label=f" {sizes}",
        )
    for shape, axes in (((1, 3, 1), []), ((1, 3, 1), [0]), ((1, 0, 1), [-1])):
        graph("Squeeze", "Squeeze", [varied(shape, dtype)], lambda x: tf.squeeze(x, axes), axes=axes, label=f" {axes}")
    for shape, by in (((2, 3), (2, 1)), ((2,), (3,)), ((2, 3), (0, 2)), ((0, 3), (2, 2))):
        graph(
            "Tile",
            "Tile",
            [varied(shape, dtype)],
            lambda x: tf.tile(x, by),
            multiples=by,
            label=f" {by}",
            ulps=8,
            near=1,
        )
    for shape, order in (((3, 4), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((0, 4), (1, 0)), ((2, 1, 3), (0, 1, 2))):
        graph(
            "Transpose",
            "Transpose",
            [varied(shape, dtype)],
            lambda x: tf.transpose(x, order),
            order=order,
            label=f" {order}",
        )

out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "data" / "tensorflow.txt"
write(out, "vectors.py", graphs, "".join(f"without {op}: {why}\n" for op, why in sorted(WITHOUT.items())))
