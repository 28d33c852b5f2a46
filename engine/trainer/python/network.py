"""Network files of Destrier, of the kind SCReLU, from float weights.

The format is described in `engine/src/nnue/format.rs`. `destrier-trainer export --from-npz` writes the same files, and those of
all other kinds; this is the way without the trainer.
"""

import hashlib
import struct

import numpy as np

QA, QB = 255, 64

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


def screlu(features, feature_weights, feature_biases, output_weights, output_biases, pairs=None):
    """Returns the bytes of a file.

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
    # Version 2, kind 1, one king bucket, not mirrored.
    header = b"DESTRIER" + struct.pack("<6I", 2, 1, hidden, 1, buckets, 0) + bytes(32)
    header += hashlib.sha256(body).digest()
    header += struct.pack(f"<{len(blocks) + 1}H", len(blocks), *(code for code, _ in blocks))
    return header + bytes(128 - len(header)) + body
