"""Network files of Destrier, of the kind SCReLU, from float weights.

The format is described in `engine/src/nnue/format.rs`. `destrier-trainer export --from-npz` writes the same files, and those of
all other kinds; this is the way without the trainer.
"""

import hashlib
import math
import os
import struct

import numpy as np

QA, QB = 255, 64

# Names of the arrays of a network, as `destrier-trainer export --from-npz` takes them.
ARRAYS = "features", "biases", "output", "output_biases"

# Codes and sizes of the feature blocks.
BLOCKS = {
    "piece": (1, 768), "file": (2, 96), "rank": (3, 96), "diagonal": (4, 180), "antidiagonal": (5, 180),
    "king-piece": (6, 40960), "king-all": (7, 49152), "king-relative": (8, 2250), "king-relative-h": (9, 1200),
    "king-relative-v": (10, 1200), "moves": (11, 4096), "top-pairs": (12, 0), "file-pairs": (13, 1152),
    "rank-pairs": (14, 1152), "diagonal-pairs": (15, 2160), "antidiagonal-pairs": (16, 2160),
    "mobility-squares": (17, 768), "mobility-counts": (18, 206),
}


def blocks_of(features, pairs=None):
    """Returns the codes and sizes of a set such as `piece+file`."""
    found = []
    for name in features.split("+"):
        head, _, count = name.partition(":")
        if head not in BLOCKS:
            raise ValueError(f"unknown feature block `{name}`; the blocks are {', '.join(BLOCKS)}")
        code, size = BLOCKS[head]
        if head == "top-pairs":
            if pairs is None or str(len(pairs)) != count:
                raise ValueError(f"`{name}` needs a list of {count or 'K'} pairs")
            size = len(pairs)
        found.append((code, size))
    return found


def whole(name, values, unit):
    """Returns weights as whole numbers of 16 bits."""
    scaled = np.rint(np.asarray(values, np.float64) * unit)
    if not np.all(np.abs(scaled) <= 32767):
        raise ValueError(f"{name}: a weight does not fit 16 bits at {unit} a unit; clip the weights")
    return scaled.astype("<i2")


def screlu(features, feature_weights, feature_biases, output_weights, output_biases, pairs=None, mirrored=False):
    """Returns the bytes of a file. `mirrored` networks have the features `piece`.

    Shapes: `[features, hidden]`, `[hidden]`, `[buckets, 2 * hidden]` with the side to move's half first,
    `[buckets]`. The network's output of 1 is 400 centipawns. `buckets` is 1 or 8: a position with `n` pieces
    has the bucket `(n - 2) * buckets // 32`.
    """
    blocks = blocks_of(features, pairs)
    weights = [
        whole("feature weights", feature_weights, QA), whole("feature biases", feature_biases, QA),
        whole("output weights", output_weights, QB), whole("output biases", output_biases, QA * QB),
    ]
    hidden, buckets = weights[0].shape[1], weights[2].shape[0]
    inputs = sum(size for _, size in blocks)
    shapes = [(inputs, hidden), (hidden,), (buckets, 2 * hidden), (buckets,)]
    if [part.shape for part in weights] != shapes or hidden % 32 or buckets not in (1, 8):
        raise ValueError(f"weights of the shapes {[part.shape for part in weights]}; expected {shapes} with a number of "
                         "hidden neurons that 32 divides, and 1 or 8 buckets")
    body = b""
    if pairs is not None:
        body += struct.pack("<I", len(pairs)) + b"".join(struct.pack("<2H", *sorted(pair)) for pair in pairs)
    body += b"".join(part.tobytes() for part in weights)
    body += bytes(-len(body) % 64)
    # Kind 1, one king bucket. Version 1 has no other features than `piece`.
    version = 1 if features == "piece" else 2
    header = b"DESTRIER" + struct.pack("<6I", version, 1, hidden, 1, buckets, mirrored) + bytes(32)
    header += hashlib.sha256(body).digest()
    if version == 2:
        header += struct.pack(f"<{len(blocks) + 1}H", len(blocks), *(code for code, _ in blocks))
    return header + bytes(128 - len(header)) + body


def write(path, network):
    """Writes the bytes of a file. An older one stays whole until the new one is complete."""
    with open(path + ".part", "wb") as file:
        file.write(network)
    os.replace(path + ".part", path)


def read_screlu(path):
    """Returns the float weights of a file with the features `piece` and one king bucket, by their names in `ARRAYS`, and whether it is
    mirrored."""
    with open(path, "rb") as file:
        header, body = file.read(128), file.read()
    header += bytes(128 - len(header))
    magic, version, kind, hidden, kings, buckets, mirrored = struct.unpack("<8s6I", header[:32])
    if (magic, version, kind, kings) != (b"DESTRIER", 1, 1, 1) or hashlib.sha256(body).digest() != header[64:96]:
        raise ValueError(f"{path}: no network of kind 1 with the features `piece` and one king bucket, or damaged")
    shapes = (768, hidden), (hidden,), (buckets, 2 * hidden), (buckets,)
    values, weights = np.frombuffer(body, "<i2").astype(np.float32), {}
    for name, shape, unit in zip(ARRAYS, shapes, (QA, QA, QB, QA * QB)):
        part, values = np.split(values, [math.prod(shape)])
        weights[name] = part.reshape(shape) / np.float32(unit)
    return weights, bool(mirrored)
