# SPDX-License-Identifier: BSD-3-Clause
"""Save and restore of 64 MiB by PyTorch, TensorFlow and safetensors, beside a copy that is synced: what bench/checkpoints.cpp measures of rill.
A save of theirs leaves its bytes to the system, so that each is timed with and without an fsync of the files that it wrote.

    savers.py [ROUNDS]"""
import importlib.metadata
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROWS, COLUMNS = 16, 1 << 20  # 64 MiB of floats
BYTES = ROWS * COLUMNS * 4


def sync_all(directory):
    for path in [*Path(directory).rglob("*"), Path(directory)]:
        number = os.open(path, os.O_RDONLY)
        os.fsync(number)
        os.close(number)


def copy(directory):
    data = bytes(BYTES)
    path = Path(directory) / "copy"

    def save():
        path.write_bytes(data)

    return save, lambda: path.read_bytes()


def pytorch(directory):
    import torch

    path, weights = Path(directory) / "w.pt", {"w": torch.full((ROWS, COLUMNS), 0.5)}
    return lambda: torch.save(weights, path), lambda: torch.load(path, weights_only=True)


def safetensors(directory):
    import numpy as np
    from safetensors.numpy import load_file, save_file

    path, weights = Path(directory) / "w.safetensors", {"w": np.full((ROWS, COLUMNS), 0.5, dtype=np.float32)}
    return lambda: save_file(weights, path), lambda: load_file(path)


def tensorflow(directory):
    import tensorflow as tf

    w = tf.Variable(tf.fill((ROWS, COLUMNS), 0.5))
    checkpoint = tf.train.Checkpoint(w=w)
    prefix = str(Path(directory) / "m")
    return lambda: checkpoint.write(prefix), lambda: checkpoint.read(prefix).assert_consumed()


def version_of(name):
    for package in (name, f"{name}-cpu"):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return ""


def median(call, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"{'':24}{'save':>10}{'+ fsync':>10}{'restore':>10}   ms, medians of {rounds}; 64 MiB")
    for name, make in (("copy", copy), ("torch", pytorch), ("tensorflow", tensorflow), ("safetensors", safetensors)):
        with tempfile.TemporaryDirectory(dir=".") as directory:
            try:
                save, restore = make(directory)
            except ImportError as problem:
                print(f"{name:24}{problem}")
                continue

            def durable():
                save()
                sync_all(directory)

            save()
            figures = [1000 * median(call, rounds) for call in (save, durable, restore)]
            print(f"{name + ' ' + version_of(name):24}" + "".join(f"{f:10.0f}" for f in figures), flush=True)


if __name__ == "__main__":
    main()
