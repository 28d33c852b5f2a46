"""Trains a network `(768 -> H)x2 -> 1xB` with SCReLU and without king buckets from positions that lie in the memory of a GPU.

    python3 train_on_gpu.py train.bin --validation held-out.bin --hidden 512 --superbatches 60 --out net.nnue
    python3 train_on_gpu.py train.bin --start net.nnue --rate 0.0001 --end 0.000002 --superbatches 12 --out next.nnue

It uses JAX if it is installed, on a GPU if there is one, else NumPy, which is slow. Positions take 32 bytes each and need no shuffling:
every pass takes them in another order. Each superbatch writes the network. Loss, first weights and decay are those of
`destrier-trainer train`, and the cosine of rates one of its schedules. This AdamW corrects the bias of its moments, and its rate
rises from zero, so its first hundreds of steps are shorter. King buckets, other features and layered kinds are for that program.
"""

import argparse
import math
import sys
import time
from functools import partial

import numpy as np

from network import ARRAYS, read_screlu, screlu, write

# Bytes of a position in bulletformat.
RECORD = 32

INPUTS = 768

# Parameters of AdamW, and the bound of weights, so that they fit 16 bits.
BETA1, BETA2, EPSILON, DECAY, CLIP = 0.9, 0.999, 1e-8, 0.01, 1.98

# Steps between positions that follow each other in a batch: many games, and few enough that a batch's are below 2 ** 31.
STRIDES = 1 << 10, 1 << 17


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="positions in bulletformat, as `data filter` and `data dedup` write them")
    parser.add_argument("--validation", nargs="*", default=[], metavar="FILE", help="positions of other games, for the loss that is printed")
    parser.add_argument("--out", required=True, help="network file to write")
    parser.add_argument("--start", metavar="NET", help="network file with the first weights, which gives the shape; random ones by default")
    parser.add_argument("--hidden", type=int, default=512, help="neurons, a multiple of 32")
    parser.add_argument("--buckets", type=int, default=8, choices=(1, 8), help="output buckets")
    parser.add_argument("--mirrored", action=argparse.BooleanOptionalAction, default=True, help="own king on files a to d")
    parser.add_argument("--superbatches", type=int, default=60)
    parser.add_argument("--batches", type=int, default=340, help="batches of a superbatch")
    parser.add_argument("--batch", type=int, default=16384, help="positions of a batch, at most 16384")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate at first")
    parser.add_argument("--end", type=float, default=1e-5, help="learning rate in the end, by a cosine")
    parser.add_argument("--warm-up", type=int, default=100, help="batches in which the rate rises from zero")
    parser.add_argument("--blend", type=float, default=0, help="share of the result in the target")
    parser.add_argument("--scale", type=float, default=400, help="centipawns at a win probability of 0.73")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=("auto", "jax", "numpy"), default="auto")
    args = parser.parse_args()
    if not 1 <= args.batch <= 16384 or args.superbatches < 1 or args.batches < 1 or args.hidden < 32 or args.hidden % 32:
        parser.error("--batch takes 1 to 16384, --superbatches and --batches 1 or more, --hidden a multiple of 32")
    return args


def records(files):
    """Returns the positions of files, `[positions, 32]` bytes."""
    parts = []
    for file in files:
        part = np.fromfile(file, np.uint8)
        if len(part) % RECORD:
            raise ValueError(f"{file}: {len(part)} bytes, which {RECORD} does not divide; give files in bulletformat")
        part = part.reshape(-1, RECORD)
        bad = np.flatnonzero(~are_positions(part))
        if len(bad):
            raise ValueError(f"{file}: record {bad[0]} is no position in bulletformat; convert the file with `destrier-trainer data filter`")
        marked = np.flatnonzero(are_of_triplets(part))
        if len(marked):
            raise ValueError(f"{file}: record {marked[0]} is of a triplet, which `train.py --method pqr` takes; give positions")
        parts.append(part)
    return np.concatenate(parts)


def are_positions(part):
    """Returns which records can be positions, by the numbers of pieces, results and squares of kings."""
    pieces = set_bits(np.ascontiguousarray(part[:, :8]).view("<u4")).sum(axis=1)
    return (pieces >= 2) & (pieces <= 32) & (part[:, 26] <= 2) & (part[:, 27] < 64) & (part[:, 28] < 64)


def are_of_triplets(part):
    """Returns which records have the marks of `data triplets` in their last bytes."""
    return (part[:, 29] == ord("p")) & (part[:, 30] == ord("q")) & np.isin(part[:, 31], list(b"PQR"))


def first_weights(args):
    """Returns those of a network file, which also says whether it is mirrored, or random ones: normal by He et al. (2015), with zero
    biases."""
    if args.start:
        weights, args.mirrored = read_screlu(args.start)
        return weights
    random, hidden, buckets = np.random.default_rng(args.seed), args.hidden, args.buckets
    normal = lambda inputs, *shape: (random.standard_normal(shape) * math.sqrt(2 / inputs)).astype(np.float32)
    return {
        "features": normal(INPUTS, INPUTS, hidden), "biases": np.zeros(hidden, np.float32),
        "output": normal(2 * hidden, buckets, 2 * hidden), "output_biases": np.zeros(buckets, np.float32),
    }


def order(count, batch, batches, seed):
    """Yields the first position and the stride of each batch, which takes every `stride`-th position from the first on, and begins
    anew at the end of all. A pass has each position once, apart from the rest that fills no batch."""
    random = np.random.default_rng([seed, 1])
    left = 0
    for _ in range(batches):
        if left == 0:
            left, first = max(1, count // batch), int(random.integers(count))
            stride = int(random.integers(*STRIDES))
            while math.gcd(stride, count) > 1:
                stride += 1
        yield first, stride % count
        first, left = (first + batch * stride) % count, left - 1


def rates(args):
    """Returns the learning rate of each batch."""
    total = args.superbatches * args.batches
    at = np.arange(total)
    cosine = args.end + (args.rate - args.end) * 0.5 * (1 + np.cos(np.pi * at / max(1, total - 1)))
    return (cosine * np.minimum(1, (at + 1) / max(1, args.warm_up))).astype(np.float32)


def set_bits(words):
    """Returns the numbers of set bits of words of 32 bits."""
    two, four, eight, sum_of_bytes = (np.uint32(mask) for mask in (0x55555555, 0x33333333, 0x0F0F0F0F, 0x01010101))
    words = words - (words >> np.uint32(1) & two)
    words = (words & four) + (words >> np.uint32(2) & four)
    return ((words + (words >> np.uint32(4)) & eight) * sum_of_bytes) >> np.uint32(24)


def spread(xp, part, mirrored):
    """Returns the inputs of records as zeros and ones `[positions, 2, 768]`, the side to move's view first, and the numbers of pieces."""
    word = lambda at: sum(part[:, at + k].astype(np.uint32) << np.uint32(8 * k) for k in range(4))[:, None]
    low, high, square = word(0), word(4), np.arange(64, dtype=np.uint32)
    bit = np.left_shift(np.uint32(1), square % 32)
    is_on = xp.where(square < 32, low & bit, high & bit) != 0
    # The pieces before a square, in the order of squares, give the place of its piece.
    before = set_bits(low & np.where(square < 32, bit - 1, np.uint32(0xFFFFFFFF)))
    before = before + set_bits(high & np.where(square < 32, np.uint32(0), bit - 1))
    place = xp.minimum(before, 31).astype(np.int32)
    nibbles = xp.take_along_axis(part[:, 8:24], place // 2, axis=1) >> (4 * (place % 2)).astype(np.uint8) & 15
    code = (nibbles >> 3) * 6 + (nibbles & 7)
    own = xp.where(is_on, code, 12).reshape(-1, 8, 8)
    other = xp.where(is_on, (code + 6) % 12, 12).reshape(-1, 8, 8)[:, ::-1]
    views = []
    for view, king in ((own, part[:, 27]), (other, part[:, 28])):
        flips = ((king & 7) > 3) & mirrored
        views.append(xp.where(flips[:, None, None], view[:, :, ::-1], view).reshape(-1, 1, 64))
    board = xp.stack(views, axis=1)
    inputs = (board == np.arange(12, dtype=np.uint8)[:, None]).astype(np.float32)
    return inputs.reshape(-1, 2, INPUTS), is_on.sum(axis=1)


def gain(args):
    """Returns the factor of the output in its sigmoid: the output of 1 stands for 400 centipawns."""
    return 400 / args.scale


def forward(xp, weights, part, args):
    """Returns the inputs, the first layer's sums, its activations, the buckets and the win probabilities of records."""
    inputs, pieces = spread(xp, part, args.mirrored)
    inputs = inputs.reshape(-1, INPUTS)
    sums = inputs @ weights["features"] + weights["biases"]
    clipped = xp.clip(sums, 0, 1)
    active = (clipped * clipped).reshape(len(part), -1)
    buckets = len(weights["output_biases"])
    chosen = ((pieces - 2) * buckets // 32)[:, None] == np.arange(buckets)
    output = xp.where(chosen, active @ weights["output"].T + weights["output_biases"], 0).sum(axis=1)
    return inputs, sums, active, chosen, 1 / (1 + xp.exp(-gain(args) * output))


def targets(xp, part, blend, scale):
    """Returns the win probabilities that records ask for."""
    score = (part[:, 24].astype(np.int32) | part[:, 25].astype(np.int8).astype(np.int32) << 8).astype(np.float32)
    return (1 - blend) / (1 + xp.exp(-score / scale)) + blend * part[:, 26].astype(np.float32) / 2


def loss_of(xp, weights, part, args):
    """Returns the loss of records."""
    error = forward(xp, weights, part, args)[-1] - targets(xp, part, args.blend, args.scale)
    return (error * error).mean()


def slopes(xp, weights, part, args):
    """Returns the loss of records and its slopes for the weights."""
    inputs, sums, active, chosen, wins = forward(xp, weights, part, args)
    error = wins - targets(xp, part, args.blend, args.scale)
    slope = xp.where(chosen, (2 / len(part) * gain(args) * error * wins * (1 - wins))[:, None], 0)
    inner = (slope @ weights["output"]).reshape(sums.shape) * 2 * xp.where((sums > 0) & (sums < 1), sums, 0)
    found = {"features": inputs.T @ inner, "biases": inner.sum(axis=0), "output": slope.T @ active, "output_biases": slope.sum(axis=0)}
    return (error * error).mean(), found


def step(xp, args, positions, state, batch):
    """Makes a step of AdamW. `state` is the weights and their moments, `batch` its first position, its stride, its number from 1 and
    the learning rate. Returns the new state and the loss."""
    weights, first, second = state
    begin, stride, number, rate = batch
    chosen = (begin + np.arange(args.batch, dtype=np.uint32) * stride) % np.uint32(len(positions))
    loss, found = slopes(xp, weights, positions[chosen], args)
    number = number.astype(np.float32)
    pace = rate * xp.sqrt(1 - BETA2**number) / (1 - BETA1**number)
    first = {name: part + (1 - BETA1) * (found[name] - part) for name, part in first.items()}
    second = {name: part + (1 - BETA2) * (found[name] ** 2 - part) for name, part in second.items()}
    moved = lambda name: weights[name] * (1 - rate * DECAY) - pace * first[name] / (xp.sqrt(second[name]) + EPSILON)
    weights = {name: xp.clip(moved(name), -CLIP, CLIP) for name in weights}
    return (weights, first, second), loss


class NumPy:
    """Steps by NumPy."""

    def __init__(self, args, positions):
        self.args, self.positions = args, positions

    def steps(self, state, batches):
        """Makes steps; returns the new state and their mean loss."""
        losses = []
        for batch in zip(*batches):
            state, loss = step(np, self.args, self.positions, state, batch)
            losses.append(loss)
        return state, float(np.mean(losses))

    def loss(self, weights, part):
        return float(loss_of(np, weights, part, self.args))


class Jax:
    """The same functions, compiled by JAX; all steps of a superbatch are one call."""

    def __init__(self, args, positions):
        import jax

        jax.config.update("jax_default_matmul_precision", "tensorfloat32")
        self.positions = jax.device_put(positions)

        def steps(positions, state, batches):
            state, losses = jax.lax.scan(partial(step, jax.numpy, args, positions), state, batches)
            return state, losses.mean()

        self.call = jax.jit(steps, donate_argnums=1)
        self.judge = jax.jit(lambda weights, part: loss_of(jax.numpy, weights, part, args))

    def steps(self, state, batches):
        state, loss = self.call(self.positions, state, batches)
        return state, float(loss)

    def loss(self, weights, part):
        return float(self.judge(weights, part))


def backend(args, positions):
    if args.backend != "numpy":
        try:
            return Jax(args, positions)
        except ImportError:
            if args.backend == "jax":
                sys.exit("train_on_gpu.py: JAX is not installed; install it, or give --backend numpy")
    return NumPy(args, positions)


def export(args, weights):
    """Writes the network file."""
    arrays = (np.asarray(weights[name]) for name in ARRAYS)
    write(args.out, screlu("piece", *arrays, mirrored=args.mirrored))


def main():
    args = arguments()
    began = time.monotonic()
    try:
        positions, held_out = records(args.files), records(args.validation) if args.validation else []
        weights = first_weights(args)
    except (OSError, ValueError) as error:
        sys.exit(f"train_on_gpu.py: {error}")
    if len(positions) < args.batch:
        sys.exit(f"train_on_gpu.py: {len(positions)} positions are less than a batch; give more files, or a smaller --batch")
    trainer = backend(args, positions)
    print(f"{len(positions)} positions after {time.monotonic() - began:.1f} s, by {type(trainer).__name__}", flush=True)
    zeros = lambda: {name: np.zeros_like(part) for name, part in weights.items()}
    state = weights, zeros(), zeros()
    begins, strides = np.array(list(order(len(positions), args.batch, args.superbatches * args.batches, args.seed)), np.uint32).T
    pace = rates(args)
    for superbatch in range(args.superbatches):
        some = slice(superbatch * args.batches, (superbatch + 1) * args.batches)
        batches = begins[some], strides[some], np.arange(some.start + 1, some.stop + 1, dtype=np.int32), pace[some]
        state, loss = trainer.steps(state, batches)
        parts = [held_out[at:at + args.batch] for at in range(0, len(held_out), args.batch)]
        losses = [trainer.loss(state[0], part) for part in parts]
        told = f", validation {np.average(losses, weights=[len(part) for part in parts]):.6f}" if parts else ""
        speed = some.stop * args.batch / (time.monotonic() - began) / 1e6
        print(f"superbatch {superbatch + 1}, loss {loss:.6f}{told} ({speed:.2f} M positions/s)", flush=True)
        export(args, state[0])
    print(args.out)


if __name__ == "__main__":
    main()
