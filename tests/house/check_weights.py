# SPDX-License-Identifier: BSD-3-Clause
"""NumPy, safetensors and (where it is installed) TensorFlow read the files of examples/exchange_weights, and it reads theirs.
check_weights.py PROGRAM"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy can't be imported: the check of weights is skipped")
    sys.exit(77)


def check(holds, what):
    if not holds:
        sys.exit(f"weights: {what}")


def expected(values):
    check(np.array_equal(values["dense/kernel"], np.arange(12, dtype=np.float32).reshape(3, 4)), "dense/kernel")
    check(np.array_equal(values["scale"], np.float64(0.5)), "scale")
    check(np.array_equal(values["step"], np.int64(7)), "step")


def give():
    return {"dense/kernel": np.asfortranarray(np.arange(12, dtype=">f4").reshape(3, 4)), "scale": np.float64(0.5), "step": np.int64(7)}


with tempfile.TemporaryDirectory() as text:
    directory = Path(text)
    run = lambda *arguments: subprocess.run([sys.argv[1], *map(str, arguments)], check=True)
    run("write", directory)
    with np.load(directory / "w.npz", allow_pickle=False) as file:
        expected(file)
    np.savez(directory / "theirs.npz", **give())
    run("read", directory / "theirs.npz")
    np.savez_compressed(directory / "theirs.npz", **give())
    run("read", directory / "theirs.npz")
    print("numpy: both ways")
    try:
        from safetensors.numpy import load_file, save_file
        expected(load_file(directory / "w.safetensors"))
        save_file({k: np.array(v, dtype=v.dtype.newbyteorder("<"), order="C") for k, v in give().items()}, directory / "theirs.safetensors")
        run("read", directory / "theirs.safetensors")
        print("safetensors: both ways")
    except ImportError:
        print("safetensors can't be imported")
    try:
        import tensorflow as tf
        reader = tf.train.load_checkpoint(str(directory / "w.ckpt"))
        expected({k: reader.get_tensor(k) for k in ("dense/kernel", "scale", "step")})
        one = tf.compat.v1
        with tf.Graph().as_default():
            given = [one.get_variable(k, initializer=np.asarray(v, dtype=np.asarray(v).dtype.newbyteorder("<")))
                     for k, v in give().items()]
            saver = one.train.Saver(given)
            with one.Session() as s:
                s.run(one.global_variables_initializer())
                saver.save(s, str(directory / "theirs.ckpt"), write_meta_graph=False)
        run("read", directory / "theirs.ckpt")
        print("tensorflow: both ways")
    except ImportError:
        print("tensorflow can't be imported")
