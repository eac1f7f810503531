# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of tests/data/input/, as other programs write them: tests/data/exchange.cpp reads them.
input_files.py [DIRECTORY]

numbers.npy, columns.npy: NumPy. quoted.csv, quoted.csv.gz, tabs.csv: Python's csv and gzip. color.jpg, grey.jpg, color.png: Pillow.
examples.tfrecord, tensors.tfrecord: TensorFlow where it is installed, otherwise this script, by the published format."""
import csv
import gzip
import io
import struct
import sys
from pathlib import Path

ROWS = [["name", "weight", "count"], ["plain", 1.5, 3], ["comma, quote \" and\nline", -0.25, -7], ["", 1e-3, 0], ["äöü", 1e300, 2147483647]]


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc32c_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(payload):
    """A record of a TFRecord file."""
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def records(data):
    """The payloads of a TFRecord file; an error if a checksum is wrong."""
    at = 0
    while at < len(data):
        (length,), (crc,) = struct.unpack_from("<Q", data, at), struct.unpack_from("<I", data, at + 8)
        payload = data[at + 12:at + 12 + length]
        (end,) = struct.unpack_from("<I", data, at + 12 + length)
        if crc != masked_crc(data[at:at + 8]) or end != masked_crc(payload):
            raise ValueError(f"a checksum of the record at byte {at} is wrong")
        yield payload
        at += 16 + length


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def example(k):
    """Example k: x, two floats; label; words, k texts."""
    x = [k + 0.5, -k]
    try:
        import tensorflow as tf
        t = tf.train
        return t.Example(features=t.Features(feature={
            "x": t.Feature(float_list=t.FloatList(value=x)), "label": t.Feature(int64_list=t.Int64List(value=[k - 1])),
            "words": t.Feature(bytes_list=t.BytesList(value=[b"word%d" % i for i in range(k)]))})).SerializeToString(deterministic=True)
    except ImportError:
        features = {b"label": field(3, field(1, varint(k - 1))), b"words": field(1, b"".join(field(1, b"word%d" % i) for i in range(k))),
                    b"x": field(2, field(1, struct.pack("<2f", *x)))}
        return field(1, b"".join(field(1, field(1, name) + field(2, value)) for name, value in sorted(features.items())))


def tensors():
    """TensorProtos: float [2, 3], int64 [2] as a list, string [2], bool [3] of one repeated element."""
    try:
        import tensorflow as tf
        p = tf.make_tensor_proto
        repeated = p([True], shape=[3])
        return [tf.io.serialize_tensor(tf.reshape(tf.range(6.), [2, 3])).numpy(), p([-1, 1 << 40], tf.int64).SerializeToString(),
                tf.io.serialize_tensor(tf.constant(["a", "bc"])).numpy(), repeated.SerializeToString()]
    except ImportError:
        number = lambda n, v: varint(n << 3) + varint(v)
        shape = lambda *dims: field(2, b"".join(field(2, number(1, d)) for d in dims))
        return [number(1, 1) + shape(2, 3) + field(4, struct.pack("<6f", *range(6))),
                number(1, 9) + shape(2) + field(10, varint(-1) + varint(1 << 40)),
                number(1, 7) + shape(2) + field(8, b"a") + field(8, b"bc"), number(1, 10) + shape(3) + field(11, b"\1")]


def csv_text(**how):
    text = io.StringIO()
    csv.writer(text, **how).writerows(ROWS)
    return text.getvalue().encode()


def write(directory):
    import numpy as np
    from PIL import Image
    directory.mkdir(exist_ok=True)
    np.save(directory / "numbers.npy", np.arange(12, dtype=np.float32).reshape(4, 3) / 4)
    np.save(directory / "columns.npy", np.asfortranarray(np.arange(6, dtype=">i4").reshape(3, 2)))
    (directory / "quoted.csv").write_bytes(csv_text())
    (directory / "quoted.csv.gz").write_bytes(gzip.compress(csv_text(), mtime=0))
    (directory / "tabs.csv").write_bytes(csv_text(delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n"))
    (directory / "examples.tfrecord").write_bytes(b"".join(record(example(k)) for k in range(3)))
    (directory / "tensors.tfrecord").write_bytes(b"".join(record(t) for t in tensors()))
    y, x = np.mgrid[0:12, 0:20]
    color = np.stack([x * 12, y * 20, 255 - x * 6 - y * 10], -1).astype(np.uint8)
    Image.fromarray(color).save(directory / "color.jpg", quality=95, subsampling=0)
    Image.fromarray(color[:, :, 0]).save(directory / "grey.jpg", quality=95)
    Image.fromarray(color).save(directory / "color.png")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "input")
