# SPDX-License-Identifier: BSD-3-Clause
"""NumPy, safetensors and (where it is installed) TensorFlow read the files of examples/exchange_weights, and it reads theirs. Without NumPy and
safetensors the check is skipped. check_weights.py PROGRAM"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    from safetensors.numpy import load_file, save_file
except ImportError as problem:
    print(f"{problem}: the check of weights is skipped")
    sys.exit(77)
try:
    import tensorflow as tf
except ImportError:
    tf = None


def check(holds, what):
    if not holds:
        sys.exit(f"weights: {what}")


def expected(values):
    check(np.array_equal(values["dense/kernel"], np.arange(12, dtype=np.float32).reshape(3, 4)), "dense/kernel")
    check(np.array_equal(values["scale"], np.float64(0.5)), "scale")
    check(np.array_equal(values["step"], np.int64(7)), "step")
    check(values["flags"].dtype == np.bool_ and np.array_equal(values["flags"], [True, False, True]), "flags")
    check(values["small"].dtype == np.float16 and np.array_equal(values["small"], np.float16([0.25, -2])), "small")


def give():
    return {"dense/kernel": np.asfortranarray(np.arange(12, dtype=">f4").reshape(3, 4)), "scale": np.float64(0.5), "step": np.int64(7),
            "flags": np.array([True, False, True]), "small": np.array([0.25, -2], dtype=">f2")}


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
    expected(load_file(directory / "w.safetensors"))
    save_file({k: np.array(v, dtype=v.dtype.newbyteorder("<"), order="C") for k, v in give().items()}, directory / "theirs.safetensors")
    run("read", directory / "theirs.safetensors")
    print("safetensors: both ways")
    if tf is None:
        print("tensorflow can't be imported: its checkpoints are not checked")
        sys.exit()
    reader = tf.train.load_checkpoint(str(directory / "w.ckpt"))
    expected({k: np.asarray(reader.get_tensor(k)) for k in give()})
    words = tf.train.load_checkpoint(str(directory / "words.ckpt")).get_tensor("words")
    check(list(words) == [b"one", b"two words"], f"words: {words}")
    one = tf.compat.v1

    def write(path, values):
        with tf.Graph().as_default():
            given = [one.get_variable(k, initializer=v) for k, v in values.items()]
            saver = one.train.Saver(given)
            with one.Session() as s:
                s.run(one.global_variables_initializer())
                saver.save(s, str(path), write_meta_graph=False)

    write(directory / "theirs.ckpt", {k: np.asarray(v, dtype=np.asarray(v).dtype.newbyteorder("<")) for k, v in give().items()})
    run("read", directory / "theirs.ckpt")
    write(directory / "theirs_words.ckpt", {"words": np.array([b"one", b"two words"], dtype=object)})
    run("read", directory / "theirs_words.ckpt")
    print("tensorflow: both ways")
