# SPDX-License-Identifier: BSD-3-Clause
"""NumPy, Python's csv and a reader of TFRecord by the published format (TensorFlow where it is installed) read the files of
examples/exchange_input, and it reads theirs. check_input.py PROGRAM"""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "data"))
import input_files  # noqa: E402

try:
    import numpy as np
except ImportError:
    print("numpy can't be imported: the check of input files is skipped")
    sys.exit(77)
try:
    import tensorflow as tf
except ImportError:
    tf = None

NAMES = ["plain", 'comma, quote " and\nline', "", "äöü"]
VALUES = np.arange(12, dtype=np.float32).reshape(4, 3) / 4


def check(holds, what):
    if not holds:
        sys.exit(f"input: {what}")


def example(i):
    """The bytes of row i as an Example."""
    f = input_files
    lists = {b"name": f.field(1, f.field(1, NAMES[i].encode())), b"number": f.field(3, f.field(1, f.varint(i - 1))),
             b"values": f.field(2, f.field(1, VALUES[i].astype("<f4").tobytes()))}
    return f.field(1, b"".join(f.field(1, f.field(1, name) + f.field(2, value)) for name, value in sorted(lists.items())))


with tempfile.TemporaryDirectory() as text:
    ours, theirs = Path(text) / "ours", Path(text) / "theirs"
    for directory in (ours, theirs):
        directory.mkdir()
    run = lambda *arguments: subprocess.run([sys.argv[1], *map(str, arguments)], check=True)
    run("write", ours)
    check(np.array_equal(np.load(ours / "rows.npy", allow_pickle=False), VALUES), "rows.npy")
    with open(ours / "rows.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    check(rows[0] == ["name", "value", "number"], "the header of rows.csv")
    check([row[0] for row in rows[1:]] == NAMES, "the names of rows.csv")
    check([float(row[1]) for row in rows[1:]] == VALUES[:, 0].tolist(), "the values of rows.csv")
    check([int(row[2]) for row in rows[1:]] == [-1, 0, 1, 2], "the numbers of rows.csv")
    check(list(input_files.records((ours / "rows.tfrecord").read_bytes())) == [example(i) for i in range(4)], "rows.tfrecord")
    if tf is None:
        print("TensorFlow can't be imported: TFRecord files are read and written by their published format")
    else:
        payloads = list(tf.data.TFRecordDataset(str(ours / "rows.tfrecord")).as_numpy_iterator())
        check(len(payloads) == 4, "the records that TensorFlow reads")
        for i, payload in enumerate(payloads):
            feature = tf.train.Example.FromString(payload).features.feature
            check(list(feature["name"].bytes_list.value) == [NAMES[i].encode()] and list(feature["values"].float_list.value) == VALUES[i].tolist()
                  and list(feature["number"].int64_list.value) == [i - 1], "rows.tfrecord in TensorFlow")

    np.save(theirs / "rows.npy", np.asfortranarray(VALUES.astype(">f4")))
    with open(theirs / "rows.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["name", "value", "number"], *([NAMES[i], VALUES[i, 0], i - 1] for i in range(4))])
    (theirs / "rows.tfrecord").write_bytes(b"".join(input_files.record(example(i)) for i in range(4)))
    run("read", theirs)
    print("input: both ways")
    if tf is not None:
        one = tf.train
        with tf.io.TFRecordWriter(str(theirs / "rows.tfrecord")) as out:
            for i in range(4):
                features = {"name": one.Feature(bytes_list=one.BytesList(value=[NAMES[i].encode()])),
                            "values": one.Feature(float_list=one.FloatList(value=VALUES[i])),
                            "number": one.Feature(int64_list=one.Int64List(value=[i - 1]))}
                out.write(one.Example(features=one.Features(feature=features)).SerializeToString())
        run("read", theirs)
        print("input: TFRecord of TensorFlow, both ways")
